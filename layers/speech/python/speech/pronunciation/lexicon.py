"""The pronunciation lexicon of a bundle: one sorted text file, searched where it lies.

A line is `word TAB phonemes`, and ` TAB TAG=phonemes` for each other pronunciation. Tags are parts of speech as misaki
writes them (NOUN, VERB, ADJ, ADV, VBD for a past form); "None" is the form at the end of a clause.
"""

from __future__ import annotations

from pathlib import Path

from speech.errors import BadBundle

DEFAULT = "DEFAULT"
_NEWLINE, _TAB = b"\n", b"\t"


class Lexicon:
    """Pronunciations by spelling. Nothing is parsed before it is asked for: loading is reading the file."""

    def __init__(self, data: bytes, name: str = "lexicon") -> None:
        if not data.endswith(_NEWLINE) or _TAB not in data[:200]:
            raise BadBundle(f"{name} is no pronunciation lexicon: expected lines of 'word TAB phonemes'")
        self._data = data
        self._name = name

    @classmethod
    def load(cls, path: Path) -> Lexicon:
        """Read a lexicon file. Raises BadBundle."""
        try:
            return cls(path.read_bytes(), str(path))
        except OSError as error:
            raise BadBundle(f"{path} cannot be read: {error}") from error

    def find(self, word: str) -> dict[str, str] | None:
        """Phonemes by tag of exactly this spelling, DEFAULT first; None if it has no entry."""
        line = self._line(word.encode())
        if line is None:
            return None
        _, usual, *others = line.decode().split("\t")
        tags = (other.partition("=") for other in others)
        return {DEFAULT: usual} | {tag: phonemes for tag, _, phonemes in tags}

    def __contains__(self, word: str) -> bool:
        """Whether exactly this spelling has an entry."""
        return self._line(word.encode()) is not None

    def _line(self, word: bytes) -> bytes | None:
        """Binary search over byte offsets; each probe goes back to the beginning of its line."""
        data, low, high = self._data, 0, len(self._data)
        while low < high:
            middle = (low + high) // 2
            start = data.rfind(_NEWLINE, low, middle) + 1 or low
            end = data.find(_NEWLINE, middle)
            key = data[start : data.find(_TAB, start, end)]
            if key == word:
                return data[start:end]
            low, high = (end + 1, high) if key < word else (low, start)
        return None
