"""What the vocoder filters: the harmonics of the known pitch and white noise, in step with the frames.

A frame is 300 samples at 24 kHz. Frame i has pitch `f0[i]` from sample 300 i - 150 to 300 i + 150: the phase is then
the one at which the voices' teacher (Kokoro) synthesises, so that a vocoder finds the phase of speech nearly given.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RATE = 24_000  # Hz
HOP = 300  # samples of a frame, 12.5 ms
VOICED_HZ = 30.0  # pitch below it means: no voice
TOP_HZ = 11_900.0  # harmonics go up to here
_NOISE_KEY = 20_260_911  # any number: noise is the same in every run

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ExcitationState:
    """Where a stream is: the phase in cycles (0 to 1) and the number of the next frame."""

    cycles: float = 0.0
    frame: int = 0


def excite(state: ExcitationState, f0: Array) -> tuple[ExcitationState, Array, Array]:
    """f0 (T,) in Hz, below 30: unvoiced -> the new state, harmonics (T, 300) and noise (T, 300), both of power 1.

    However the frames are cut into calls, the samples are the same: nothing here depends on the length of a call.
    """
    harmonics = np.zeros((len(f0), HOP), np.float32)
    noise = np.empty((len(f0), HOP), np.float32)
    cycles = state.cycles
    for i, hz in enumerate(np.asarray(f0, np.float64).tolist()):
        if hz >= VOICED_HZ:
            harmonics[i] = _harmonics(cycles, hz)
        noise[i] = _noise(state.frame + i)
        cycles = (cycles + max(hz, 0.0) * HOP / RATE) % 1.0
    return ExcitationState(cycles, state.frame + len(f0)), harmonics, noise


def _harmonics(cycles: float, hz: float) -> NDArray[np.float64]:
    """The sum of cos(k phase) over all harmonics up to TOP_HZ, by the closed form of the Dirichlet kernel."""
    half = np.pi * (cycles + hz * (np.arange(HOP) + 0.5) / RATE)  # half the phase
    count = int(TOP_HZ / hz)
    sine = np.sin(half)
    near = np.abs(sine) < 1e-6
    kernel = np.where(near, 2.0 * count + 1.0, np.sin((2 * count + 1) * half) / np.where(near, 1.0, sine))
    return np.asarray((kernel - 1.0) / 2.0 * np.sqrt(2.0 / count))


def _noise(frame: int) -> NDArray[np.float64]:
    """Uniform white noise of variance 1, from the frame's number alone."""
    draw = np.random.Generator(np.random.Philox(key=_NOISE_KEY, counter=frame << 64))
    return np.asarray((draw.random(HOP) * 2.0 - 1.0) * np.sqrt(3.0))
