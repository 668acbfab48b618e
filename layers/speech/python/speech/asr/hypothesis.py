"""What the decoder believes was said: words with their frames and a confidence."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from speech.asr.graph import COST_PER_NAT, Graph
from speech.asr.history import trace


@dataclass(frozen=True)
class DecodedWord:
    """One word. Frames count from the start of the segment."""

    text: str
    start_frame: int  # the first frame of its first phone
    end_frame: int  # the frame after the first one of its last phone
    confidence: float  # 0 to 1


@dataclass(frozen=True)
class Hypothesis:
    """Words in order; the first `stable` will not change any more."""

    words: tuple[DecodedWord, ...]
    stable: int
    cost: float  # nats, acoustic and language model together


def hypothesis(graph: Graph, links: npt.NDArray[np.int64], head: int, settled: int, cost: int) -> Hypothesis:
    """The words that lead to link `head` of a stream; rows of `links` as in `history`."""
    words = []
    for _, _, word, begin, end, fit, margin in links[:, trace(links, head)].T.tolist():
        words.append(DecodedWord(graph.words[word], begin, end + 1, confidence(fit, end + 1 - begin, margin)))
    return Hypothesis(tuple(words), settled, cost / COST_PER_NAT)


def confidence(fit: int, frames: int, margin: int) -> float:
    """How likely a word is right, from the cost of its phones and from its lead over rivals (both 1/256 nat)."""
    sound = math.exp(-fit / COST_PER_NAT / frames)  # geometric mean probability of its frames
    return sound * (1 - 0.5 * math.exp(-margin / COST_PER_NAT / 2))
