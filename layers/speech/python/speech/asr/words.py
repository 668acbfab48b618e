"""Words with times in seconds from words with label frames."""

from __future__ import annotations

from collections.abc import Sequence

from speech.asr.endpoint import FRAME_S
from speech.asr.hypothesis import DecodedWord
from speech.events import Word


def timed(
    words: Sequence[DecodedWord], first: int, lead_s: float, shifts_s: tuple[float, float], limit_s: float
) -> tuple[Word, ...]:
    """Words of a segment that began with label frame `first` of the stream; label frame j begins at j x 40 ms - lead_s.

    `shifts_s` are added to starts and ends (where in a sound a model fires is a property of its training). No word
    begins before 0 or before the one before it ends, none ends before it begins, none lies after `limit_s`.
    """
    found: list[Word] = []
    earliest = 0.0
    for word in words:
        start = max(earliest, min(limit_s, seconds(first + word.start_frame, lead_s) + shifts_s[0]))
        end = max(start, min(limit_s, seconds(first + word.end_frame, lead_s) + shifts_s[1]))
        found.append(Word(word.text, round(start, 3), round(end, 3), word.confidence))
        earliest = end
    return tuple(found)


def seconds(frame: int, lead_s: float) -> float:
    """The time at which a label frame begins: from counts, so that it is as exact after ten hours as at the start."""
    return frame * FRAME_S - lead_s
