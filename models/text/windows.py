"""Random windows over the training arrays: passages that may start or stop in the middle of a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from speech.text.punctuation import PERIOD, QUESTION
from speech.text.vocabulary import UNKNOWN, Vocabulary

from models.text.labels import IGNORE

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """Windows of one padded length: features (n, words, 3), labels (n, words), mask (n, words)."""

    features: Integers
    marks: Integers
    casings: Integers
    mask: npt.NDArray[np.float32]


@dataclass(frozen=True)
class Source:
    """The arrays of one source, and where its sentences begin and end."""

    words: npt.NDArray[np.int32]
    marks: npt.NDArray[np.int8]
    casings: npt.NDArray[np.int8]
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]  # positions after a sentence's last word

    @classmethod
    def load(cls, path: Path) -> Source:
        """Read <source>.npz as corpus.py wrote it."""
        with np.load(path) as arrays:
            words, marks, casings = arrays["words"], arrays["marks"], arrays["casings"]
        ends = np.flatnonzero((marks == PERIOD) | (marks == QUESTION)) + 1
        return cls(words, marks, casings, np.concatenate([[0], ends[:-1]]), ends)


class Windows:
    """Draws batches; everything random comes from the generator that the caller passes."""

    def __init__(self, folder: Path, config: dict[str, Any], vocabulary: Vocabulary) -> None:
        self.config = config["train"]
        table = config["corpus"]["sources"]
        self.sources = [Source.load(folder / f"{name}.npz") for name in table]
        shares = np.array([row[0] for row in table.values()], float)
        self.shares = shares / shares.sum()
        self.features = vocabulary.encode((folder / "words.txt").read_text(encoding="utf-8").split("\n"))

    def span(self, source: Source, length: int, rng: np.random.Generator) -> tuple[int, int]:
        """First and past-last position of one window of at most `length` words."""
        if rng.random() < self.config["start_aligned"]:
            first = int(source.starts[rng.integers(len(source.starts))])
        else:
            first = int(rng.integers(len(source.words) - 1))
        last = min(first + length, len(source.words))
        if rng.random() < self.config["end_aligned"]:
            place = int(np.searchsorted(source.ends, last, side="right")) - 1
            if place >= 0 and source.ends[place] > first:
                last = int(source.ends[place])
        return first, last

    def batch(self, rng: np.random.Generator) -> Batch:
        """One batch of about `batch_words` words."""
        length = int(rng.choice(self.config["lengths"]))
        count = max(1, self.config["batch_words"] // length)
        words = np.zeros((count, length), np.int64)
        marks = np.full((count, length), IGNORE, np.int64)
        casings = np.full((count, length), IGNORE, np.int64)
        mask = np.zeros((count, length), np.float32)
        for row, which in enumerate(rng.choice(len(self.sources), size=count, p=self.shares)):
            source = self.sources[which]
            first, last = self.span(source, length, rng)
            n = last - first
            words[row, :n] = source.words[first:last]
            marks[row, :n] = source.marks[first:last]
            casings[row, :n] = source.casings[first:last]
            mask[row, :n] = 1
        features = self.features[words]
        features[rng.random(words.shape) < self.config["word_dropout"], 0] = UNKNOWN
        return Batch(features, marks, casings, mask)
