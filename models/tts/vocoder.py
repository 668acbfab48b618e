"""The vocoder: log-mel frames and pitch in, waveform out, by filtering harmonics and noise in the spectral domain.

Shapes: B utterances, T frames of 300 samples, two sub-frames each; K = 301 bins of windows of 600 samples.
A causal network (depthwise convolutions over frames) gives, for each sub-frame, a complex filter of the harmonics and a
gain of the noise, both around the envelope that the mel frame itself draws. Filtered spectra go back by overlap-add.
The harmonics carry the phase at which the teacher spoke (`speech.tts.excitation`), so that phase is nearly given and
one small network learns speech in hours on one core. Output lags input by 600 samples: a window must be complete.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from speech.tts.excitation import HOP, VOICED_HZ
from torch import Tensor, nn

from models.tts.mel import MELS, envelope

WINDOW, STEP = 600, 150  # samples of a sub-frame's window, and between two
BINS = WINDOW // 2 + 1
SUB = HOP // STEP  # sub-frames of a frame
LAG = WINDOW // HOP  # frames by which output lags
TAIL = WINDOW - STEP  # samples of a window that the next one shares


@dataclass(frozen=True)
class VocoderConfig:
    d: int = 256
    blocks: int = 5
    ffn: int = 768
    taps: int = 7

    def as_dict(self) -> dict[str, int]:
        return asdict(self)


class Block(nn.Module):
    """ConvNeXt, causal: a depthwise convolution, then two linear layers."""

    def __init__(self, c: VocoderConfig) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(c.taps, c.d) / c.taps**0.5)
        self.bias = nn.Parameter(torch.zeros(c.d))
        self.norm = nn.LayerNorm(c.d)
        self.up, self.down = nn.Linear(c.d, c.ffn), nn.Linear(c.ffn, c.d)
        self.scale = nn.Parameter(torch.full((c.d,), 0.3))

    def forward(self, x: Tensor, tail: Tensor) -> tuple[Tensor, Tensor]:
        """x (B, T, d), tail (B, taps - 1, d): the frames before."""
        taps, length = self.weight.shape[0], x.shape[1]
        padded = torch.cat([tail.to(x.dtype), x], dim=1)
        y = self.bias + sum(padded[:, k : k + length] * self.weight[k] for k in range(taps))
        return x + self.scale * self.down(F.gelu(self.up(self.norm(y)), approximate="tanh")), padded[:, length:]


class Vocoder(nn.Module):
    def __init__(self, c: VocoderConfig) -> None:
        super().__init__()
        self.c = c
        self.enter = nn.Linear(MELS + 2, c.d)
        self.blocks = nn.ModuleList(Block(c) for _ in range(c.blocks))
        self.norm = nn.LayerNorm(c.d)
        self.head = nn.Linear(c.d, SUB * 4 * BINS)  # gain and complex shape of harmonics, gain of noise
        nn.init.normal_(self.head.weight, std=0.01)
        nn.init.zeros_(self.head.bias)
        self.register_buffer("window", torch.hann_window(WINDOW), persistent=False)
        self.register_buffer("envelope", torch.from_numpy(envelope(WINDOW)), persistent=False)

    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape (without the batch axis) of each carried state, in the order `forward` takes them."""
        tails = {f"conv_{i}": (self.c.taps - 1, self.c.d) for i in range(self.c.blocks)}
        return {**tails, "excitation": (2, TAIL), "overlap": (TAIL,)}

    def initial_state(self, batch: int) -> list[Tensor]:
        return [torch.zeros(batch, *shape) for shape in self.state_shapes().values()]

    def filters(self, mel: Tensor, f0: Tensor, tails: list[Tensor]) -> tuple[Tensor, Tensor, Tensor, list[Tensor]]:
        """Real and imaginary part of the harmonics' filter and the noise's gain, each (B, T * 2, BINS)."""
        voiced = (f0 >= VOICED_HZ).to(mel.dtype)
        pitch = torch.log(torch.clamp(f0, min=VOICED_HZ) / 200.0) * voiced
        x = self.enter(torch.cat([(mel + 5.0) / 2.5, pitch[..., None], voiced[..., None]], dim=-1))
        after = []
        for block, tail in zip(self.blocks, tails, strict=True):
            x, kept = block(x, tail)
            after.append(kept)
        out = self.head(self.norm(x)).float().unflatten(-1, (SUB, 4, BINS)).flatten(1, 2)  # (B, T * 2, 4, BINS)
        base = torch.stack([mel @ self.envelope] * SUB, dim=2).flatten(1, 2) + 3.0
        gain = torch.exp(torch.clamp(base + out[:, :, 0], max=6.0))
        noise = torch.exp(torch.clamp(base + out[:, :, 3] - 1.0, max=6.0))
        return gain * (1.0 + out[:, :, 1]), gain * out[:, :, 2], noise, after

    def forward(
        self, mel: Tensor, f0: Tensor, harmonics: Tensor, noise: Tensor, state: list[Tensor] | None = None
    ) -> tuple[Tensor, Tensor, list[Tensor]]:
        """mel (B, T, 80), f0 (B, T) Hz, harmonics and noise (B, T, 300) from `excite`.

        Returns the voiced and the noisy part of the samples, each (B, T * 300), 600 samples late, and the new state.
        """
        state = self.initial_state(mel.shape[0]) if state is None else state
        *tails, before, overlap = state
        real, imaginary, gain, after = self.filters(mel, f0, tails)
        sources = torch.cat([before, torch.stack([harmonics, noise], 1).flatten(2)], dim=-1)  # (B, 2, TAIL + T * 300)
        source_real, source_imaginary = self.analyse(windows(sources) * self.window)  # (B, 2, T * 2, BINS)
        r, i = source_real[:, 0], source_imaginary[:, 0]
        shaped_real = torch.stack([r * real - i * imaginary, source_real[:, 1] * gain], dim=1)
        shaped_imaginary = torch.stack([r * imaginary + i * real, source_imaginary[:, 1] * gain], dim=1)
        # Hann squared at a quarter step sums to 1.5.
        pieces = self.synthesise(shaped_real, shaped_imaginary) * (self.window / 1.5)
        whole = overlap_add(pieces, torch.stack([overlap, overlap * 0.0], dim=1))
        left = whole[:, :, -TAIL:].sum(1)
        return whole[:, 0, :-TAIL], whole[:, 1, :-TAIL], [*after, sources[:, :, -TAIL:], left]

    def analyse(self, frames: Tensor) -> tuple[Tensor, Tensor]:
        """Real and imaginary part (..., BINS) of frames (..., WINDOW). The exporter puts matrix products here."""
        spectra = torch.fft.rfft(frames.float())
        return spectra.real, spectra.imag

    def synthesise(self, real: Tensor, imaginary: Tensor) -> Tensor:
        return torch.fft.irfft(torch.complex(real, imaginary), WINDOW)


def windows(x: Tensor) -> Tensor:
    """(..., TAIL + n * STEP) -> (..., n, WINDOW): every window, a STEP apart."""
    quarters = x.unflatten(-1, (-1, STEP))
    last = TAIL // STEP
    return torch.cat([quarters[..., k : k - last or None, :] for k in range(last + 1)], dim=-1)


def overlap_add(pieces: Tensor, overlap: Tensor) -> Tensor:
    """pieces (B, s, n, WINDOW) a STEP apart, overlap (B, s, TAIL) from before -> (B, s, n * STEP + TAIL)."""
    quarters = pieces.unflatten(-1, (WINDOW // STEP, STEP))
    before = overlap.unflatten(-1, (TAIL // STEP, STEP))
    zero = before * 0.0  # not zeros_like: an exporter would write its shape down as it is now
    total = torch.cat([before, quarters[:, :, :, 0] * 0.0], dim=2)
    for k in range(WINDOW // STEP):
        total = total + torch.cat([zero[:, :, :k], quarters[:, :, :, k], zero[:, :, k:]], dim=2)
    return total.flatten(2)
