"""Speech for the tiny bundle: words as runs of tones, with the times at which each word sounds."""

from __future__ import annotations

import numpy as np

from tests.tiny.acoustic import TONES
from tests.tiny.build import LEXICON

PHONE_S = 0.12
GAP_S = 0.16  # silence between words


def say(text: str, rate: int = 16000, before_s: float = 0.0, after_s: float = 0.0) -> np.ndarray:
    """Samples (n,) of words separated by blanks; a number among them is a pause in seconds ("cat 1.5 dog")."""
    parts = [_silence(before_s, rate)]
    for word in text.split():
        parts += [_silence(float(word), rate)] if word[0].isdigit() else [spoken(word, rate), _silence(GAP_S, rate)]
    return np.concatenate([*parts, _silence(after_s, rate)]).astype(np.float32)


def spoken(word: str, rate: int) -> np.ndarray:
    """One word: a tone for each phone, faded at both ends; a word that is not in the lexicon is read as phones."""
    return np.concatenate([_tone(TONES[phone], rate) for phone in LEXICON.get(word, word)])


def word_s(word: str) -> float:
    """How long a word sounds, in seconds."""
    return PHONE_S * len(LEXICON[word])


def _tone(hz: float, rate: int) -> np.ndarray:
    time = np.arange(round(PHONE_S * rate)) / rate
    fade = np.minimum(1.0, np.minimum(time, time[::-1]) / 0.005)
    return 0.3 * fade * np.sin(2 * np.pi * hz * time)


def _silence(seconds: float, rate: int) -> np.ndarray:
    return np.zeros(round(seconds * rate))
