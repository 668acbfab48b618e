"""Rate, pitch and volume of speech, and how markup writes them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

RATES = {"x-slow": 0.5, "slow": 0.75, "medium": 1.0, "default": 1.0, "fast": 1.25, "x-fast": 1.6}
PITCHES = {"x-low": -6.0, "low": -3.0, "medium": 0.0, "default": 0.0, "high": 3.0, "x-high": 6.0}
VOLUMES = {"x-soft": -12.0, "soft": -6.0, "medium": 0.0, "default": 0.0, "loud": 6.0, "x-loud": 12.0}
SLOWEST, FASTEST = 0.5, 2.0
MOST_SEMITONES, MOST_DB = 12.0, 20.0


@dataclass(frozen=True, slots=True)
class Prosody:
    """Changes to the voice's own speech."""

    rate: float = 1.0  # times the speed, 0.5 to 2
    pitch_st: float = 0.0  # semitones, -12 to 12
    volume_db: float = 0.0  # decibels, -20 to 20

    def within(self, outer: Prosody) -> Prosody:
        """Nested: rates multiply, pitch and volume add, and all stay inside what a voice can do."""
        return Prosody(
            min(FASTEST, max(SLOWEST, self.rate * outer.rate)),
            _clipped(self.pitch_st + outer.pitch_st, MOST_SEMITONES),
            _clipped(self.volume_db + outer.volume_db, MOST_DB),
        )


def _clipped(value: float, most: float) -> float:
    return min(most, max(-most, value))


def rate(text: str) -> float:
    """ "slow", "80%", "1.2". Raises ValueError saying what was expected."""
    if text in RATES:
        return RATES[text]
    found = re.fullmatch(r"(\d{1,4}(?:\.\d{1,4})?)(%?)", text)
    value = float(found[1]) / (100 if found[2] else 1) if found else 0.0
    if not SLOWEST <= value <= FASTEST:
        raise ValueError(f"expected {', '.join(RATES)}, or 50% to 200%")
    return value


def pitch(text: str) -> float:
    """ "high", "+10%", "-2st", in semitones. Raises ValueError saying what was expected."""
    if text in PITCHES:
        return PITCHES[text]
    found = re.fullmatch(r"([+-]\d{1,3}(?:\.\d{1,4})?)(%|st)", text)
    value = math.inf
    if found:
        number = float(found[1])
        value = number if found[2] == "st" else 12 * math.log2(max(1e-9, 1 + number / 100))
    if abs(value) > MOST_SEMITONES:
        raise ValueError(f"expected {', '.join(PITCHES)}, -12st to +12st, or -50% to +100%")
    return value


def volume(text: str) -> float:
    """ "loud", "+6dB", in decibels. Raises ValueError saying what was expected."""
    if text in VOLUMES:
        return VOLUMES[text]
    found = re.fullmatch(r"([+-]\d{1,3}(?:\.\d{1,4})?)dB", text)
    if not found or abs(float(found[1])) > MOST_DB:
        raise ValueError(f"expected {', '.join(VOLUMES)}, or -20dB to +20dB")
    return float(found[1])
