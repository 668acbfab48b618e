"""What the caller heard of an answer, word by word as it is written: one more speaker in the record of a call."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from speech.events import Final, Token, Word

from cloud.live.told import Told

if TYPE_CHECKING:
    from speech.tts.marks import TimedSpan

Written = tuple[str, float, float]  # a word with its punctuation; begin and end in seconds
_ENDING = re.compile(r"(.*?[\w%°$€£)\]}\"'”’])?([.,;:!?…]*)", re.DOTALL)  # a word, and what follows it without a blank


def words(text: str, spans: Iterable[TimedSpan], heard_s: float) -> tuple[Written, ...]:
    """The words of `text`, the part of an answer that was heard, by the spans of its words; times from its beginning.

    heard_s: where it was cut, seconds. A word of which nothing is spoken, as a dash, takes no time.
    """
    found, waiting, last_s = list[Written](), sorted(spans, key=lambda span: span.start), 0.0
    for match in re.finditer(r"\S+", text):
        waiting = [span for span in waiting if span.end > match.start()]
        inside = [span for span in waiting if span.start < match.end()]
        start_s = min((span.start_s for span in inside), default=last_s)
        last_s = max((min(span.end_s or span.start_s, heard_s) for span in inside), default=last_s)
        found.append((match[0], round(start_s, 3), round(max(start_s, last_s), 3)))
    return tuple(found)


def final(segment: int, reply: Told, origin_s: float) -> Final | None:
    """What was heard of a reply by its `records.ended`, in the clock that begins at `origin_s`; None for nothing."""
    if not reply["words"]:
        return None
    at_s = reply["left_at_s"] - origin_s
    tokens, spoken = list[Token](), list[Word]()
    for text, begin_s, end_s in reply["words"]:
        start_s, stop_s = round(at_s + begin_s, 3), round(at_s + end_s, 3)
        match = _ENDING.fullmatch(text)
        word, mark = (match[1] or "", match[2]) if match else (text, "")
        if word:
            tokens.append(Token(word, start_s, stop_s, 1.0, spoken=(word.lower(),)))
            spoken.append(Word(word.lower(), start_s, stop_s, 1.0))
        if mark:
            tokens.append(Token(mark, stop_s, stop_s, 1.0, "punctuation"))
    return Final(segment, tuple(spoken), tuple(tokens), tokens[0].start_s, tokens[-1].end_s)
