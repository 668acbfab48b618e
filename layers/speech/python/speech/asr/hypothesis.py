"""What the decoder believes was said: words with their frames and a confidence."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from speech.asr.graph import COST_PER_NAT, Automaton


@dataclass(frozen=True)
class Evidence:
    """What speaks for one word."""

    sound: float  # mean log probability of its frames
    margin: float  # nats to the best history without it, at most 8
    frames: int


@dataclass(frozen=True)
class Calibration:
    """Weights of a logistic regression from evidence to the probability that a word is right (`models.asr.tune`)."""

    bias: float = 1.2
    sound: float = 0.73
    margin: float = 0.43
    length: float = -0.4  # of the logarithm of the number of frames

    def confidence(self, word: Evidence) -> float:
        """0 to 1."""
        weighed = self.sound * word.sound + self.margin * word.margin + self.length * math.log(word.frames)
        return 1 / (1 + math.exp(-self.bias - weighed))


@dataclass(frozen=True)
class DecodedWord:
    """One word. Frames count from the start of the segment."""

    text: str
    start_frame: int  # the first frame of its first phone
    end_frame: int  # the frame after the first one of its last phone
    confidence: float  # 0 to 1
    evidence: Evidence = Evidence(0.0, 0.0, 1)


@dataclass(frozen=True)
class Hypothesis:
    """Words in order; the first `stable` will not change any more."""

    words: tuple[DecodedWord, ...]
    stable: int
    cost: float  # nats, acoustic and language model together


def hypothesis(
    graph: Automaton, path: npt.NDArray[np.int32], settled: int, cost: int, calibration: Calibration
) -> Hypothesis:
    """The words of a path of links, rows as in `history` without STREAM."""
    words = []
    for word, begin, end, fit, margin in path[1:].T.tolist():
        frames = end + 1 - begin
        evidence = Evidence(-fit / COST_PER_NAT / frames, margin / COST_PER_NAT, frames)
        words.append(DecodedWord(graph.words[word], begin, end + 1, calibration.confidence(evidence), evidence))
    return Hypothesis(tuple(words), settled, cost / COST_PER_NAT)
