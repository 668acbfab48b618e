"""What stands between a speaker and the recogniser, for measuring: a telephone network, a room, noise.

On samples, not on features, and by other formulas than `augment.py`, so that what is measured is not what was trained.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import soxr
from numpy.typing import NDArray
from speech.audio.g711 import decode_mulaw, encode_mulaw

from models.asr.corpus import load

Samples = NDArray[np.float32]
Damage = Callable[[Samples, int, int], tuple[Samples, int]]  # samples, rate, number of the utterance

REVERBERATION_S = 0.4  # time in which a sound falls by 60 dB: a furnished room
DIRECT_DB = 3.0  # direct sound over all its reflections: a speaker at arm's length


def telephone(samples: Samples, rate: int, number: int) -> tuple[Samples, int]:
    """The signal as a telephone network delivers it: 8 kHz, 300 to 3400 Hz, mu-law."""
    narrow = soxr.resample(samples, rate, 8000)
    spectrum = np.fft.rfft(narrow)
    hz = np.fft.rfftfreq(len(narrow), 1 / 8000)
    narrow = np.fft.irfft(spectrum * ((hz >= 300) & (hz <= 3400)), len(narrow)).astype(np.float32)
    return decode_mulaw(encode_mulaw(narrow)), 8000


def in_a_room(samples: Samples, rate: int, rng: np.random.Generator) -> Samples:
    """With reflections: Gaussian noise that decays exponentially, from 5 ms after the direct sound (Moorer, 1979)."""
    at = np.arange(int(REVERBERATION_S * rate)) / rate
    tail = rng.standard_normal(len(at)) * 10.0 ** (-3.0 * at / REVERBERATION_S) * (at > 0.005)
    tail *= 10.0 ** (-DIRECT_DB / 20) / np.sqrt(np.sum(tail**2))
    tail[0] = 1.0
    length = len(samples) + len(tail) - 1
    return np.fft.irfft(np.fft.rfft(samples, length) * np.fft.rfft(tail, length), length)[: len(samples)].astype(
        np.float32
    )


def beside(samples: Samples, noise: Samples, snr_db: float, rng: np.random.Generator) -> Samples:
    """With a noise from a random place of its recording on, repeated, at `snr_db` below the speech in power."""
    start = int(rng.integers(len(noise)))
    long = np.take(noise, np.arange(start, start + len(samples)), mode="wrap")
    gain = np.sqrt(np.mean(samples**2) / (np.mean(long**2) + 1e-12) * 10.0 ** (-snr_db / 10))
    return samples + np.float32(gain) * long


def noisy_room(clips: list[Path], snr_db: float) -> Damage:
    """In a room, beside one of `clips`; which, the utterance's number says."""

    def damage(samples: Samples, rate: int, number: int) -> tuple[Samples, int]:
        rng = np.random.default_rng(number)
        noise = load(clips[rng.integers(len(clips))], rate)
        return beside(in_a_room(samples, rate, rng), noise, snr_db, rng), rate

    return damage
