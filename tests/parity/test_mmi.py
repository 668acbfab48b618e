"""The lattice-free denominator against the sum over every path, written out."""

from __future__ import annotations

import itertools

import numpy as np
import torch

from models.asr.mmi import START, log_partition, phone_trigram

K, LENGTH = 4, 5


def trigram() -> torch.Tensor:
    rng = np.random.default_rng(3)
    return phone_trigram([rng.integers(1, K, 9).astype(np.uint8) for _ in range(6)], K)


def by_paths(log_probs: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """log of the sum over all K ** L label paths of one utterance, each with its phone sequence's probability."""
    sums: list[torch.Tensor] = []
    for path in itertools.product(range(K), repeat=len(log_probs)):
        phones = [b for a, b in itertools.pairwise((START, *path)) if b not in (a, START)]
        history = (START, START, *phones)
        score = sum(log_probs[t, label] for t, label in enumerate(path))
        sums.append(score + sum(weights[history[i : i + 3]].log() for i in range(len(phones))))
    return torch.logsumexp(torch.stack(sums), 0)


def test_value_and_gradient_are_those_of_all_paths() -> None:
    torch.manual_seed(5)
    logits = torch.randn(LENGTH, 2, K, requires_grad=True)
    lengths = torch.tensor([LENGTH, LENGTH - 2])
    weights = trigram()
    expected = torch.stack([by_paths(logits[: lengths[n], n], weights) for n in range(2)])
    found = log_partition(logits, lengths, weights)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
    (wanted,) = torch.autograd.grad((expected * torch.tensor([1.0, 0.5])).sum(), logits)
    (got,) = torch.autograd.grad((found * torch.tensor([1.0, 0.5])).sum(), logits)
    torch.testing.assert_close(got, wanted, atol=1e-4, rtol=1e-3)


def test_trigram_sums_to_one_and_never_gives_a_blank() -> None:
    weights = trigram()
    torch.testing.assert_close(weights.sum(-1), torch.ones(K, K), atol=1e-5, rtol=1e-5)
    assert float(weights[..., START].abs().max()) == 0.0
