"""The acoustic model: log-mel frames in, phone log-probabilities out, by state-space (SSD) blocks in PyTorch.

Shapes: B utterances, T feature frames (10 ms), L = T / 4 label frames (40 ms), d model width, H heads of P values,
N state size. Every operation is causal; the look-ahead is an output delay: the network is trained to emit the label
of frame `j - delay` at frame `j`, so that every layer has heard `delay` frames of the future.

The mixer is Mamba-2's state-space duality (Dao and Gu, 2024, arXiv 2405.21060): `speech.ssm` has the glossary.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class ModelConfig:
    tokens: int = 48  # outputs: blank and phones
    mels: int = 80
    frontend: int = 128  # channels between the two strided convolutions
    d: int = 256
    layers: int = 8
    heads: int = 6
    head_dim: int = 64
    state: int = 16
    conv: int = 4  # taps of the causal depthwise convolution
    ffn: int = 768
    chunk: int = 16  # frames solved at once in training
    delay: int = 5  # label frames of look-ahead
    dropout: float = 0.1

    def as_dict(self) -> dict[str, int | float]:
        return asdict(self)


def ssd(
    x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, chunk: int, S: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Scalar-decay state-space scan, chunk by chunk, by matrix products.

    x (b, L, H, P), dt (b, L, H) > 0, A (H) < 0, B and C (b, L, N); S (b, H, P, N) the carried state.
    Returns y (b, L, H, P) and the state after the last frame. L is padded to a multiple of `chunk` with dt = 0,
    which neither decays nor feeds the state.
    """
    b, length, H, P = x.shape
    N = B.shape[-1]
    pad = -length % chunk
    if pad:
        x, dt = F.pad(x, (0, 0, 0, 0, 0, pad)), F.pad(dt, (0, 0, 0, pad))
        B, C = F.pad(B, (0, 0, 0, pad)), F.pad(C, (0, 0, 0, pad))
    n = (length + pad) // chunk
    X = (x * dt[..., None].to(x.dtype)).view(b, n, chunk, H, P).transpose(2, 3)  # (b, n, H, Q, P)
    log_decay = torch.cumsum((dt * A).view(b, n, chunk, H).transpose(2, 3), dim=-1)  # (b, n, H, Q)
    B, C = B.view(b, n, 1, chunk, N), C.view(b, n, 1, chunk, N)
    mask = torch.ones(chunk, chunk, dtype=torch.bool).tril()
    gap = log_decay[..., :, None] - log_decay[..., None, :]
    decay = torch.exp(gap.masked_fill(~mask, float("-inf")))  # the mask comes before the exponential: no overflow
    Y = ((C @ B.transpose(-1, -2)) * decay.to(x.dtype)) @ X  # within the chunk
    to_end = torch.exp(log_decay[..., -1:] - log_decay).to(x.dtype)  # (b, n, H, Q)
    fed = (X * to_end[..., None]).transpose(-1, -2) @ B  # (b, n, H, P, N)
    total = torch.exp(log_decay[..., -1])  # (b, n, H)
    state = torch.zeros(b, H, P, N, dtype=dt.dtype) if S is None else S
    before = []
    for i in range(n):
        before.append(state)
        state = state * total[:, i, :, None, None] + fed[:, i]
    carried = torch.stack(before, dim=1)  # (b, n, H, P, N)
    Y = Y + (C @ carried.transpose(-1, -2).to(x.dtype)) * torch.exp(log_decay)[..., None].to(x.dtype)
    return Y.transpose(2, 3).reshape(b, n * chunk, H, P)[:, :length], state


class RMSNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), self.weight.to(x.dtype), 1e-5)


def causal_depthwise(x: Tensor, weight: Tensor, bias: Tensor, tail: Tensor) -> tuple[Tensor, Tensor]:
    """x (b, L, c), weight (taps, c), tail (b, taps - 1, c): the frames before. Returns y and the new tail."""
    taps, length = weight.shape[0], x.shape[1]
    padded = torch.cat([tail.to(x.dtype), x], dim=1)
    weight, bias = weight.to(x.dtype), bias.to(x.dtype)
    y = bias + sum(padded[:, k : k + length] * weight[k] for k in range(taps))
    return y, padded[:, length:]


