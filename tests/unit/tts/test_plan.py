"""A long clause is read in windows that begin with words; the first depends on nothing far behind it."""

from __future__ import annotations

import pytest
from speech.tts import symbols
from speech.tts.plan import CONTEXT, WINDOW, Plan, plan
from speech.tts.prosody import Prosody
from speech.tts.script import Script
from speech.tts.sentences import Piece

from tests.unit.tts.tiny import pronouncer


def planned(text: str) -> Plan:
    clause = Script(pronouncer()).clause(Piece(text, 0, "sentence"))
    assert clause is not None
    return plan(clause, True, Prosody())


@pytest.mark.parametrize("count", [1, 3, 8, 20, 40])
def test_windows_are_the_whole_clause_and_begin_with_words(count: int) -> None:
    whole = planned(" ".join(["the dog and the cat"] * count) + ".")
    windows = whole.windows()
    assert [symbol for window in windows for symbol in window] == list(range(len(whole.tokens)))
    starts = {span.first for span in whole.spans if span.type == "word"}
    assert all(window.start in starts for window in windows[1:])
    assert all(len(window) >= WINDOW // 2 for window in windows[1:])
    assert len(windows) == 1 or max(map(len, windows)) < 2 * WINDOW
    spans = [(s.type, s.start, s.end) for window in windows for s in whole.part(window).spans]
    assert spans == [(s.type, s.start, s.end) for s in whole.spans]


def test_what_is_read_for_the_first_sound_does_not_grow_with_the_clause() -> None:
    text = "the dog and the cat " * 12
    sizes = {len(planned((text * n).strip() + ".").windows()[0]) + CONTEXT for n in (1, 3)}
    assert len(sizes) == 1


def test_the_blank_between_clauses_belongs_to_the_later_one() -> None:
    """The teacher's consonants sound before their time: whoever draws the blank must know what follows."""
    script, blank = Script(pronouncer()), symbols.encode(" ", False, False)[0]
    first, second = (script.clause(Piece(text, 0, "clause")) for text in ("the dog and the cat,", " and it is hot,"))
    assert first is not None
    assert second is not None
    before, after = plan(first, True, Prosody()).tokens, plan(second, False, Prosody()).tokens
    assert before[-1] == symbols.encode(",", False, False)[0]
    assert after[0] == blank
    assert blank not in before[-1:]
    words = [span for span in plan(second, False, Prosody()).spans if span.type == "word"]
    assert words[0].first == 1
