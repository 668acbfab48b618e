"""Log-mel features: any cut gives the same bits, and the values are those of a slow transform that shares no code."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.features.logmel import LogMel

RATE = 16000


def noise(count: int, seed: int = 1, level: float = 0.1) -> np.ndarray:
    return (np.random.default_rng(seed).standard_normal(count) * level).astype(np.float32)


def slow_log_mel(frame: list[float]) -> list[float]:
    """One frame by the definition: discrete Fourier sums and triangles on the mel axis, in plain Python."""

    def to_mel(hz: float) -> float:
        return 2595.0 * math.log10(1.0 + hz / 700.0)

    windowed = [x * math.sin(math.pi * n / 400) ** 2 for n, x in enumerate(frame)]
    powers = []
    for k in range(257):
        re = sum(x * math.cos(2 * math.pi * k * n / 512) for n, x in enumerate(windowed))
        im = sum(x * math.sin(2 * math.pi * k * n / 512) for n, x in enumerate(windowed))
        powers.append(re * re + im * im)
    low, high = to_mel(20.0), to_mel(7600.0)
    step = (high - low) / 81
    values = []
    for m in range(80):
        left, centre, right = (low + (m + i) * step for i in range(3))
        total = 0.0
        for k, power in enumerate(powers):
            at = to_mel(k * 31.25)
            if left < at <= centre:
                total += power * (at - left) / (centre - left)
            elif centre < at < right:
                total += power * (right - at) / (right - centre)
        values.append((math.log(max(total, 1e-7)) + 5.0) / 4.0)
    return values


def test_equals_a_slow_transform_written_from_the_definition() -> None:
    samples = noise(880)
    expected = [slow_log_mel(samples[160 * t : 160 * t + 400].tolist()) for t in range(4)]
    np.testing.assert_allclose(LogMel().batch(samples), expected, atol=2e-4)


@settings(max_examples=40, deadline=None)
@given(cuts=st.lists(st.integers(0, 12000), max_size=20), seed=st.integers(0, 9))
def test_any_cut_gives_the_same_bits(cuts: list[int], seed: int) -> None:
    logmel, samples = LogMel(), noise(12000, seed)
    tail, frames = logmel.start(), []
    for part in np.split(samples, sorted(cuts)):
        made, tail = logmel.step(tail, part)
        frames.append(made)
    assert np.concatenate(frames).tobytes() == logmel.batch(samples).tobytes()
    assert len(tail) < 400


def test_blocks_of_a_long_input_join_without_a_seam() -> None:
    samples = noise(RATE * 12)
    alone = [LogMel().batch(samples[160 * t : 160 * t + 400]) for t in range(1198)]
    assert LogMel().batch(samples).tobytes() == np.concatenate(alone).tobytes()


@pytest.mark.parametrize(("samples", "frames"), [(0, 0), (399, 0), (400, 1), (559, 1), (560, 2), (16000, 98)])
def test_a_frame_exists_as_soon_as_its_last_sample_does(samples: int, frames: int) -> None:
    assert LogMel().batch(np.zeros(samples, np.float32)).shape == (frames, 80)


def test_a_tone_is_loudest_in_the_bin_of_its_frequency() -> None:
    tone = np.sin(2 * np.pi * 1000 * np.arange(800) / RATE).astype(np.float32)
    centres = 700 * (np.exp(np.linspace(31.75, 2786.5, 82)[1:-1] / 1127) - 1)
    loudest = LogMel().batch(tone)[0].argmax()
    assert abs(centres[loudest] - 1000) < 30


def test_digital_silence_is_the_lowest_value_and_ordinary_speech_levels_are_of_order_one() -> None:
    logmel = LogMel()
    assert np.all(logmel.batch(np.zeros(800, np.float32)) == np.float32(logmel.silence))
    assert abs(float(logmel.batch(noise(16000)).mean())) < 2.5


def test_too_many_bins_for_the_transform_are_refused() -> None:
    with pytest.raises(ValueError, match="160 mel bins are too many for 512 FFT points"):
        LogMel(bins=160)
