"""The tagger in PyTorch: embeddings, then layers of a two-way SSD mixer and a feed-forward part, then two heads.

A segment is whole when it is tagged, so each layer looks both ways: one scan from the left, one from the right,
each in the chunk form of Mamba-2's SSD (arXiv 2405.21060, section 6), which needs no loop and exports as plain ONNX.
Symbols as in speech/ssm.py: B, C (n), A (one per head), dt (per word and head), D.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

PUNCTUATION_CLASSES = 4
CASING_CLASSES = 4


@dataclass(frozen=True)
class Shape:
    """Sizes of the network; the names of config.toml's [model]."""

    rows: int
    buckets: int
    embedding: int
    width: int
    layers: int
    heads: int
    state: int
    kernel: int
    feedforward: int
    dropout: float

    @classmethod
    def of(cls, config: dict[str, Any]) -> Shape:
        """From the parsed config.toml."""
        return cls(rows=config["corpus"]["rows"], buckets=config["corpus"]["buckets"], **config["model"])


class Embedding(nn.Module):
    """Sum of a word's row, its prefix bucket and its suffix bucket, projected to the width."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.rows = nn.Embedding(shape.rows, shape.embedding)
        self.pieces = nn.Embedding(shape.buckets, shape.embedding)
        self.out = nn.Linear(shape.embedding, shape.width)
        nn.init.normal_(self.rows.weight, std=0.3)
        nn.init.normal_(self.pieces.weight, std=0.3)

    def forward(self, features: Tensor) -> Tensor:
        """(batch, words, 3) integers -> (batch, words, width)."""
        pieces = self.pieces(features[..., 1]) + self.pieces(features[..., 2])
        return self.out(self.rows(features[..., 0]) + pieces)  # type: ignore[no-any-return]


class Norm(nn.Module):
    """RMS normalisation, in operations that every ONNX opset has."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """(..., width) -> the same shape."""
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * self.weight


def segsum_decay(log_a: Tensor) -> Tensor:
    """(batch, heads, words) log decays -> (batch, heads, t, s): exp(sum of s+1..t) where s <= t, else 0."""
    total = torch.cumsum(log_a, dim=-1)
    difference = total.unsqueeze(-1) - total.unsqueeze(-2)
    causal = torch.ones_like(difference).tril() > 0
    return difference.masked_fill(~causal, float("-inf")).exp()  # mask first: exp of the upper half may overflow


class Scan(nn.Module):
    """One direction of the SSD mixer over a whole segment that starts from an empty state."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads, self.state = shape.heads // 2, shape.state
        self.project = nn.Linear(shape.width // 2, 2 * shape.state + self.heads)
        self.log_decay = nn.Parameter(torch.log(torch.linspace(0.3, 3.0, self.heads)))
        self.skip = nn.Parameter(torch.ones(self.heads))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """(batch, words, width / 2), (batch, words, 1) of 0 and 1 -> (batch, words, width / 2)."""
        batch, words, width = x.shape
        B, C, dt = self.project(x).split([self.state, self.state, self.heads], dim=-1)
        dt = functional.softplus(dt) * mask
        decay = segsum_decay((-dt * self.log_decay.exp()).transpose(1, 2))
        heads = x.view(batch, words, self.heads, width // self.heads).transpose(1, 2)
        scores = (C @ B.transpose(1, 2)).unsqueeze(1) * decay
        mixed = scores @ (heads * dt.transpose(1, 2).unsqueeze(-1))
        mixed = mixed + heads * self.skip.view(1, -1, 1, 1)
        return mixed.transpose(1, 2).reshape(batch, words, width)


class Layer(nn.Module):
    """Centred convolution, half the channels scanned each way, gate; then feed-forward. Residual, normalised before."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width = shape.width
        self.norm, self.norm_ff = Norm(width), Norm(width)
        self.enter = nn.Linear(width, 2 * width)
        self.conv = nn.Parameter(torch.randn(shape.kernel, width) / shape.kernel)  # depthwise, one row a position
        self.right, self.left = Scan(shape), Scan(shape)
        self.leave = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, shape.feedforward), nn.Linear(shape.feedforward, width)
        self.drop = nn.Dropout(shape.dropout)

    def convolve(self, x: Tensor) -> Tensor:
        """Depthwise convolution over the words, zeros beyond both ends; as shifted sums, which CPUs like better."""
        words, reach = x.shape[1], self.conv.shape[0] // 2
        padded = functional.pad(x, (0, 0, reach, reach))
        return sum(
            (padded[:, k : k + words] * self.conv[k] for k in range(1, 2 * reach + 1)), padded[:, :words] * self.conv[0]
        )

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """(batch, words, width) -> the same shape."""
        gate, inner = self.enter(self.norm(x)).chunk(2, dim=-1)
        ahead, back = functional.silu(self.convolve(inner * mask)).chunk(2, dim=-1)
        back = self.left(back.flip(1), mask.flip(1)).flip(1)
        mixed = torch.cat([self.right(ahead, mask), back], dim=-1) * functional.silu(gate)
        x = x + self.drop(self.leave(mixed))
        return x + self.drop(self.down(functional.silu(self.up(self.norm_ff(x)))))


class Tagger(nn.Module):
    """Features of a segment's words -> scores of the punctuation after each word and of its casing."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embed = Embedding(shape)
        self.drop = nn.Dropout(shape.dropout)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = Norm(shape.width)
        self.heads = nn.Linear(shape.width, PUNCTUATION_CLASSES + CASING_CLASSES)

    def forward(self, features: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """(batch, words, 3), optional (batch, words) -> two (batch, words, 4) of unnormalised scores."""
        mask = torch.ones_like(features[..., :1]).float() if mask is None else mask.unsqueeze(-1)
        x = self.drop(self.embed(features))
        for layer in self.layers:
            x = layer(x, mask)
        scores = self.heads(self.norm(x))
        return scores[..., :PUNCTUATION_CLASSES], scores[..., PUNCTUATION_CLASSES:]
