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

    `shifts_s` are added to starts and ends: a word's last label frame is the first of its last phone, and where in a
    sound a model fires is a property of its training. Words never overlap, and none lies after `limit_s`.
    """
    starts = [seconds(first + word.start_frame, lead_s) + shifts_s[0] for word in words]
    starts = [round(min(limit_s, max(0.0, start)), 3) for start in starts]
    nexts = [*starts[1:], limit_s][: len(starts)]
    found = []
    for word, start, following in zip(words, starts, nexts, strict=True):
        end = min(following, seconds(first + word.end_frame, lead_s) + shifts_s[1])
        found.append(Word(word.text, start, max(start, round(end, 3)), word.confidence))
    return tuple(found)


def seconds(frame: int, lead_s: float) -> float:
    """The time at which a label frame begins: from counts, so that it is as exact after ten hours as at the start."""
    return frame * FRAME_S - lead_s
