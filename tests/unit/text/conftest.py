"""Spoken words and finals for the tests of text, made from plain sentences."""

from __future__ import annotations

from collections.abc import Sequence

from speech.events import Final, Word
from speech.text.formatter import Formatter


def spoken(text: str, start_s: float = 0.0, each_s: float = 0.3, confidence: float = 0.9) -> list[Word]:
    """Words of equal length, one after the other."""
    return [
        Word(word, round(start_s + i * each_s, 3), round(start_s + (i + 1) * each_s, 3), confidence)
        for i, word in enumerate(text.split())
    ]


def final(text: str, start_s: float = 0.0, segment: int = 0, words: Sequence[Word] | None = None) -> Final:
    """A finished segment, written without a model."""
    words = tuple(words if words is not None else spoken(text, start_s))
    return Final(segment, words, Formatter.plain().format(words), words[0].start_s, words[-1].end_s)
