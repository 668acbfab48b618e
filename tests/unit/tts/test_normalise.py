"""Written text becomes the words that one says, each with its place in the text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.tts.normalise import normalise

from tests.unit.effort import calls_of
from tests.unit.tts.conftest import shown, table

ROWS = table("written.tsv")


@pytest.mark.parametrize(("written", "spoken"), ROWS, ids=[row[0][:30] for row in ROWS])
def test_it_is_read_as_one_says_it(written: str, spoken: str) -> None:
    assert shown(normalise(written)) == spoken


def test_the_table_is_large() -> None:
    assert len(ROWS) >= 250


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n\n",
        "...",
        "?!",
        ",;:—",
        "🎉",
        "😀🎉👍🏽",
        "\x00\x01\x1b",
        "\u200f\u200e\ufeff",
        "你好",
        "привет",
        "مرحبا",
    ],
)
def test_text_without_words_gives_none(text: str) -> None:
    assert normalise(text) == ()


def test_words_know_their_place() -> None:
    text = "Dr. Smith paid $3.50, café 🎉 “twice”."
    places = [(word.text, text[word.start : word.end]) for word in normalise(text)]
    assert places == [
        ("doctor", "Dr."),
        ("smith", "Smith"),
        ("paid", "paid"),
        *[(word, "$3.50") for word in ("three", "dollars", "and", "fifty", "cents")],
        ("cafe", "café"),
        ("twice", "twice"),
    ]


def test_mixed_scripts_keep_the_words_that_can_be_read() -> None:
    assert shown(normalise("Hello мир and 世界, 12 times")) == "hello and, twelve times"


def test_combining_accents_belong_to_their_letter() -> None:
    words = normalise("cafe\u0301 noir")
    assert [(w.text, w.start, w.end) for w in words] == [("cafe", 0, 5), ("noir", 6, 10)]


def test_the_lexicon_tells_words_in_capitals_from_acronyms() -> None:
    assert shown(normalise("a ZEBRA ran", lambda word: word == "zebra")) == "a zebra* ran"
    assert shown(normalise("a ZBR ran", lambda word: False)) == "a Z B R ran"


def test_capitals_that_only_begin_a_sentence_mean_nothing() -> None:
    words = normalise("Polish it. The Polish car.", lambda word: True)
    assert [word.cased for word in words if word.text == "polish"] == ["", "Polish"]


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80))
def test_any_text_gives_words_of_plain_letters_in_order(text: str) -> None:
    words = normalise(text)
    assert all(set(word.text) <= set("abcdefghijklmnopqrstuvwxyz'") and word.text for word in words)
    assert all(0 <= word.start < word.end <= len(text) for word in words)
    assert [word.start for word in words] == sorted(word.start for word in words)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="0123456789.,-/:$%() apmAPMxk#+'", max_size=40))
def test_any_heap_of_digits_and_signs_is_read_without_fail(text: str) -> None:
    assert all(word.text for word in normalise(text))


@pytest.mark.parametrize("unit", ["word ", "1", "1,", "1.", "A", "a.", "-", "$", "1-", "a@", "www.", "Dr. ", "1/", "é"])
def test_the_work_grows_with_the_text_and_no_faster(unit: str) -> None:
    short, long = (calls_of(normalise, (unit * n)[:n]) for n in (600, 1200))
    assert long <= 2.3 * short + 200


def test_fifty_thousand_characters_are_read_to_the_end() -> None:
    text = "He paid $3.50 on May 5th, and left. " * 1389
    words = normalise(text)
    assert len(words) == 1389 * 12
    assert text[words[-1].start : words[-1].end] == "left"
