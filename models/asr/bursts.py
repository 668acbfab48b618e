"""Artificial sounds that may be taken for words: barks, sneezes, coughs, breath, hums, bells, knocks, keys, crowds.

    python -m models.asr.bursts FOLDER --count 700 [--seed 1]

Writes FOLDER/KIND/*.flac, clips of 3 to 7 s at 16 kHz: to train the speech detector and, of another seed, to judge.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import soundfile as sf
from numpy.typing import NDArray

from models.asr.corpus import RATE
from models.asr.noises import coloured, resonances

FloatArray = NDArray[np.float32]
Event = Callable[[np.random.Generator], FloatArray]


def count_of(seconds: float) -> int:
    return max(64, int(seconds * RATE))


def contour(count: int, knots: list[float]) -> NDArray[np.float64]:
    """A smooth line through equally spaced knots."""
    return np.interp(np.linspace(0, 1, count), np.linspace(0, 1, len(knots)), knots)


def edges(count: int, rise_s: float, fall_s: float) -> NDArray[np.float64]:
    """An envelope that rises and falls at the ends, 0 to 1."""
    t = np.arange(count) / RATE
    return np.minimum(t / rise_s, 1) * np.minimum((count / RATE - t) / fall_s, 1)


def throat(rng: np.random.Generator) -> NDArray[np.float64]:
    return np.sort(np.exp(rng.uniform(np.log(300), np.log(5500), rng.integers(2, 5))))


def opened(wave: NDArray[np.float64], rng: np.random.Generator) -> FloatArray:
    """`wave` through a throat that changes its shape from one set of resonances to another."""
    first = throat(rng)
    second = first * np.exp(rng.normal(0, 0.3, len(first)))
    width, share = rng.uniform(60, 350), contour(len(wave), rng.uniform(0, 1, 3).tolist())
    sounds = [resonances(wave.astype(np.float32), np.sort(hz), width) for hz in (first, second)]
    return (sounds[0] * (1 - share) + sounds[1] * share).astype(np.float32)


def voiced(count: int, hz: NDArray[np.float64], rough: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Harmonics of a moving pitch with a jittering phase and a rattle, `rough` 0 to 1."""
    jitter = np.cumsum(rng.standard_normal(count)) * 0.02 * rough
    phase = 2 * np.pi * np.cumsum(hz) / RATE + jitter
    slope, top = rng.uniform(0.3, 1.3), max(2, min(20, int(7000 / hz.max())))
    wave = sum((np.sin(k * phase) / k**slope for k in range(1, top)), np.zeros(count))
    rattle = 1 + rough * np.sin(2 * np.pi * rng.uniform(20, 90) * np.arange(count) / RATE + rng.uniform(0, 6))
    return np.asarray(wave * rattle + rough * rng.standard_normal(count) * rng.uniform(0, 1))


def bark(rng: np.random.Generator) -> FloatArray:
    count = count_of(rng.uniform(0.06, 0.35))
    base = np.exp(rng.uniform(np.log(140), np.log(1300)))
    hz = contour(count, [base * rng.uniform(0.6, 1.0), base * rng.uniform(1, 1.4), base * rng.uniform(0.4, 1.0)])
    wave = voiced(count, hz, rng.uniform(0.1, 1), rng) * edges(count, rng.uniform(0.005, 0.04), rng.uniform(0.03, 0.15))
    return opened(wave, rng)


def howl(rng: np.random.Generator) -> FloatArray:
    """A cry, a miaow, a bleat, a whine: long, gliding."""
    count = count_of(rng.uniform(0.3, 1.8))
    base = np.exp(rng.uniform(np.log(110), np.log(1100)))
    hz = contour(count, (base * np.exp(rng.normal(0, 0.25, rng.integers(2, 6)))).tolist())
    shake = rng.uniform(0, 0.08) * np.sin(2 * np.pi * rng.uniform(4, 25) * np.arange(count) / RATE)
    wave = voiced(count, hz * (1 + shake), rng.uniform(0, 0.7), rng) * edges(count, 0.05, rng.uniform(0.05, 0.3))
    return opened(wave, rng)


def blown(rng: np.random.Generator, seconds: float, slope: float, rise_s: float, fall_s: float) -> FloatArray:
    count = count_of(seconds)
    return opened(coloured(count, slope, rng) * edges(count, rise_s, fall_s), rng)


