"""Times of words: counted from frames, in order, inside the audio."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.asr.hypothesis import DecodedWord
from speech.asr.words import timed

NO_SHIFT = (0.0, 0.0)


def decoded(*frames: tuple[int, int]) -> list[DecodedWord]:
    return [DecodedWord(f"word{i}", start, end, 0.5) for i, (start, end) in enumerate(frames)]


def times(*frames: tuple[int, int], shifts_s: tuple[float, float] = NO_SHIFT, limit_s: float = math.inf):  # type: ignore[no-untyped-def]
    return [(w.start_s, w.end_s) for w in timed(decoded(*frames), 0, 0.0, shifts_s, limit_s)]


def test_frames_are_forty_milliseconds_from_the_start_of_the_stream() -> None:
    [word] = timed(decoded((5, 10)), 100, 0.02, NO_SHIFT, math.inf)
    assert (word.text, word.start_s, word.end_s, word.confidence) == ("word0", 4.18, 4.38, 0.5)


def test_times_are_as_exact_after_ten_hours() -> None:
    [word] = timed(decoded((5, 10)), 900_000, 0.0, NO_SHIFT, math.inf)
    assert (word.start_s, word.end_s) == (36000.2, 36000.4)


def test_a_shifted_end_stops_at_the_next_word() -> None:
    assert times((0, 5), (6, 9), shifts_s=(0.0, 0.1)) == [(0.0, 0.24), (0.24, 0.46)]


def test_no_word_begins_before_the_audio_or_ends_after_it() -> None:
    assert times((0, 5), (6, 20), shifts_s=(-0.1, 0.0), limit_s=0.5) == [(0.0, 0.14), (0.14, 0.5)]
    assert times((20, 30), limit_s=0.5) == [(0.5, 0.5)]


@settings(max_examples=50, deadline=None)
@given(
    steps=st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), max_size=12),
    shifts_s=st.tuples(st.floats(-0.2, 0.2), st.floats(-0.2, 0.2)),
    limit_s=st.floats(0, 5),
)
def test_words_never_overlap(steps: list[tuple[int, int]], shifts_s: tuple[float, float], limit_s: float) -> None:
    frames, at = [], 0
    for gap, length in steps:
        frames.append((at + gap, at + gap + length))
        at += gap + length
    edges = [edge for pair in times(*frames, shifts_s=shifts_s, limit_s=limit_s) for edge in pair]
    assert edges == sorted(edges)
    assert all(0 <= edge <= limit_s + 0.001 for edge in edges)


def test_confidence_is_kept() -> None:
    assert timed(decoded((0, 1)), 0, 0.0, NO_SHIFT, 1.0)[0].confidence == pytest.approx(0.5)