class Mixer(nn.Module):
    """SSD mixer with its short convolution and gate (the Mamba-2 block)."""

    def __init__(self, c: ModelConfig) -> None:
        super().__init__()
        self.c, self.inner = c, c.heads * c.head_dim
        self.mixed = self.inner + 2 * c.state
        self.project = nn.Linear(c.d, self.inner + self.mixed + c.heads, bias=False)
        self.conv_weight = nn.Parameter(torch.randn(c.conv, self.mixed) / c.conv**0.5)
        self.conv_bias = nn.Parameter(torch.zeros(self.mixed))
        spread = torch.exp(torch.linspace(0.0, 1.0, c.heads) * torch.log(torch.tensor(50.0))) * 0.02
        self.dt_bias = nn.Parameter(torch.log(torch.expm1(spread)))  # softplus inverse: 0.02 to 1
        self.log_A = nn.Parameter(torch.zeros(c.heads))
        self.D = nn.Parameter(torch.ones(c.heads))
        self.norm = RMSNorm(self.inner)
        self.out = nn.Linear(self.inner, c.d, bias=False)

    def forward(self, x: Tensor, tail: Tensor, S: Tensor, chunk: int) -> tuple[Tensor, Tensor, Tensor]:
        c = self.c
        z, mixed, dt = self.project(x).split([self.inner, self.mixed, c.heads], dim=-1)
        mixed, tail = causal_depthwise(mixed, self.conv_weight, self.conv_bias, tail)
        u, B, C = F.silu(mixed).split([self.inner, c.state, c.state], dim=-1)
        u = u.reshape(u.shape[0], -1, c.heads, c.head_dim)
        y, S = ssd(u, F.softplus(dt.to(self.dt_bias.dtype) + self.dt_bias), -torch.exp(self.log_A), B, C, chunk, S)
        y = (y + u * self.D[:, None].to(u.dtype)).flatten(-2)
        return self.out(self.norm(y * F.silu(z))), tail, S


class Block(nn.Module):
    def __init__(self, c: ModelConfig) -> None:
        super().__init__()
        self.norm_mixer, self.mixer = RMSNorm(c.d), Mixer(c)
        self.norm_ffn = RMSNorm(c.d)
        self.up, self.down = nn.Linear(c.d, c.ffn), nn.Linear(c.ffn, c.d)
        self.dropout = c.dropout

    def forward(self, x: Tensor, tail: Tensor, S: Tensor, chunk: int) -> tuple[Tensor, Tensor, Tensor]:
        y, tail, S = self.mixer(self.norm_mixer(x), tail, S, chunk)
        x = x + F.dropout(y, self.dropout, self.training)
        h = F.relu(self.up(self.norm_ffn(x))).square()
        return x + F.dropout(self.down(h), self.dropout, self.training), tail, S


class Frontend(nn.Module):
    """Two causal convolutions of stride 2: 10 ms frames in, 40 ms frames out."""

    TAPS = 5

    def __init__(self, c: ModelConfig) -> None:
        super().__init__()
        self.first = nn.Conv1d(c.mels, c.frontend, self.TAPS, stride=2)
        self.second = nn.Conv1d(c.frontend, c.d, self.TAPS, stride=2)

    def forward(self, x: Tensor, tail_1: Tensor, tail_2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """x (b, T, mels), tails (b, 3, channels). The tail is what the next chunk's first windows reach back to."""
        keep = self.TAPS - 2
        x = torch.cat([tail_1, x], dim=1)
        y = F.silu(self.first(x.transpose(1, 2))).transpose(1, 2)
        y_all = torch.cat([tail_2, y], dim=1)
        z = self.second(y_all.transpose(1, 2)).transpose(1, 2)
        return F.silu(z), x[:, -keep:], y_all[:, -keep:]


class AcousticModel(nn.Module):
    def __init__(self, c: ModelConfig) -> None:
        super().__init__()
        self.c = c
        self.frontend = Frontend(c)
        self.blocks = nn.ModuleList(Block(c) for _ in range(c.layers))
        self.norm, self.head = RMSNorm(c.d), nn.Linear(c.d, c.tokens)

    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape (without the batch axis) of each carried state, in the order `forward` takes them."""
        c, keep = self.c, Frontend.TAPS - 2
        shapes: dict[str, tuple[int, ...]] = {"mel_tail": (keep, c.mels), "frontend_tail": (keep, c.frontend)}
        for i in range(c.layers):
            shapes[f"conv_{i}"] = (c.conv - 1, c.heads * c.head_dim + 2 * c.state)
            shapes[f"ssm_{i}"] = (c.heads, c.head_dim, c.state)
        return shapes

    def initial_state(self, batch: int) -> list[Tensor]:
        return [torch.zeros(batch, *shape) for shape in self.state_shapes().values()]

    def forward(
        self, features: Tensor, state: list[Tensor] | None = None, chunk: int | None = None
    ) -> tuple[Tensor, list[Tensor]]:
        """features (b, T, mels), T a multiple of 4 -> log-probabilities (b, T / 4, tokens) and the new state."""
        state = self.initial_state(features.shape[0]) if state is None else state
        x, mel_tail, frontend_tail = self.frontend(features, state[0], state[1])
        after = [mel_tail, frontend_tail]
        for i, block in enumerate(self.blocks):
            x, tail, S = block(x, state[2 + 2 * i], state[3 + 2 * i], chunk or self.c.chunk)
            after += [tail, S]
        return F.log_softmax(self.head(self.norm(x)), dim=-1), after