def sneeze(rng: np.random.Generator) -> FloatArray:
    """Breath in, a blast, and often a voice that dies away."""
    parts = [0.15 * scaled(blown(rng, rng.uniform(0.2, 0.7), 0.5, 0.15, 0.05))] if rng.random() < 0.6 else []
    parts.append(np.zeros(count_of(rng.uniform(0.01, 0.2)), np.float32))
    parts.append(scaled(blown(rng, rng.uniform(0.08, 0.45), rng.uniform(-0.5, 0.6), 0.01, rng.uniform(0.03, 0.2))))
    if rng.random() < 0.7:
        count, base = count_of(rng.uniform(0.1, 0.5)), rng.uniform(90, 450)
        hz = contour(count, [base * rng.uniform(1, 1.6), base, base * rng.uniform(0.5, 0.9)])
        wave = voiced(count, hz, rng.uniform(0.1, 0.8), rng) * edges(count, 0.02, rng.uniform(0.05, 0.3))
        parts.insert(rng.integers(1, len(parts) + 1), rng.uniform(0.3, 1.2) * scaled(opened(wave, rng)))
    return np.concatenate(parts).astype(np.float32)


def cough(rng: np.random.Generator) -> FloatArray:
    parts = []
    for _ in range(rng.integers(1, 4)):
        parts.append(scaled(blown(rng, rng.uniform(0.05, 0.25), rng.uniform(0, 1), 0.004, rng.uniform(0.03, 0.15))))
        if rng.random() < 0.6:
            count, base = count_of(rng.uniform(0.05, 0.25)), rng.uniform(80, 350)
            wave = voiced(count, contour(count, [base, base * rng.uniform(0.6, 1.2)]), rng.uniform(0.4, 1), rng)
            parts.append(rng.uniform(0.2, 0.8) * scaled(opened(wave * edges(count, 0.01, 0.05), rng)))
        parts.append(np.zeros(count_of(rng.uniform(0.05, 0.3)), np.float32))
    return np.concatenate(parts).astype(np.float32)


def breath(rng: np.random.Generator) -> FloatArray:
    return blown(rng, rng.uniform(0.4, 2.0), rng.uniform(0, 1.5), rng.uniform(0.1, 0.5), rng.uniform(0.1, 0.5))


def snore(rng: np.random.Generator) -> FloatArray:
    """Puffs of noise at the rate of a flutter: snoring, purring, engines."""
    count = count_of(rng.uniform(0.5, 2.5))
    pulse = np.maximum(np.sin(2 * np.pi * rng.uniform(18, 80) * np.arange(count) / RATE), 0) ** rng.integers(1, 8)
    return opened(coloured(count, rng.uniform(0, 2), rng) * pulse * edges(count, 0.2, 0.3), rng)


def hum(rng: np.random.Generator) -> FloatArray:
    """Notes hummed or played with vibrato."""
    notes = []
    for _ in range(rng.integers(1, 6)):
        count = count_of(rng.uniform(0.2, 1.5))
        shake = rng.uniform(0, 0.03) * np.sin(2 * np.pi * rng.uniform(4, 7) * np.arange(count) / RATE)
        hz = 110 * 2 ** (rng.integers(0, 30) / 12) * (1 + shake)
        notes.append(voiced(count, hz, rng.uniform(0, 0.1), rng) * edges(count, 0.03, 0.06))
    return resonances(np.concatenate(notes).astype(np.float32), throat(rng), rng.uniform(100, 600))


def bell(rng: np.random.Generator) -> FloatArray:
    """A ringing telephone, a warble, a door bell, a horn."""
    count = count_of(rng.uniform(0.3, 2.5))
    t = np.arange(count) / RATE
    pair, rate = np.exp(rng.uniform(np.log(300), np.log(2500), 2)), rng.uniform(2, 30)
    if rng.random() < 0.5:
        phase = 2 * np.pi * np.cumsum(np.where(t * rate % 1 < 0.5, *pair)) / RATE
        return np.tanh(rng.uniform(0.5, 6) * np.sin(phase)).astype(np.float32)
    wave = np.sin(2 * np.pi * pair[0] * t) + np.sin(2 * np.pi * pair[1] * t)
    return (wave * (1 + 0.5 * np.sin(2 * np.pi * rate * t)) * np.exp(-rng.choice([0, 0, 3]) * t)).astype(np.float32)


