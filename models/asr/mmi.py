"""Lattice-free maximum mutual information with a CTC topology, against a phone trigram.

The loss of an utterance is log Z(all phone sequences) - log Z(its own), both sums of exp over every path of the CTC
topology; the first weighs each phone sequence by a trigram language model of phones (Povey et al., 2016, "Purely
sequence-trained neural networks for ASR based on lattice-free MMI"; with CTC's topology: Xiang and Ou, 2019,
"CRF-based single-stage acoustic modeling with CTC topology"). The denominator is computed exactly, over all pairs of
phones, by dense products: states (a, b) with the last two phones and whether the last frame was b or blank.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

START = 0  # number of the blank; as a history it stands for the beginning of the utterance


def phone_trigram(sequences: list[NDArray[np.uint8]], tokens: int) -> Tensor:
    """P(c | a, b) (tokens, tokens, tokens), Witten-Bell interpolated; token 0 as a history is the start."""
    three = np.zeros((tokens,) * 3)
    for phones in sequences:
        padded = np.concatenate([[START, START], phones.astype(np.int64)])
        np.add.at(three, (padded[:-2], padded[1:-1], padded[2:]), 1.0)
    seen = np.zeros(tokens)
    seen[1:] = 1.0 / (tokens - 1)
    lower = _interpolate(three.sum(axis=(0, 1)), seen)
    lower = _interpolate(three.sum(axis=0), lower)
    return torch.from_numpy(_interpolate(three, lower).astype(np.float32))


def _interpolate(counts: NDArray[np.float64], lower: NDArray[np.float64]) -> NDArray[np.float64]:
    total, kinds = counts.sum(axis=-1, keepdims=True), (counts > 0).sum(axis=-1, keepdims=True)
    kinds = np.maximum(kinds, 1.0)
    return (counts + kinds * lower) / (total + kinds)


class _LogPartition(torch.autograd.Function):
    """log Z of each utterance by the forward algorithm; its gradient is the posterior of each token at each frame."""

    @staticmethod
    def forward(ctx, log_probs: Tensor, lengths: Tensor, trigram: Tensor) -> Tensor:  # type: ignore[no-untyped-def, override]
        probs = log_probs.detach().exp()  # (L, B, K)
        longest, batch, K = probs.shape
        follow = trigram.transpose(0, 1).contiguous()  # [b, a, c]
        other = 1.0 - torch.eye(K)  # after phone b at once another phone; b itself only after a blank
        on = torch.zeros(longest + 1, batch, K, K)  # [t, n, a, b]: last frame was phone b
        off = torch.zeros(longest + 1, batch, K, K)  # last frame was blank
        off[0, :, START, START] = 1.0
        scale = torch.zeros(longest, batch)
        live = torch.arange(longest)[:, None] < lengths[None]
        for t in range(longest):
            p = probs[t]
            both = on[t] + off[t]
            into = _step(off[t], on[t], follow, other)
            new_on = (on[t] + into) * p[:, None, :]
            new_on[:, :, START] = 0.0
            new_off = both * p[:, None, None, START].expand_as(both)
            total = (new_on.sum((1, 2)) + new_off.sum((1, 2))).clamp_min(1e-30)
            factor = (1.0 / total)[:, None, None]
            torch.mul(new_on, factor, out=on[t + 1])
            torch.mul(new_off, factor, out=off[t + 1])
            scale[t] = torch.where(live[t], total.log(), 0.0)  # past an utterance's end nothing counts
        ctx.save_for_backward(probs, on, off, scale, live, follow, other)
        return scale.sum(0)

    @staticmethod
    def backward(ctx, grad: Tensor):  # type: ignore[no-untyped-def, override]
        probs, on, off, scale, live, follow, other = ctx.saved_tensors
        longest, batch, K = probs.shape
        shortest = int(live.sum(0).min())
        back_on, back_off = torch.ones(batch, K, K), torch.ones(batch, K, K)
        out = torch.zeros_like(probs)
        for t in range(longest - 1, -1, -1):
            posterior = (on[t + 1] * back_on).sum(1)
            posterior[:, START] += (off[t + 1] * back_off).sum((1, 2))
            posterior = posterior / posterior.sum(-1, keepdim=True).clamp_min(1e-30)
            out[t] = posterior * live[t][:, None]
            inverse = (-scale[t]).exp()[:, None, None]
            arrive = back_on * (probs[t][:, None, :] * inverse)  # weight of entering or staying on phone b
            arrive[:, :, START] = 0.0
            rest = back_off * (probs[t][:, None, None, START] * inverse)
            # [n, b, a]: leaving (a, b) for any (b, c)
            leave, leave_at_once = torch.einsum("nbc,bac->nab", torch.cat([arrive, arrive * other]), follow).chunk(2)
            back_on, back_off = arrive + rest + leave_at_once, rest + leave
            if t < shortest:
                continue
            past = ~live[t]  # utterances that have not begun from behind
            back_on[past], back_off[past] = 1.0, 1.0
        return out * grad[None, :, None], None, None


def _step(off: Tensor, on: Tensor, follow: Tensor, other: Tensor) -> Tensor:
    """Weight [n, b, c] of entering phone c after (a, b), summed over a."""
    after = torch.einsum("nab,bac->nbc", torch.cat([off, on]), follow)
    from_off, from_on = after.chunk(2)
    return from_on.mul_(other).add_(from_off)


def log_partition(log_probs: Tensor, lengths: Tensor, trigram: Tensor) -> Tensor:
    """log_probs (L, B, K), lengths (B,) -> log of the sum over all paths and phone sequences, (B,)."""
    return _LogPartition.apply(log_probs, lengths, trigram)  # type: ignore[no-untyped-call, no-any-return]
