"""Tracks on one clock: where each sound lies is said by its time alone, however it is cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.media.tape import DRIFT_MS, PIECE_S, Tape

RATE = 8000
Placed = list[tuple[int, float, np.ndarray]]  # (track, at ms, samples)


def noise(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.5, 0.5, count).astype(np.float32)


def mixed(placed: Placed, tracks: int = 2) -> np.ndarray:
    """The oracle: an array in which each sound is written where its time says, later ones over nothing."""
    ends = [round(at_ms * RATE / 1000) + len(samples) for _, at_ms, samples in placed]
    out = np.zeros((max(ends), tracks), np.float32)
    for (track, _, samples), end in zip(placed, ends, strict=True):
        out[end - len(samples) : end, track] = samples
    return out


def taped(placed: Placed, cuts_ms: list[float], rate: int = RATE) -> np.ndarray:
    tape, parts = Tape(RATE, 2), []
    for index, (track, at_ms, samples) in enumerate(placed):
        tape.put(track, at_ms, samples, rate)
        ahead = min(at for _, at, _ in placed[index:])
        for cut_ms in cuts_ms:
            parts += list(tape.take(min(cut_ms, ahead)))
    parts += list(tape.finish())
    return np.concatenate(parts)


PLACED: Placed = [
    (0, 100.0, noise(800, 0)),
    (1, 150.0, noise(160, 1)),
    (0, 200.0, noise(1600, 2)),
    (1, 900.0, noise(4000, 3)),
    (0, 2500.0, noise(80, 4)),
]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 3000), max_size=6))
def test_every_sound_lies_where_its_time_says_however_it_is_taken(cuts_ms: list[float]) -> None:
    assert np.array_equal(taped(PLACED, sorted(cuts_ms)), mixed(PLACED))


def test_small_differences_of_stated_times_leave_no_seam() -> None:
    sound, at_ms = noise(1600, 5), 0.0
    tape = Tape(RATE, 1)
    for index in range(10):
        tape.put(0, at_ms + (DRIFT_MS - 1) * (index % 2), sound[160 * index : 160 * index + 160], RATE)
        at_ms += 20.0
    assert np.array_equal(np.concatenate(list(tape.finish()))[:, 0], sound)


@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000])
def test_other_rates_are_resampled_in_their_place(rate: int) -> None:
    at_s = np.arange(rate) / rate
    tone = (0.5 * np.sin(2 * np.pi * 440 * at_s)).astype(np.float32)
    tape = Tape(RATE, 1)
    for at in range(0, rate, 441):
        tape.put(0, 1000 + 1000 * at / rate, tone[at : at + 441], rate)
    found = np.concatenate(list(tape.finish()))[:, 0]
    expected = 0.5 * np.sin(2 * np.pi * 440 * np.arange(RATE) / RATE)
    assert not found[:RATE].any()
    assert np.abs(found[RATE : 2 * RATE] - expected)[50:-50].max() < 0.01


def test_a_clock_that_runs_away_is_followed() -> None:
    """Stated times run 1 % faster than samples: the tape is as long as the times say, to a drift."""
    tape, blocks = Tape(RATE, 1), 1000
    for index in range(blocks):
        tape.put(0, index * 20 * 1.01, noise(160, index), RATE)
    list(tape.finish())
    assert tape.given_s == pytest.approx(blocks * 0.02 * 1.01, abs=DRIFT_MS / 1000)


def test_a_clock_set_back_is_left_out_until_it_is_there_again() -> None:
    placed: Placed = [(0, 1000.0, noise(800, 1)), (0, 500.0, noise(800, 2)), (0, 1050.0, noise(800, 3))]
    found = taped(placed, [])
    assert np.array_equal(found[8000:8800, 0], placed[0][2])
    assert np.array_equal(found[8800:, 0], placed[2][2][400:])


def test_what_lies_before_the_beginning_is_left_out() -> None:
    sound = noise(800, 1)
    assert np.array_equal(taped([(0, -50.0, sound)], [])[:, 0], sound[400:])


def test_a_long_silence_is_given_in_pieces() -> None:
    tape = Tape(RATE, 2)
    tape.put(0, 3_600_000.0, noise(8, 1), RATE)
    sizes = [len(frames) for frames in tape.take(3_600_000.0)]
    assert sizes == [PIECE_S * RATE] * 120
    assert sum(len(frames) for frames in tape.finish()) == 8


def test_nothing_is_an_empty_tape() -> None:
    assert list(Tape(RATE, 2).finish()) == []
