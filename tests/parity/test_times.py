"""Word times against durations: what is exact, and what is compared."""

from __future__ import annotations

import numpy as np
import pytest

from models.asr.times import Timed, errors, exact

PHONEMES = "hˈI, ðɛɹ."  # a pad, these nine with the space, a pad


def test_a_word_lasts_from_its_first_sound_to_its_last_without_stops_and_pauses() -> None:
    durations = np.array([8, 2, 0, 6, 4, 10, 1, 3, 4, 2, 8], np.int16)  # units of 25 ms
    hi, there = exact("Hi, there.", PHONEMES, durations)
    assert (hi.word, hi.start, hi.end) == ("hi", pytest.approx(0.2), pytest.approx(0.4))
    assert (there.word, there.start, there.end) == ("there", pytest.approx(0.75), pytest.approx(0.95))


def test_a_sentence_whose_words_cannot_be_told_apart_is_left_out() -> None:
    assert exact("Hi there, you.", PHONEMES, np.ones(11, np.int16)) == []


def test_only_words_in_common_are_compared() -> None:
    truth = [Timed("hi", 0.2, 0.4), Timed("there", 0.75, 0.95)]
    heard = [Timed("high", 0.2, 0.4), Timed("there", 0.7, 1.0)]
    assert errors(truth, heard) == [(pytest.approx(-0.05), pytest.approx(0.05))]
