"""Text that arrives in pieces is cut into sentences and clauses, the same however it arrives."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.tts.sentences import LIMIT, Piece, Splitter

from tests.unit.effort import calls_of

TEXT = (
    'Dr. Smith paid $3.50. He left at 5 p.m. Then J. Smith, e.g. today, came. "What?" she said. See '
    "https://a.com/b.html?x=1. OK! Really?! Yes... maybe. Wait... Done.\nSteps:\n1. First do this\n2. Then that\n\n"
    "A new paragraph, with a clause that is long; and more: 3,500 or June 3, 2024. The U.S. Army of the U.S. The etc. "
    "And so on. No. 5 is no. I agree, v1.5 is 3.5 now"
)


def split(*pieces: str, **options: int) -> list[Piece]:
    splitter = Splitter(**options)  # type: ignore[arg-type]
    return [piece for text in pieces for piece in splitter.receive(text)] + splitter.flush()


def sentences(text: str) -> list[str]:
    splitter = Splitter(clauses=False)
    return [piece.text.strip() for piece in splitter.receive(text) + splitter.flush()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two.", ["One.", "Two."]),
        ("Dr. Smith paid $3.50. He left.", ["Dr. Smith paid $3.50.", "He left."]),
        ("It is 3.5 now. Yes.", ["It is 3.5 now.", "Yes."]),
        ("Use e.g. this one. Or i.e. that.", ["Use e.g. this one.", "Or i.e. that."]),
        ("See https://a.com/b.c?d=1. Then go.", ["See https://a.com/b.c?d=1.", "Then go."]),
        ("Write to a.b@c.com. Thanks.", ["Write to a.b@c.com.", "Thanks."]),
        ('"What?" she said. "No!"', ['"What?" she said.', '"No!"']),
        ("Really?! Yes... maybe. Wait... Done.", ["Really?!", "Yes... maybe.", "Wait...", "Done."]),
        ("At 5 p.m. Then he left.", ["At 5 p.m.", "Then he left."]),
        ("At 5 p.m. he left.", ["At 5 p.m. he left."]),
        ("The U.S. Army came. J. R. Smith too.", ["The U.S. Army came.", "J. R. Smith too."]),
        ("Cats, dogs, etc. And more.", ["Cats, dogs, etc.", "And more."]),
        ("Cats, etc. were there.", ["Cats, etc. were there."]),
        ("Is it no. 5? No. That is it.", ["Is it no. 5?", "No.", "That is it."]),
        ("Steps:\n- one\n- two\n\nEnd", ["Steps:", "- one", "- two", "End"]),
        ("1. First\n2. Second", ["1. First", "2. Second"]),
        ("A line\nthat goes on.", ["A line\nthat goes on."]),
        ("Hello。世界！ Yes", ["Hello。", "世界！", "Yes"]),
    ],
)
def test_sentences_end_where_one_would_say(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_the_pieces_together_are_the_text() -> None:
    pieces = split(TEXT)
    assert "".join(piece.text for piece in pieces) == TEXT
    assert all(TEXT[piece.start : piece.end] == piece.text for piece in pieces)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, len(TEXT)), max_size=40))
def test_any_cut_of_the_text_gives_the_same_pieces(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(TEXT)]
    assert split(*(TEXT[a:b] for a, b in pairwise(places))) == split(TEXT)


def test_one_character_at_a_time_gives_the_same_pieces() -> None:
    assert split(*TEXT) == split(TEXT)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="aB .!?,\n\"'1e:;-—…" + "Dr", max_size=400), st.integers(1, 7))
def test_any_text_at_all_is_cut_the_same_however_it_arrives(text: str, step: int) -> None:
    pieces = split(*(text[i : i + step] for i in range(0, len(text), step)), limit=60)
    assert pieces == split(text, limit=60)
    assert "".join(piece.text for piece in pieces) == text


@pytest.mark.parametrize(
    ("text", "out"),
    [
        ("Sure. ", ["Sure. "]),
        ("Really? ", ["Really? "]),
        ("Wait! I", ["Wait! "]),
        ("I met Dr. ", []),
        ("It is 3.", []),
        ("We agree on this long clause,", ["We agree on this long clause,"]),
        ("The number that we agreed on is 1,", []),
        ("Well, ", []),
    ],
)
def test_what_is_certain_comes_at_once(text: str, out: list[str]) -> None:
    assert [piece.text for piece in Splitter().receive(text)] == out


@pytest.mark.parametrize(("text", "limit"), [("word " * 400, 100), ("x" * 1000, 100), ("aaa, " * 100, 50)])
def test_long_text_is_cut_at_the_limit(text: str, limit: int) -> None:
    pieces = split(text, limit=limit)
    assert all(len(piece.text) <= limit for piece in pieces)
    assert "".join(piece.text for piece in pieces) == text
    if " " in text:
        assert all(piece.text[-1] in " ," for piece in pieces)


def test_a_limit_that_is_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 48 or more"):
        Splitter(limit=10)


@pytest.mark.parametrize("unit", ["abc def, ", "a.", ".", "\n", "a ", "Dr. ", "etc. ", "x"])
def test_the_work_grows_with_the_text_and_no_faster(unit: str) -> None:
    short, long = (calls_of(split, unit * (n // len(unit))) for n in (2_000, 4_000))
    assert long <= 2.3 * short + 200
    assert max(len(piece.text) for piece in split(unit * (50_000 // len(unit)))) <= LIMIT


def test_nothing_gives_nothing() -> None:
    assert split("") == []
    assert split() == []
