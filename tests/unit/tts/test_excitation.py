"""The vocoder's sources: harmonics of the pitch at the right phase, and noise, however the frames arrive."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.tts.excitation import HOP, RATE, TOP_HZ, ExcitationState, excite

PITCH = np.concatenate([np.zeros(3), np.linspace(90, 310, 20), np.zeros(2), np.full(5, 180.0)]).astype(np.float32)


def by_cosines(f0: np.ndarray) -> np.ndarray:
    """The definition: every harmonic by itself, its phase summed sample by sample."""
    hertz = np.repeat(f0.astype(np.float64), HOP)
    phase = 2 * np.pi * (np.cumsum(hertz) - hertz / 2) / RATE  # in the middle of each sample
    out = np.zeros(len(hertz))
    for n, (angle, hz) in enumerate(zip(phase, hertz, strict=True)):
        if hz:
            count = int(TOP_HZ / hz)
            out[n] = np.cos(np.arange(1, count + 1) * angle).sum() * np.sqrt(2 / count)
    return out.reshape(-1, HOP)


def test_harmonics_equal_a_sum_of_cosines() -> None:
    _, harmonics, _ = excite(ExcitationState(), PITCH)
    np.testing.assert_allclose(harmonics, by_cosines(PITCH), atol=2e-4)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, len(PITCH)), max_size=6))
def test_frames_may_be_cut_anywhere(cuts: list[int]) -> None:
    _, harmonics, noise = excite(ExcitationState(), PITCH)
    state, parts = ExcitationState(), []
    edges = [0, *sorted(cuts), len(PITCH)]
    for a, b in itertools.pairwise(edges):
        state, *made = excite(state, PITCH[a:b])
        parts.append(made)
    assert (np.concatenate([p[0] for p in parts]) == harmonics).all()
    assert (np.concatenate([p[1] for p in parts]) == noise).all()


def test_both_sources_have_power_one() -> None:
    _, harmonics, noise = excite(ExcitationState(), np.full(80, 200.0, np.float32))
    assert abs(np.square(harmonics).mean() - 1) < 0.02
    assert abs(np.square(noise).mean() - 1) < 0.02


def test_noise_does_not_repeat() -> None:
    _, _, noise = excite(ExcitationState(), np.zeros(400, np.float32))
    assert len(np.unique(noise.ravel())) > 119_000


def test_no_voice_no_harmonics() -> None:
    _, harmonics, _ = excite(ExcitationState(), np.array([0.0, 29.0, 31.0], np.float32))
    assert not harmonics[:2].any()
    assert harmonics[2].any()
