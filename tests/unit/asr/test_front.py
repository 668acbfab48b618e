"""The front end: the features of the whole signal, however it was cut, resampled and put down in between."""

from __future__ import annotations

import numpy as np
import pytest
from speech.asr.front import LEAD_SAMPLES, FrontEnd
from speech.audio.resample import resample
from speech.errors import BadSnapshot
from speech.features.logmel import LogMel

LOGMEL = LogMel()


def noise(count: int) -> np.ndarray:
    return (np.random.default_rng(5).standard_normal(count) * 0.1).astype(np.float32)


@pytest.mark.parametrize(("rate", "count"), [(16000, 16000), (16000, 12345), (8000, 5001), (44100, 30000), (16000, 1)])
def test_equals_the_features_of_the_whole_signal_between_silences(rate: int, count: int) -> None:
    samples, front = noise(count), FrontEnd(LOGMEL, rate)
    frames = [front.receive(part) for part in np.split(samples, [count // 3, count // 2])]
    got = np.concatenate([*frames, front.finish()])
    whole = np.concatenate(
        [np.zeros(LEAD_SAMPLES, np.float32), resample(samples, rate, 16000), np.zeros(399, np.float32)]
    )
    expected = LOGMEL.batch(whole)
    assert got.tobytes() == expected[: len(got)].tobytes()
    audio_s = count / rate + LEAD_SAMPLES / 16000
    assert audio_s - 0.015 <= len(got) * 0.01 + 0.015 <= audio_s + 0.01 + 1e-9
    assert front.duration_s == count / rate


@pytest.mark.parametrize("rate", [8000, 16000, 44100, 48000])
def test_chunks_of_160_ms_give_their_sixteen_frames_at_once(rate: int) -> None:
    front = FrontEnd(LOGMEL, rate)
    assert all(len(front.receive(noise(rate * 160 // 1000))) >= 16 for _ in range(10))


def test_a_saved_front_end_goes_on_to_the_same_bits() -> None:
    one = FrontEnd(LOGMEL, 8000)
    one.receive(noise(3333))
    other = FrontEnd.from_state(LOGMEL, one.state())
    assert one.receive(noise(999)).tobytes() == other.receive(noise(999)).tobytes()
    assert one.duration_s == other.duration_s


def test_a_state_without_its_parts_is_refused() -> None:
    values = FrontEnd(LOGMEL, 8000).state()
    del values["tail"]
    with pytest.raises(BadSnapshot, match="no usable front end: 'tail'"):
        FrontEnd.from_state(LOGMEL, values)
