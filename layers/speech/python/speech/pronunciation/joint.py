"""The pronunciation of an unseen word, read off its letters by a joint n-gram over (letter, phones) pairs.

Bisani and Ney, "Joint-sequence models for grapheme-to-phoneme conversion", Speech Communication 2008: each letter
stands for zero to two phones, and a back-off n-gram over the pairs is read from left to right with a beam. The
n-grams are known by 32-bit hashes in sorted arrays, so that a step of the beam is a few vector operations.

Glossary: k = pairs of history an n-gram looks at; H hypotheses of the beam; C choices for the next letter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from speech.errors import BadBundle
from speech.pronunciation.phonemes import PRIMARY, VOWELS

Array = npt.NDArray[Any]

END = "$"  # the letter after the last
START = 0  # id of the pair before the first letter
STEP = 0.0625  # log probabilities are stored in steps of this, as bytes
LONGEST = 40  # letters read in one go
BEAM = 10
_MULTIPLIER = 0x9E3779B97F4A7C15


def powers(order: int) -> npt.NDArray[np.uint64]:
    """The odd factors by which pairs enter a hash, newest first: (order,)."""
    factors = [pow(_MULTIPLIER, i + 2, 1 << 64) for i in range(order)]
    return np.array(factors, dtype=np.uint64)


def history_hashes(history: Array) -> npt.NDArray[np.uint64]:
    """Hashes of the last k pairs for k = 0 .. K. `history`: (H, K) pair ids, newest first -> (K + 1, H)."""
    terms = (history.astype(np.uint64) + np.uint64(1)) * powers(history.shape[1])
    sums = np.cumsum(terms, axis=1, dtype=np.uint64)
    hashes: npt.NDArray[np.uint64] = np.concatenate([np.zeros((1, len(history)), np.uint64), sums.T])
    return hashes


def mix(hashes: Array, pair: Array) -> npt.NDArray[np.uint64]:
    """64-bit hash of "this pair after that history"; both broadcast."""
    mixed = (hashes + (pair.astype(np.uint64) + np.uint64(7)) * np.uint64(0xD6E8FEB86659FD93)) ^ np.uint64(0x2545F491)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    hashed: npt.NDArray[np.uint64] = mixed ^ (mixed >> np.uint64(32))
    return hashed


def keys(hashes: Array, pair: Array) -> npt.NDArray[np.uint32]:
    """The same in 32 bits, as the tables hold it: one of 10,000 unseen n-grams is mistaken for a seen one."""
    return (mix(hashes, pair) >> np.uint64(32)).astype(np.uint32)


def fold(hashes: Array) -> npt.NDArray[np.uint32]:
    """Key of a history itself, under which its back-off weight is kept."""
    return keys(hashes, np.zeros(1, np.uint64) - np.uint64(3))


@dataclass(frozen=True)
class Level:
    """The n-grams with one length of history; values are -log p in units of STEP."""

    keys: npt.NDArray[np.uint32]  # sorted
    costs: npt.NDArray[np.uint8]
    histories: npt.NDArray[np.uint32]  # sorted keys of histories
    backoffs: npt.NDArray[np.uint8]

    def find(self, wanted: Array) -> tuple[Array, Array]:
        """(whether it is there, its cost) of each key."""
        return _find(self.keys, self.costs, wanted)

    def backoff(self, wanted: Array) -> Array:
        """The cost of leaving each history; 0 for one that was never seen."""
        there, cost = _find(self.histories, self.backoffs, wanted)
        return np.where(there, cost, 0)


def _find(table: Array, values: Array, wanted: Array) -> tuple[Array, Array]:
    place = np.minimum(np.searchsorted(table, wanted), len(table) - 1)
    return table[place] == wanted, values[place]


@dataclass(frozen=True)
class JointModel:
    """A trained model; `pronounce(word)` gives phonemes with stress."""

    letters: tuple[str, ...]  # of each pair; the pair START has ""
    phones: tuple[str, ...]  # of each pair, with stress marks
    levels: tuple[Level, ...]  # level k looks at k pairs of history
    choices: dict[str, Array]  # letter -> ids of its pairs

    @classmethod
    def of(cls, letters: Sequence[str], phones: Sequence[str], levels: Sequence[Level]) -> JointModel:
        """A model from its pairs and levels."""
        choices: dict[str, list[int]] = {}
        for i, letter in enumerate(letters):
            choices.setdefault(letter, []).append(i)
        arrays = {letter: np.array(ids) for letter, ids in choices.items()}
        return cls(tuple(letters), tuple(phones), tuple(levels), arrays)

    @classmethod
    def load(cls, path: Path) -> JointModel:
        """Read a file that `save` wrote. Raises BadBundle."""
        try:
            with np.load(path) as data:
                pairs = [line.split(" ") for line in bytes(data["pairs"]).decode().split("\n")]
                tables = [[data[f"{name}{k}"] for name in _TABLES] for k in range(int(data["order"]))]
        except (OSError, ValueError, KeyError) as error:
            raise BadBundle(f"{path} is no letter-to-sound model: {error}") from error
        return cls.of([p[0] for p in pairs], [p[1] for p in pairs], [Level(*table) for table in tables])

    def save(self, path: Path) -> None:
        """Write all arrays into one .npz file."""
        text = "\n".join(f"{a} {b}" for a, b in zip(self.letters, self.phones, strict=True)).encode()
        arrays: dict[str, Array] = {"order": np.array(len(self.levels)), "pairs": np.frombuffer(text, np.uint8)}
        for k, level in enumerate(self.levels):
            arrays |= {f"{name}{k}": getattr(level, name) for name in _TABLES}
        np.savez(path, **arrays)  # type: ignore[arg-type]

    def costs(self, history: Array, pairs: Array) -> Array:
        """-log p of each of C pairs after each of H histories (H, K), newest pair first -> (H, C)."""
        hashes = history_hashes(history)
        cost = np.zeros((len(history), len(pairs)), np.int32)
        waiting = np.ones(cost.shape, bool)
        for k in range(len(self.levels) - 1, -1, -1):
            level = self.levels[k]
            found, here = level.find(keys(hashes[k][:, None], pairs[None, :]))
            cost += np.where(waiting & found, here, 0)
            waiting &= ~found
            cost += np.where(waiting, level.backoff(fold(hashes[k]))[:, None], 0)
        return cost * STEP

    def pronounce(self, word: str) -> str:
        """Phonemes of a word; what is not a letter a to z has no sound. Long words are read in pieces."""
        letters = [c for c in word.lower() if c in self.choices and c.isalpha()]
        return "".join(self._read(letters[i : i + LONGEST])[0] for i in range(0, len(letters), LONGEST))

    def variants(self, word: str) -> list[str]:
        """Different readings of a word of at most LONGEST letters, the likeliest first; one of a longer word."""
        letters = [c for c in word.lower() if c in self.choices and c.isalpha()]
        return list(dict.fromkeys(self._read(letters))) if 0 < len(letters) <= LONGEST else [self.pronounce(word)]

    def _read(self, letters: list[str]) -> list[str]:
        order = len(self.levels)
        history = np.full((1, max(1, order - 1)), START)
        score = np.zeros(1)
        path = [""]
        for letter in [*letters, END]:
            pairs = self.choices[letter]
            total = score[:, None] + self.costs(history, pairs)
            allowed = self._allowed(path, pairs, letter == END, total)
            rank = np.argsort(total + allowed, axis=None, kind="stable")[:BEAM]
            rows, columns = np.divmod(rank, len(pairs))
            path = [path[row] + self.phones[pairs[column]] for row, column in zip(rows, columns, strict=True)]
            score = total[rows, columns]
            history = np.concatenate([pairs[columns][:, None], history[rows][:, :-1]], axis=1)
        return path

    def _allowed(self, path: list[str], pairs: Array, ending: bool, total: Array) -> Array:
        """A large cost for a second primary stress, and for ending without one."""
        stressed = np.array([PRIMARY in p for p in path])
        if ending:
            spoken = np.array([any(v in p for v in VOWELS) for p in path])
            return np.where(~stressed & spoken, 1e3, 0.0)[:, None] + np.zeros_like(total)
        again = np.array([PRIMARY in self.phones[p] for p in pairs])
        return np.where(stressed[:, None] & again[None, :], 1e3, 0.0)


_TABLES = ("keys", "costs", "histories", "backoffs")
