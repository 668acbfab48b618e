"""Words to integer features for the punctuation tagger: a vocabulary row and hashed prefixes and suffixes.

A word outside the vocabulary is not blank: its first and last letters still say much ("-tion", "mc-", "-son's").
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from speech.errors import BadBundle

UNKNOWN = 0  # row of every word outside the vocabulary
PREFIX_LETTERS = 3
SUFFIX_LETTERS = 3


def hash_bucket(piece: str, buckets: int) -> int:
    """Bucket of a piece of a word, the same in every process and on every machine (CRC-32)."""
    return zlib.crc32(piece.encode()) % buckets


@dataclass(frozen=True)
class Vocabulary:
    """The tagger's input side: `words[0]` has row 1; `mixed` keeps spellings such as iPhone by their lower case."""

    words: tuple[str, ...]
    mixed: dict[str, str]
    buckets: int
    _rows: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_rows", {word: row for row, word in enumerate(self.words, start=1)})

    def encode(self, words: Sequence[str]) -> npt.NDArray[np.int64]:
        """Features of lower-case words: (n, 3) of vocabulary row, prefix bucket, suffix bucket."""
        rows = [
            (
                self._rows.get(word, UNKNOWN),
                hash_bucket("^" + word[:PREFIX_LETTERS], self.buckets),
                hash_bucket(word[-SUFFIX_LETTERS:] + "$", self.buckets),
            )
            for word in words
        ]
        return np.array(rows, dtype=np.int64).reshape(len(rows), 3)

    @classmethod
    def load(cls, path: Path, buckets: int) -> Vocabulary:
        """Read a vocabulary file: a word a line; a mixed-case spelling follows its word after a blank."""
        return cls.parse(path.read_text(encoding="utf-8").splitlines(), buckets)

    @classmethod
    def parse(cls, lines: Iterable[str], buckets: int) -> Vocabulary:
        """Vocabulary from its lines; words past the marker line `#` have a spelling only and no row."""
        words: list[str] = []
        mixed: dict[str, str] = {}
        in_rows = True
        for line in lines:
            if line == "#":
                in_rows = False
                continue
            word, _, spelling = line.partition(" ")
            if not word or (spelling and spelling.lower() != word):
                raise BadBundle(f"vocabulary line {line!r}: expected 'word' or 'word Spelling'")
            if spelling:
                mixed[word] = spelling
            if in_rows:
                words.append(word)
        return cls(tuple(words), mixed, buckets)

    def lines(self) -> list[str]:
        """The lines that `parse` reads back."""
        known = set(self.words)
        rows = [f"{word} {self.mixed[word]}" if word in self.mixed else word for word in self.words]
        rest = [f"{word} {spelling}" for word, spelling in sorted(self.mixed.items()) if word not in known]
        return [*rows, "#", *rest]
