"""Whether what was recognised was spoken at all: evidence of speech, frame by frame, by a detector of its own.

A recogniser hears phones in a barking dog and is as sure of them as of a word; a network that only ever had to tell
speech from all else is not fooled by the same sounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from speech.asr.hypothesis import DecodedWord
from speech.features.logmel import FloatArray

Evidence = NDArray[np.int8]  # (frames,) log odds of speech, in sixteenths of a nat
PER_NAT = 16
HOLD = 8  # label frames that the detector goes on saying speech after a word: its verdict on the whole of it
ENOUGH = 10  # label frames, 0.4 s: a sound that is like speech for so long may be speech, whatever the rest is like

SURE = 1.5  # a command of one word is short, but its phones are clear; fitted on single words and on sounds


def evidence(log_odds: FloatArray) -> Evidence:
    """In whole sixteenths, so that noise of 1e-5 from other step sizes hardly shows."""
    return np.clip(np.rint(log_odds * PER_NAT), -127, 127).astype(np.int8)


def spoken(words: Sequence[DecodedWord], speech: Evidence) -> float:
    """How much speaks for a segment having been spoken, in nats; each source alone is fooled more often than both.

    The detector: the mean of the ENOUGH best frames of the words and of the HOLD after each. The search: SURE times the
    log odds of the words' mean confidence. `speech` begins with the segment and may end after any frame of it.
    """
    heard = np.zeros(len(speech), bool)
    for word in words:
        heard[word.start_frame : word.end_frame + HOLD] = True
    best = np.sort(speech[heard])[-ENOUGH:]
    detected = float(best.mean(dtype=np.float64)) / PER_NAT if len(best) else 0.0
    confidence = min(0.99, max(0.01, fmean(word.confidence for word in words)))
    return detected + SURE * math.log(confidence / (1 - confidence))
