"""Streaming resampler between any two rates, whose state can be saved and taken up in another process bit for bit.

A polyphase filter bank (Crochiere and Rabiner, Multirate Digital Signal Processing, 1983, ch. 4): with
rate_out / rate_in = L / M in lowest terms, output n lies at input time n * M / L and is the inner product of the
input around it with one of L sampled phases of a Kaiser-windowed sinc. Every output depends only on its own window
and is summed in one fixed order, so how the input is cut into chunks cannot show.
soxr does the same well, but a soxr stream cannot be saved.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from speech.errors import BadAudio, BadSnapshot

Samples = NDArray[np.float32]

MIN_RATE, MAX_RATE = 8_000, 192_000  # Hz
TAPS = 48  # taps per phase, in samples of the lower of the two rates
CUTOFF = 0.47  # -6 dB point, as a fraction of the lower rate
BETA = 6.755  # Kaiser window for 70 dB: transition 0.09 of the lower rate, so flat to 0.42 and stopped from 0.52
BLOCK = 48_000  # values in the windows gathered at a time: they stay in the cache


class Resampler:
    """Resamples one channel. Output n stands at the time n / rate_out: there is no shift, only a short look-ahead."""

    def __init__(self, rate_in: int, rate_out: int) -> None:
        for rate in (rate_in, rate_out):
            if not MIN_RATE <= rate <= MAX_RATE:
                raise BadAudio(f"a sample rate of {rate} Hz is not supported; expected {MIN_RATE} to {MAX_RATE} Hz")
        self.rate_in, self.rate_out = rate_in, rate_out
        common = gcd(rate_in, rate_out)
        self._up, self._down = rate_out // common, rate_in // common  # L, M
        self._half = _half(self._up, self._down)
        # Input from the first sample of the next output's window on, and that output's place between two samples.
        self._buffer: Samples = np.zeros(self._half - 1 if self._half else 0, np.float32)
        self._phase = 0  # in 1 / L samples after the first of the buffer, counted at the window's start

    @property
    def latency_s(self) -> float:
        """Look-ahead in seconds: so much input must follow an output's time before it can be given."""
        return self._half / self.rate_in

    def receive(self, samples: Samples) -> Samples:
        """Output samples (m,) that `samples` (n,) complete; any n, also 0."""
        samples = np.asarray(samples, np.float32)
        if not self._half:
            return samples
        self._buffer = np.concatenate([self._buffer, samples])
        up, down, taps = self._up, self._down, 2 * self._half
        count = max(0, ((len(self._buffer) - taps + 1) * up - 1 - self._phase) // down + 1)
        out = np.empty(count, np.float32)
        if count:
            bank = _bank(up, down)
            windows = sliding_window_view(self._buffer, taps)
            for first in range(0, count, bank.block):
                bank.filter(windows, self._phase + first * down, out[first : first + bank.block])
        used, self._phase = divmod(self._phase + count * down, up)
        self._buffer = self._buffer[used:]
        return out

    def finish(self) -> Samples:
        """The outputs that lie before the end of the input: ceil(inputs * L / M) in all, with those given before."""
        return self.receive(np.zeros(self._half, np.float32))

    def state(self) -> dict[str, NDArray[np.float32] | NDArray[np.int64]]:
        """`buffer` float32 (fewer than taps + M / L samples) and `place` int64 (3,): rate_in, rate_out, phase."""
        return {"buffer": self._buffer.copy(), "place": np.array([self.rate_in, self.rate_out, self._phase], np.int64)}

    @classmethod
    def from_state(cls, state: dict[str, NDArray[np.float32] | NDArray[np.int64]]) -> Resampler:
        """A resampler that goes on where the saved one stood."""
        try:
            rate_in, rate_out, phase = (int(value) for value in state["place"])
            resampler = cls(rate_in, rate_out)
            buffer = np.array(state["buffer"], np.float32)
        except (BadAudio, KeyError, TypeError, ValueError) as error:
            raise BadSnapshot(f"the resampler's state is damaged: {error}") from error
        if buffer.ndim != 1 or not 0 <= phase < resampler._up or len(buffer) > 2 * resampler._half:
            raise BadSnapshot(f"the resampler's state is damaged: phase {phase}, buffer {buffer.shape}")
        resampler._buffer, resampler._phase = buffer, phase
        return resampler


def resample(samples: Samples, rate_in: int, rate_out: int) -> Samples:
    """A whole signal (n,) at once: (ceil(n * rate_out / rate_in),)."""
    resampler = Resampler(rate_in, rate_out)
    return np.concatenate([resampler.receive(samples), resampler.finish()])


def _half(up: int, down: int) -> int:
    """Half the taps of a phase, in input samples; 0 when the rates are equal."""
    return 0 if up == down else -(-TAPS * max(up, down) // (2 * up))


class _Bank:
    """The filters of one ratio L / M, in the order in which outputs use them."""

    def __init__(self, up: int, down: int) -> None:
        self._up, self._down = up, down
        order = np.arange(up, dtype=np.int64) * down % up
        rows = np.concatenate([_phases(order[i : i + 4096], up, down) for i in range(0, up, 4096)])
        self.block = BLOCK // rows.shape[1]  # outputs at a time
        # Longer than L by a block, so that every run of outputs finds its filters one below the other.
        self._table: Samples = np.take(rows, np.arange(up + self.block), axis=0, mode="wrap")
        self._row_of = np.empty(up, np.int32)  # by phase
        self._row_of[order] = np.arange(up, dtype=np.int32)

    def filter(self, windows: Samples, place: int, out: Samples) -> None:
        """Fill `out` (at most `block` samples); its first window starts `place` / L into `windows` (n, taps)."""
        start, phase = divmod(place, self._up)
        if self._up == 1:
            chosen = windows[start : start + len(out) * self._down : self._down]
        else:
            chosen = windows[start + (phase + np.arange(len(out)) * self._down) // self._up]
        row = self._row_of[phase]
        # Not matmul: BLAS picks kernels, and with them the order of summation, by the shape of the whole.
        np.einsum("nk,nk->n", chosen, self._table[row : row + len(out)], out=out)


@lru_cache(maxsize=8)
def _bank(up: int, down: int) -> _Bank:
    return _Bank(up, down)


def _phases(phases: NDArray[np.int64], up: int, down: int) -> Samples:
    """Coefficients (p, taps): the windowed sinc sampled at each phase, scaled to a gain of exactly 1 at 0 Hz."""
    half = _half(up, down)
    time = np.arange(2 * half) - (half - 1) - phases[:, None] / up  # input samples from the output's time
    cutoff = 2 * CUTOFF * min(1.0, up / down)  # as a fraction of half the input rate
    window = np.i0(BETA * np.sqrt(np.clip(1 - (time / half) ** 2, 0, None)))
    taps = np.sinc(cutoff * time) * window
    return np.asarray(taps / taps.sum(axis=1, keepdims=True), np.float32)
