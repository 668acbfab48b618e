"""Segments of spoken words become written tokens, and every spoken word is in one of them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.errors import BadBundle
from speech.events import Word, join_tokens
from speech.text.formatter import Formatter, ends_sentence
from speech.text.numbers import listed
from speech.text.punctuation import (
    COMMA,
    LOWER,
    MIXED,
    NONE,
    OVERLAP,
    PERIOD,
    QUESTION,
    TITLE,
    UPPER,
    WINDOW,
    Hints,
    Tagger,
    decide_marks,
    spell,
)  # fmt: skip
from speech.text.vocabulary import Vocabulary

from tests.unit.text.conftest import spoken

TINY = Path(__file__).parents[2] / "parity" / "test_text_tiny"
VOCABULARY = Vocabulary(("hello", "smith"), {"iphone": "iPhone"}, buckets=8)


class Dictated:
    """A graph whose scores follow a script: for each word a class of sign and a class of casing."""

    def __init__(self, marks: list[int], casings: list[int]) -> None:
        self.marks, self.casings = marks, casings

    def run(self, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        words = inputs["features"].shape[1]
        one_hot = np.eye(4, dtype=np.float32) * 9
        return {"punctuation": one_hot[self.marks][None, :words], "casing": one_hot[self.casings][None, :words]}


def dictated(marks: list[int], casings: list[int]) -> Formatter:
    return Formatter(Tagger(Dictated(marks, casings), VOCABULARY))


def text(formatter: Formatter, sentence: str, opens: bool = True) -> str:
    return join_tokens(formatter.format(spoken(sentence), opens))


def test_no_words_give_no_tokens() -> None:
    assert Formatter.plain().format([]) == ()


def test_the_plain_formatter_opens_with_a_capital_and_closes_with_a_period() -> None:
    assert text(Formatter.plain(), "i paid twenty five dollars and i'm done") == "I paid $25 and I'm done."


def test_a_token_of_several_words_spans_them_and_takes_the_least_confidence() -> None:
    words = [Word("twenty", 1.0, 1.2, 0.9), Word("five", 1.2, 1.4, 0.4), Word("dollars", 1.5, 1.9, 0.8)]
    money, period = Formatter.plain().format(words)
    assert (money.text, money.spoken) == ("$25", ("twenty", "five", "dollars"))
    assert (money.start_s, money.end_s, money.confidence) == (1.0, 1.9, 0.4)
    assert (period.kind, period.start_s, period.end_s, period.spoken) == ("punctuation", 1.9, 1.9, ())


def test_signs_and_casing_come_from_the_tagger() -> None:
    formatter = dictated([COMMA, NONE, QUESTION, NONE, PERIOD], [LOWER, TITLE, LOWER, UPPER, MIXED])
    assert text(formatter, "hello anna there usa iphone") == "Hello, Anna there? USA iPhone."


def test_a_sentence_opens_with_a_capital_wherever_it_begins() -> None:
    formatter = dictated([NONE, PERIOD, NONE, PERIOD], [LOWER] * 4)
    assert text(formatter, "it works so do") == "It works. So do."
    assert text(formatter, "it works so do", opens=False) == "it works. So do."


def test_a_doctor_before_a_name_is_abbreviated() -> None:
    formatter = dictated([NONE, NONE, PERIOD], [LOWER, LOWER, TITLE])
    assert text(formatter, "see doctor smith") == "See Dr. Smith."


def test_a_comma_between_day_and_year_is_not_doubled() -> None:
    formatter = dictated([NONE, NONE, COMMA, NONE, NONE, PERIOD], [LOWER] * 6)
    assert text(formatter, "on may fifth twenty twenty six") == "On May 5, 2026."
    formatter = dictated([NONE, NONE, NONE, NONE, NONE, PERIOD], [LOWER] * 6)
    assert text(formatter, "on may fifth twenty twenty six") == "On May 5, 2026."


def test_a_segment_that_ends_a_sentence_says_so() -> None:
    assert ends_sentence(Formatter.plain().format(spoken("hello")))
    assert ends_sentence(())
    assert not ends_sentence(dictated([COMMA], [LOWER]).format(spoken("hello")))


@pytest.mark.parametrize(
    ("word", "casing", "written"),
    [
        ("anna", TITLE, "Anna"),
        ("ibm's", UPPER, "IBM's"),
        ("i've", LOWER, "I've"),
        ("iphone", TITLE, "iPhone"),
        ("iphone", LOWER, "iphone"),
        ("ebay", MIXED, "Ebay"),
        ("it", LOWER, "it"),
    ],
)
def test_a_word_is_spelled_in_its_casing(word: str, casing: int, written: str) -> None:
    assert spell(word, casing, VOCABULARY.mixed) == written


def test_a_pause_makes_a_stop_likelier_and_a_short_gap_does_not() -> None:
    scores = np.zeros((3, 4), np.float32)
    scores[:, NONE] = 1.5
    marks = decide_marks(scores, np.array([0.15, 0.9]), Hints(segment_end=0.0))
    assert marks == [NONE, PERIOD, NONE]


def test_the_end_of_a_segment_makes_a_stop_likelier() -> None:
    scores = np.zeros((2, 4), np.float32)
    scores[:, NONE], scores[:, QUESTION] = 1.5, 0.5
    assert decide_marks(scores, np.zeros(1), Hints(segment_end=2.0)) == [NONE, QUESTION]


def test_windows_decide_each_word_of_a_long_segment_once() -> None:
    class Echo:
        """Scores that only repeat the first feature, so that a lost or doubled word shows."""

        def run(self, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            features = inputs["features"]
            assert features.shape[1] <= WINDOW
            scores = np.repeat(features[..., :1], 4, axis=2).astype(np.float32)
            return {"punctuation": scores, "casing": scores}

    words = [f"w{i}" for i in range(3 * WINDOW + OVERLAP)]
    marks, casings = Tagger(Echo(), Vocabulary(tuple(words), {}, 8)).scores(words)
    assert marks[:, 0].tolist() == casings[:, 0].tolist() == [i + 1 for i in range(len(words))]


WORDS = st.lists(
    st.sampled_from(listed("the may fifth twenty five one oh dollars a m i at nine point percent of dr")),
    min_size=1,
    max_size=30,
)


@given(WORDS, st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_every_spoken_word_is_in_one_token_whatever_the_tagger_says(words: list[str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    formatter = dictated(*(rng.choice(4, len(words), p=[0.7, 0.1, 0.1, 0.1]).tolist() for _ in range(2)))
    tokens = formatter.format(spoken(" ".join(words)))
    assert [word for token in tokens for word in token.spoken] == words
    assert all(a.end_s <= b.start_s or b.kind == "punctuation" for a, b in pairwise(tokens))
    assert not any(a.kind == b.kind == "punctuation" for a, b in pairwise(tokens))


def test_a_bundle_loads_and_formats() -> None:
    words = listed("what do you have for twenty five dollars")
    tokens = Formatter.load(TINY).format(spoken(" ".join(words)))
    assert tuple(word for token in tokens for word in token.spoken) == words


def test_a_folder_that_is_no_bundle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadBundle, match=r"manifest\.json"):
        Formatter.load(tmp_path)