def knock(rng: np.random.Generator) -> FloatArray:
    """One to five blows on wood, glass or a table."""
    out = np.zeros(count_of(rng.uniform(0.3, 1.6)), np.float32)
    modes, every = np.exp(rng.uniform(np.log(80), np.log(3000), 4)), rng.uniform(0.1, 0.35)
    dying = np.exp(rng.uniform(np.log(15), np.log(120), 4))
    for nth in range(rng.integers(1, 6)):
        at = int(nth * every * rng.uniform(0.9, 1.1) * RATE)
        t = np.arange(len(out) - at) / RATE if at < len(out) else np.zeros(0)
        blow = sum(np.sin(2 * np.pi * hz * t) * np.exp(-d * t) for hz, d in zip(modes, dying, strict=True))
        out[at:] += rng.uniform(0.4, 1) * (blow + rng.standard_normal(len(t)) * np.exp(-300 * t))
    return out


def typing(rng: np.random.Generator) -> FloatArray:
    out = np.zeros(count_of(rng.uniform(0.5, 4)), np.float32)
    for at in np.cumsum(rng.gamma(3, rng.uniform(0.02, 0.08), 60) * RATE).astype(int):
        for offset, loud in ((0, 1.0), (int(rng.uniform(0.05, 0.1) * RATE), 0.4)):
            length = min(int(rng.uniform(60, 500)), len(out) - at - offset)
            if length > 0:
                click = rng.standard_normal(length) * np.exp(-np.arange(length) / (length / 5))
                out[at + offset : at + offset + length] += loud * rng.uniform(0.3, 1) * click
    return resonances(out, throat(rng), rng.uniform(200, 1500))


def crowd(rng: np.random.Generator) -> FloatArray:
    """Applause, or the murmur of a hall without a voice in it: noise that swells at the pace of syllables."""
    count = count_of(rng.uniform(1, 5))
    knots = rng.standard_normal(count // 2000 + 2)
    swell = np.abs(np.interp(np.arange(count) / 2000, np.arange(len(knots)), knots))
    return opened(coloured(count, rng.uniform(0.5, 2), rng) * (rng.uniform(0.2, 2) + swell), rng)


EVENTS: tuple[Event, ...] = (bark, howl, sneeze, cough, breath, snore, hum, bell, knock, typing, crowd)


def scaled(wave: FloatArray) -> FloatArray:
    return wave / np.float32(np.abs(wave).max() + 1e-9)


def burst(event: Event, seconds: float, rng: np.random.Generator) -> FloatArray:
    """Events of one kind, with pauses, in a room, over a faint hiss."""
    out = np.zeros(count_of(seconds), np.float32)
    pause, at, loud = np.exp(rng.uniform(np.log(0.05), np.log(1.5))), int(rng.uniform(0, 0.6) * RATE), 1.0
    while at < len(out):
        wave = scaled(event(rng))[: len(out) - at]
        out[at : at + len(wave)] += loud * wave
        loud = rng.uniform(0.4, 1.0)
        at += len(wave) + int(pause * rng.uniform(0.5, 1.5) * RATE)
    if rng.random() < 0.4:
        t = np.arange(count_of(0.4)) / RATE
        echo = rng.standard_normal(len(t)) * np.exp(-t * rng.uniform(10, 40)) * rng.uniform(0.01, 0.08)
        echo[0] = 1.0
        length = len(out) + len(echo)
        out = np.fft.irfft(np.fft.rfft(out, length) * np.fft.rfft(echo, length), length)[: len(out)].astype(np.float32)
    out = scaled(out) * np.float32(10 ** rng.uniform(-2.3, -0.05))
    return out + coloured(len(out), rng.uniform(0, 1), rng) * np.float32(10 ** rng.uniform(-5, -2.8))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=700)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    for number in range(args.count):
        event = EVENTS[number % len(EVENTS)]
        folder = args.folder / event.__name__
        folder.mkdir(parents=True, exist_ok=True)
        sf.write(folder / f"{event.__name__}-{args.seed}-{number:04d}.flac", burst(event, rng.uniform(3, 7), rng), RATE)


if __name__ == "__main__":
    main()
