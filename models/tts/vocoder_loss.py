"""What the vocoder is trained for: spectra at several resolutions, and the voiced part in step with the recording."""

from __future__ import annotations

import torch
from torch import Tensor

RESOLUTIONS = ((2048, 512), (1024, 256), (512, 128), (192, 48))  # window and step, samples
PHASE_WINDOW, PHASE_STEP = 480, 120
POWER = 0.4  # compression of amplitudes in the complex loss: quiet harmonics count too
QUIET = 1e-4  # amplitude below which nothing is heard


def spectrum(x: Tensor, window: int, step: int) -> Tensor:
    """(B, n) -> (B, frames, bins), complex, scaled so that a sine's peak is its amplitude."""
    shape = torch.hann_window(window)
    return torch.fft.rfft(x.unfold(-1, window, step) * (shape * (2.0 / window * 2.0)))


def magnitude(x: Tensor) -> Tensor:
    return torch.sqrt(x.real.square() + x.imag.square() + 1e-12)


def spectral_loss(made: Tensor, target: Tensor) -> Tensor:
    """Mean distance of log amplitudes, and of amplitudes in proportion to the whole."""
    total = torch.zeros(())
    for window, step in RESOLUTIONS:
        a, b = magnitude(spectrum(made, window, step)), magnitude(spectrum(target, window, step))
        total = total + (torch.log(a + QUIET) - torch.log(b + QUIET)).abs().mean()
        total = total + torch.linalg.vector_norm(a - b) / torch.linalg.vector_norm(b).clamp(min=1e-3)
    return total / len(RESOLUTIONS)


def phase_loss(voiced: Tensor, target: Tensor) -> Tensor:
    """Distance of compressed complex spectra, in proportion to the target's: 1 for silence, 0 for the same waveform."""
    a, b = spectrum(voiced, PHASE_WINDOW, PHASE_STEP), spectrum(target, PHASE_WINDOW, PHASE_STEP)
    size_a, size_b = magnitude(a) + QUIET, magnitude(b) + QUIET
    a, b = a * size_a ** (POWER - 1), b * size_b ** (POWER - 1)
    return magnitude(a - b).mean() / magnitude(b).mean().clamp(min=1e-3)
