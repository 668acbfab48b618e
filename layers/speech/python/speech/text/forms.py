"""How a caller wants phrases to be written: found among the words of a segment, whichever way they were decoded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Form:
    """One phrase: its spoken words, and its written parts with the number of words that each stands for."""

    words: tuple[str, ...]
    parts: tuple[tuple[str, int], ...]

    @property
    def plain(self) -> bool:
        """Whether it is written as it is spoken, in small letters: then casing is left to the tagger."""
        return tuple(text for text, _ in self.parts) == self.words


@dataclass(frozen=True, slots=True)
class Written:
    """A part of a segment that is written in a way of its own: words `start` to `stop`, not included."""

    start: int
    stop: int
    text: str


class Forms:
    """Forms by their first word, the longest first."""

    def __init__(self, forms: Iterable[Form] = ()) -> None:
        self._by_word: dict[str, list[Form]] = {}
        for form in sorted((f for f in forms if not f.plain), key=lambda f: -len(f.words)):
            self._by_word.setdefault(form.words[0], []).append(form)

    def find(self, words: Sequence[str]) -> list[list[Written]]:
        """The phrases among spoken words, from left to right, none within another: the parts of each."""
        found: list[list[Written]] = []
        at = 0
        while at < len(words):
            form = self._at(words, at)
            if form is None:
                at += 1
                continue
            parts = []
            for text, count in form.parts:
                parts.append(Written(at, at + count, text))
                at += count
            found.append(parts)
        return found

    def _at(self, words: Sequence[str], at: int) -> Form | None:
        forms = self._by_word.get(words[at], ())
        return next((f for f in forms if tuple(words[at : at + len(f.words)]) == f.words), None)
