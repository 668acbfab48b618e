"""The streaming resampler: any cut, put down and taken up, and against soxr."""

from __future__ import annotations

import numpy as np
import pytest
import soxr
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.audio.resample import Resampler, Samples, resample
from speech.errors import BadAudio, BadSnapshot

PAIRS = [
    (8000, 16000),
    (16000, 8000),
    (44100, 16000),
    (48000, 16000),
    (22050, 16000),
    (24000, 8000),
    (24000, 44100),
    (96000, 16000),
    (192000, 16000),
    (11025, 16000),
    (8000, 192000),
    (12345, 16000),
]


def band_limited(seconds: float, rate: int, top_hz: float) -> Samples:
    """Noise without anything above `top_hz`, fading in and out."""
    spectrum = np.fft.rfft(np.random.default_rng(rate).standard_normal(int(seconds * rate)))
    spectrum[np.fft.rfftfreq(int(seconds * rate), 1 / rate) > top_hz] = 0
    signal = np.fft.irfft(spectrum, int(seconds * rate)) * np.hanning(int(seconds * rate))
    return np.asarray(signal / np.abs(signal).max(), np.float32)


def tone_gain_db(hz: float, rate_in: int, rate_out: int) -> float:
    """Level of what comes out for a tone of `hz`, against the tone."""
    time = np.arange(rate_in // 2) / rate_in
    out = resample(np.sin(2 * np.pi * hz * time).astype(np.float32), rate_in, rate_out)
    middle = out[len(out) // 4 : -len(out) // 4]
    return 10 * float(np.log10(2 * np.mean(middle.astype(np.float64) ** 2) + 1e-20))


@pytest.mark.parametrize(("rate_in", "rate_out"), PAIRS)
def test_equals_soxr_within_the_passband(rate_in: int, rate_out: int) -> None:
    signal = band_limited(0.5, rate_in, 0.41 * min(rate_in, rate_out))
    ours, theirs = resample(signal, rate_in, rate_out), soxr.resample(signal, rate_in, rate_out, "VHQ")
    n = min(len(ours), len(theirs))
    noise = np.sum((ours[:n].astype(np.float64) - theirs[:n]) ** 2)
    assert 10 * np.log10(np.sum(theirs[:n].astype(np.float64) ** 2) / noise) > 60


@pytest.mark.parametrize(("rate_in", "rate_out"), PAIRS)
@pytest.mark.parametrize("frames", [0, 1, 2, 47, 1000])
def test_length_is_the_inputs_rounded_up(rate_in: int, rate_out: int, frames: int) -> None:
    assert len(resample(np.ones(frames, np.float32), rate_in, rate_out)) == -(-frames * rate_out // rate_in)


def test_passband_is_flat_and_stopband_is_silent() -> None:
    for hz in (100, 1000, 3000, 5000, 6700):
        assert abs(tone_gain_db(hz, 48000, 16000)) < 0.02, hz
    for hz in (8400, 9000, 12000, 20000):
        assert tone_gain_db(hz, 48000, 16000) < -65, hz
    for hz in (300, 1000, 3400):  # the telephone band, and no image of it above
        assert abs(tone_gain_db(hz, 8000, 16000)) < 0.05, hz


def test_a_constant_stays_exactly_constant() -> None:
    out = resample(np.full(44100, 0.5, np.float32), 44100, 16000)
    np.testing.assert_allclose(out[100:-100], 0.5, atol=1e-6)


def test_equal_rates_change_nothing() -> None:
    signal = band_limited(0.1, 16000, 7000)
    stream = Resampler(16000, 16000)
    np.testing.assert_array_equal(stream.receive(signal), signal)
    assert len(stream.finish()) == 0
    assert stream.latency_s == 0


@given(st.sampled_from(PAIRS), st.lists(st.integers(0, 900), min_size=1, max_size=25), st.booleans())
@settings(max_examples=80, deadline=None, derandomize=True)
def test_any_cut_gives_the_same_bits_also_when_put_down_in_between(
    pair: tuple[int, int], sizes: list[int], put_down: bool
) -> None:
    signal = np.random.default_rng(1).standard_normal(4000).astype(np.float32)
    whole = resample(signal, *pair)
    stream, parts, start = Resampler(*pair), [], 0
    for size in [*sizes, len(signal)]:
        parts.append(stream.receive(signal[start : start + size]))
        start += size
        if put_down:
            stream = Resampler.from_state(stream.state())
    parts.append(stream.finish())
    np.testing.assert_array_equal(np.concatenate(parts).view(np.int32), whole.view(np.int32))


@pytest.mark.parametrize(("rate_in", "rate_out"), [(44100, 16000), (8000, 16000), (48000, 16000)])
def test_sample_by_sample_gives_the_same_bits(rate_in: int, rate_out: int) -> None:
    signal = np.random.default_rng(2).standard_normal(700).astype(np.float32)
    stream = Resampler(rate_in, rate_out)
    parts = [stream.receive(signal[i : i + 1]) for i in range(len(signal))]
    single = np.concatenate([*parts, stream.finish()])
    np.testing.assert_array_equal(single.view(np.int32), resample(signal, rate_in, rate_out).view(np.int32))


def test_output_comes_a_few_milliseconds_behind_the_input_and_not_later() -> None:
    for rate_in, rate_out in PAIRS:
        stream = Resampler(rate_in, rate_out)
        seconds = len(stream.receive(np.zeros(rate_in, np.float32))) / rate_out
        assert 1 - seconds <= stream.latency_s + 1 / rate_out
        assert stream.latency_s <= 0.0031


def test_state_stays_small_for_any_length() -> None:
    stream = Resampler(44100, 16000)
    for _ in range(50):
        stream.receive(np.zeros(4410, np.float32))
    assert sum(array.nbytes for array in stream.state().values()) < 1024


def test_errors_say_what_was_expected() -> None:
    with pytest.raises(BadAudio, match="4000 Hz is not supported; expected 8000 to 192000 Hz"):
        Resampler(4000, 16000)
    state = Resampler(8000, 16000).state()
    for damaged in (
        {},
        state | {"place": np.array([8000, 16000, 2])},
        state | {"buffer": np.zeros(500, np.float32)},
        state | {"place": np.array([1, 16000, 0])},
    ):
        with pytest.raises(BadSnapshot, match="the resampler's state is damaged"):
            Resampler.from_state(damaged)
