"""Speech marks in the line format of Amazon Polly: one JSON object a line, in order of time.

`time` is milliseconds from the beginning of the audio, `start` and `end` are byte offsets in the UTF-8 text that the
caller sent. Types are sentence, word, ssml (a `<mark>`) and phoneme (which Polly does not have; it has visemes).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

MarkType = Literal["sentence", "ssml", "word", "phoneme"]
TYPES: tuple[MarkType, ...] = ("sentence", "ssml", "word", "phoneme")  # at one time in this order


@dataclass(frozen=True, slots=True)
class TimedSpan:
    """A stretch of the caller's text and when it begins to be spoken."""

    type: MarkType
    start_s: float  # seconds
    start: int  # offset in the text, characters
    end: int  # offset after it
    value: str = ""  # a mark's name, a phoneme; sentences and words take theirs from the text
    end_s: float | None = None  # seconds; None where it is not known


def speech_marks(text: str, spans: Sequence[TimedSpan], types: Sequence[MarkType] = TYPES) -> list[str]:
    """One line for each span of the wanted types; words of one written token ("$25") give one line."""
    at = _byte_offsets(text)
    wanted = [span for span in spans if span.type in types]
    ordered = sorted(wanted, key=lambda span: (round(span.start_s * 1000), TYPES.index(span.type)))
    lines: list[str] = []
    last_word: tuple[int, int] | None = None
    for span in ordered:
        if span.type == "word":
            if last_word == (span.start, span.end):
                continue
            last_word = (span.start, span.end)
        lines.append(_line(text, span, at(span.start), at(span.end)))
    return lines


def _line(text: str, span: TimedSpan, start: int, end: int) -> str:
    mark: dict[str, object] = {"time": round(span.start_s * 1000), "type": span.type}
    if span.type != "phoneme":
        mark |= {"start": start, "end": end}
    mark["value"] = span.value or text[span.start : span.end]
    return json.dumps(mark, ensure_ascii=False, separators=(",", ":"))


class _byte_offsets:  # noqa: N801
    """Offsets in UTF-8 bytes of offsets in characters."""

    def __init__(self, text: str) -> None:
        self._offsets: list[int] | None = None
        if not text.isascii():
            self._offsets = [0]
            for char in text:
                self._offsets.append(self._offsets[-1] + len(char.encode(errors="replace")))

    def __call__(self, character: int) -> int:
        return character if self._offsets is None else self._offsets[character]
