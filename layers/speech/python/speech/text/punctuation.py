"""Punctuation and casing of a segment's words, by a small state-space tagger that reads the segment both ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from speech.text.vocabulary import Vocabulary

NONE, COMMA, PERIOD, QUESTION = range(4)
LOWER, TITLE, UPPER, MIXED = range(4)
SIGNS = ("", ",", ".", "?")  # by punctuation class

WINDOW = 128  # words in one run of the graph: its cost grows with the square
OVERLAP = 16  # words of context on both sides of what a window decides

Scores = NDArray[np.float32]


class Graph(Protocol):
    """What runs the exported network; `speech.model.onnx.OnnxModel` does."""

    def run(self, inputs: dict[str, NDArray[np.int64]]) -> dict[str, Scores]:
        """All outputs by name."""
        ...


@dataclass(frozen=True)
class Hints:
    """What the times of the words add to the scores of a sign after a word.

    The network is trained on text, which has no pauses; a pause makes a sign likelier, and the end of a segment
    (a pause that the endpointer heard) most of all.
    """

    any_sign: float = 0.3  # added to every sign everywhere: F1 wants more signs than the likeliest class gives
    pause_floor_s: float = 0.2  # shorter gaps between words say nothing
    pause_ceiling_s: float = 1.0  # longer ones say no more
    comma_per_s: float = 1.5  # added to the score of a comma, per second of pause above the floor
    stop_per_s: float = 3.0  # added to the scores of a period and a question mark
    segment_end: float = 2.0  # added to both after the segment's last word


@dataclass(frozen=True)
class Tagger:
    """Scores punctuation and casing of whole segments. Stateless, so any number of streams may share it."""

    graph: Graph
    vocabulary: Vocabulary

    def scores(self, words: Sequence[str]) -> tuple[Scores, Scores]:
        """Two (words, 4) arrays of unnormalised scores: the sign after each word, and its casing."""
        features = self.vocabulary.encode(words)
        parts = [self._window(features, first) for first in range(0, len(words), WINDOW - 2 * OVERLAP)]
        marks, casings = zip(*parts, strict=True)
        return np.concatenate(marks), np.concatenate(casings)

    def _window(self, features: NDArray[np.int64], first: int) -> tuple[Scores, Scores]:
        """Scores of the words that the window from `first` decides, with context on both sides."""
        step = WINDOW - 2 * OVERLAP
        start, stop = max(0, first - OVERLAP), first + step + OVERLAP
        outputs = self.graph.run({"features": features[None, start:stop]})
        kept = slice(first - start, first - start + step)
        return outputs["punctuation"][0, kept], outputs["casing"][0, kept]


def decide_marks(scores: Scores, gaps_s: NDArray[np.float64], hints: Hints) -> list[int]:
    """Punctuation class after each word. `gaps_s`: (words - 1,) seconds of silence after each word but the last."""
    biased = scores.astype(np.float64)
    biased[:, COMMA:] += hints.any_sign
    pause = np.clip(gaps_s, hints.pause_floor_s, hints.pause_ceiling_s) - hints.pause_floor_s
    biased[:-1, COMMA] += pause * hints.comma_per_s
    biased[:-1, (PERIOD, QUESTION)] += pause[:, None] * hints.stop_per_s
    biased[-1, (PERIOD, QUESTION)] += hints.segment_end
    return [int(mark) for mark in biased.argmax(axis=1)]


def spell(word: str, casing: int, mixed: dict[str, str]) -> str:
    """The word in its casing; a known mixed spelling ("iPhone") wins over a plain capital."""
    if word == "i" or word.startswith("i'"):
        return "I" + word[1:]
    if casing == LOWER:
        return word
    if word in mixed:
        return mixed[word]
    if casing == UPPER:
        return word[:-2].upper() + "'s" if word.endswith("'s") else word.upper()
    return capitalised(word)


def capitalised(word: str) -> str:
    """The first letter as a capital, the rest as it is."""
    return word[:1].upper() + word[1:]
