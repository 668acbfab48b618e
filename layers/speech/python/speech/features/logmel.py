"""Streaming log-mel features: samples in, (frames, 80) out, the overlap between calls held in the caller's state.

Frame t covers samples [160 t, 160 t + 400): causal, no padding, so a frame exists as soon as its last sample does.
Every row is computed by operations that do not look at the other rows, so any cut of the input gives the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]

_BLOCK_FRAMES = 512  # rows worked on at once: keeps an hour of audio from needing an hour of spectra


@dataclass(frozen=True)
class LogMel:
    """Log-mel filter bank of fixed scale: (ln(max(power, floor)) - offset) / scale, no statistics of the signal.

    Mel scale and triangles (linear in mel) as in HTK, "The HTK Book", section 5.6: mel = 1127 ln(1 + f / 700).
    The floor is the power of 16-bit rounding noise, so digital silence and a quiet 16-bit recording look alike.
    """

    rate: int = 16000  # Hz
    window: int = 400  # samples, 25 ms
    hop: int = 160  # samples, 10 ms
    fft: int = 512  # points
    bins: int = 80
    low_hz: float = 20.0
    high_hz: float = 7600.0
    floor: float = 1e-7  # power, samples in -1 to 1
    offset: float = -5.0  # natural log of power
    scale: float = 4.0
    _hann: FloatArray = field(init=False, repr=False, compare=False)
    _taps: tuple[NDArray[np.intp], FloatArray, NDArray[np.intp]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(self.window) / self.window)
        object.__setattr__(self, "_hann", hann.astype(np.float32))
        object.__setattr__(self, "_taps", _filter_taps(self))

    @property
    def silence(self) -> float:
        """The value of every bin for digital silence: the lowest value there is."""
        return float(self._log(np.zeros((1, 1), np.float32))[0, 0])

    def start(self) -> FloatArray:
        """The state of a stream before its first sample: no samples waiting."""
        return np.zeros(0, np.float32)

    def step(self, tail: FloatArray, samples: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Features of the frames that `samples` (n,) completes, and the new tail.

        Returns (frames (T, bins) float32, the samples a later frame still needs: fewer than `window`).
        """
        waiting = np.concatenate([tail, np.asarray(samples, np.float32)])
        frames = self.batch(waiting)
        return frames, waiting[len(frames) * self.hop :].copy()

    def batch(self, samples: FloatArray) -> FloatArray:
        """Features (T, bins) float32 of all whole frames of `samples` (n,); T = 0 if there are too few samples."""
        samples = np.ascontiguousarray(samples, np.float32)
        count = self.frames_in(len(samples))
        out = np.empty((count, self.bins), np.float32)
        for start in range(0, count, _BLOCK_FRAMES):
            stop = min(start + _BLOCK_FRAMES, count)
            block = samples[start * self.hop : (stop - 1) * self.hop + self.window]
            windows = np.lib.stride_tricks.sliding_window_view(block, self.window)[:: self.hop]
            out[start:stop] = self._log(self._mel_power(windows))
        return out

    def frames_in(self, samples: int) -> int:
        """Number of whole frames in that many samples."""
        return max(0, (samples - self.window) // self.hop + 1)

    def _mel_power(self, windows: FloatArray) -> FloatArray:
        """(T, window) samples to (T, bins) power: one real FFT a row, then sums over the few bins of each triangle."""
        spectrum = np.fft.rfft(windows * self._hann, self.fft, axis=1)
        power = np.square(spectrum.real) + np.square(spectrum.imag)
        index, weight, starts = self._taps
        # A matrix product would round differently with the number of rows (blocking in BLAS); these sums do not.
        weighted = power.T[index] * weight[:, None]
        return np.ascontiguousarray(np.add.reduceat(weighted, starts, axis=0).T, np.float32)

    def _log(self, power: FloatArray) -> FloatArray:
        log = np.log(np.maximum(power, np.float32(self.floor)))
        return (log - np.float32(self.offset)) * np.float32(1 / self.scale)


def mel(hz: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Hertz to mel, HTK's formula."""
    return 1127.0 * np.log1p(np.asarray(hz, np.float64) / 700.0)


def _filter_taps(config: LogMel) -> tuple[NDArray[np.intp], FloatArray, NDArray[np.intp]]:
    """The non-zero weights, filter after filter: FFT bin of each, weight of each, first position of each filter."""
    edges = np.linspace(mel(config.low_hz), mel(config.high_hz), config.bins + 2)
    points = mel(np.arange(config.fft // 2 + 1) * config.rate / config.fft)
    width = edges[1] - edges[0]
    weights = np.maximum(0.0, 1.0 - np.abs(points[None, :] - edges[1:-1, None]) / width)  # (bins, fft // 2 + 1)
    if not (weights > 0).any(axis=1).all():
        raise ValueError(f"{config.bins} mel bins are too many for {config.fft} FFT points: a filter would be empty")
    filters, index = np.nonzero(weights)
    starts = np.searchsorted(filters, np.arange(config.bins))
    return index.astype(np.intp), weights[filters, index].astype(np.float32), starts.astype(np.intp)
