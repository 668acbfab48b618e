"""Log-mel spectra of 24 kHz speech at 80 frames a second, the meeting place of acoustic model and vocoder."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from speech.tts.excitation import HOP, RATE

MELS = 80
WINDOW = 1200  # samples, 50 ms
FLOOR = 2e-5  # amplitude, -94 dB of full scale

Array = NDArray[np.float32]


def filters() -> Array:
    """(MELS, WINDOW / 2 + 1): triangles of area 1 on the HTK mel scale from 0 to 12 kHz."""

    def mel(hz: float) -> float:
        return 2595.0 * float(np.log10(1.0 + hz / 700.0))

    edges = 700.0 * (10.0 ** (np.linspace(mel(0.0), mel(RATE / 2), MELS + 2) / 2595.0) - 1.0)
    bins = np.arange(WINDOW // 2 + 1) * RATE / WINDOW
    low, middle, high = (edges[i : MELS + i, None] for i in range(3))
    bank = np.maximum(0.0, np.minimum((bins - low) / (middle - low), (high - bins) / (high - middle)))
    return np.asarray(bank / np.maximum(bank.sum(axis=1, keepdims=True), 1e-9), np.float32)


def log_mel(samples: Array) -> Array:
    """(n,) -> (n / 300, MELS): natural log of mean amplitudes; frame i lies around sample 300 i + 150."""
    frames = len(samples) // HOP
    side = (WINDOW - HOP) // 2
    padded = np.pad(samples[: frames * HOP], side)
    window = np.hanning(WINDOW + 1)[:-1].astype(np.float32)
    spectra = np.abs(np.fft.rfft(sliding_window_view(padded, WINDOW)[::HOP] * window)).astype(np.float32)
    return np.log(np.maximum(spectra * (2.0 / window.sum()) @ filters().T, FLOOR))


def envelope(window: int) -> Array:
    """(MELS, window / 2 + 1): spreads mel values over the bins of a shorter spectrum, by linear interpolation."""
    bank = filters()
    bins = np.arange(bank.shape[1]) * RATE / WINDOW
    centres = (bank * bins).sum(1) / bank.sum(1)
    wanted = np.arange(window // 2 + 1) * RATE / window
    return np.stack([np.interp(wanted, centres, row) for row in np.eye(MELS)]).astype(np.float32)
