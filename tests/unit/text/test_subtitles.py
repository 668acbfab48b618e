"""Captions keep the trade's rules, and SRT and WebVTT are well formed."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.events import Token
from speech.text.formatter import Formatter
from speech.text.subtitles import Caption, captions, merge, to_srt, to_vtt, units_of

from tests.unit.text.conftest import spoken

PASSAGE = (
    "Good morning, and thank you for calling. I would like to change my booking for next Tuesday, if that is still "
    "possible, because my train arrives two hours later than planned. Could you tell me whether there is a fee?"
)


def tokens_of(text: str, start_s: float = 0.0, each_s: float = 0.35) -> list[Token]:
    """Written tokens of a text, its words evenly spaced."""
    tokens: list[Token] = []
    for piece in re.findall(r"[^\s.,?]+|[.,?]", text):
        if piece in ".,?":
            end = tokens[-1].end_s
            tokens.append(Token(piece, end, end, 1.0, "punctuation"))
        else:
            n = sum(token.kind == "word" for token in tokens)
            tokens.append(Token(piece, start_s + n * each_s, start_s + (n + 1) * each_s, 1.0, spoken=(piece,)))
    return tokens


def test_no_tokens_give_no_captions() -> None:
    assert captions([]) == []
    assert to_srt([]) == ""
    assert to_vtt([]) == "WEBVTT\n"


def test_a_passage_is_divided_where_the_language_divides() -> None:
    assert [caption.lines for caption in captions(tokens_of(PASSAGE))] == [
        ("Good morning, and thank you for calling.",),
        ("I would like to change my booking for next", "Tuesday, if that is still possible,"),
        ("because my train arrives two", "hours later than planned."),
        ("Could you tell me whether there is a fee?",),
    ]


def test_all_words_are_shown_once_and_in_order() -> None:
    shown = " ".join(line for caption in captions(tokens_of(PASSAGE)) for line in caption.lines)
    assert shown == PASSAGE


def test_a_short_caption_lingers_until_it_can_be_read() -> None:
    (caption,) = captions(tokens_of("Yes.", each_s=0.2))
    assert caption.end_s - caption.start_s == pytest.approx(1.0)


def test_a_long_silence_ends_a_caption() -> None:
    tokens = tokens_of("Wait here") + tokens_of("I am back", start_s=4.0)
    assert [caption.lines for caption in captions(tokens)] == [("Wait here",), ("I am back",)]


def test_a_word_longer_than_a_line_is_not_split() -> None:
    word = "Llanfair" * 8
    shown = [line for caption in captions(tokens_of(f"see {word} now")) for line in caption.lines]
    assert shown == ["see", word, "now"]


def test_the_name_of_the_speaker_counts_in_the_first_line() -> None:
    for caption in captions(tokens_of(PASSAGE), speaker="Representative"):
        assert len("Representative: " + caption.lines[0]) <= 42


WORD = st.tuples(
    st.text("abcdefg", min_size=1, max_size=14),
    st.floats(0.02, 1.2),
    st.floats(0, 3),
    st.sampled_from(["", "", ",", "."]),
)
WORDS = st.lists(WORD, min_size=1, max_size=40)


@given(WORDS)
@settings(max_examples=40, deadline=None)
def test_every_caption_keeps_the_rules(words: list[tuple[str, float, float, str]]) -> None:
    tokens, at = [], 0.0
    for text, length, pause, sign in words:
        tokens.append(Token(text, at, at + length, 1.0, spoken=(text,)))
        tokens += [Token(sign, at + length, at + length, 1.0, "punctuation")] if sign else []
        at += length + pause
    found = captions(tokens)
    assert " ".join(" ".join(c.lines) for c in found) == " ".join(unit.text for unit in units_of(tokens))
    for caption in found:
        assert len(caption.lines) <= 2
        assert all(len(line) <= 42 for line in caption.lines)
        assert 0 < caption.end_s - caption.start_s <= 7.0 + 1e-9
    for before, after in pairwise(found):
        room = after.start_s - before.start_s
        assert after.start_s - before.end_s >= min(0.08, room / 2) - 1e-9


def test_two_speakers_at_once_never_overlap() -> None:
    left = captions(tokens_of(PASSAGE), "Agent")
    right = captions(tokens_of("Yes of course. One moment please, I will have a look.", start_s=1.0), "Caller")
    both = merge([left, right])
    assert len(both) == len(left) + len(right)
    assert all(a.end_s + 0.08 <= b.start_s + 1e-9 for a, b in pairwise(both))
    assert all(c.end_s - c.start_s > 0.5 for c in both)


def test_srt_is_numbered_with_commas_in_its_times() -> None:
    found = [Caption(0.0, 1.5, ("Hello.",)), Caption(3661.0045, 3662.25, ("One", "two."), "Anna")]
    assert to_srt(found) == (
        "1\n00:00:00,000 --> 00:00:01,500\nHello.\n\n2\n01:01:01,004 --> 01:01:02,250\nAnna: One\ntwo.\n"
    )


def test_vtt_escapes_markup_and_marks_the_voice() -> None:
    found = [Caption(0.0, 1.5, ("Q&A <now>",), "Jim & Jo")]
    assert to_vtt(found) == ("WEBVTT\n\n00:00:00.000 --> 00:00:01.500\n<v Jim &amp; Jo>Q&amp;A &lt;now&gt;\n")


def test_tokens_of_the_formatter_make_captions() -> None:
    tokens = Formatter.plain().format(spoken("it costs twenty five dollars"))
    assert [caption.lines for caption in captions(tokens)] == [("It costs $25.",)]
