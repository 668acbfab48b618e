"""Sound without speech, for training: `python -m models.asr.noises STORE NOISES.npz --clips FOLDER...`.

Writes NOISES.npz (`power`, (frames, mels), natural log) that `augment.py` adds to speech, and STORE/noise.*, utterances
of noise alone whose every label is the blank: a network that never hears them finds words in a barking dog. Every
tenth clip of a folder is held out for tests. Beside the recordings: hiss, hum, tones, keys, clicks, chords, cries.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from speech.features.logmel import LogMel

from models.asr.corpus import RATE, Utterance, load

FloatArray = NDArray[np.float32]
STRIDE = 4
HELD_OUT = 10  # clips 0, 10, 20 ... in sorted order are never trained on
DTMF_HZ = ((697, 770, 852, 941), (1209, 1336, 1477, 1633))


def clips(folder: Path, held_out: bool = False) -> list[Path]:
    """Recordings of noise for training, or those held out from it."""
    found = sorted(p for p in folder.rglob("*") if p.suffix in (".ogg", ".wav", ".flac"))
    return [p for i, p in enumerate(found) if (i % HELD_OUT == 0) == held_out]


def coloured(count: int, slope: float, rng: np.random.Generator) -> FloatArray:
    """Gaussian noise whose power falls by `slope` powers of frequency (0 white, 1 pink, 2 brown)."""
    spectrum = np.fft.rfft(rng.standard_normal(count))
    spectrum *= np.maximum(np.arange(len(spectrum)), 20.0) ** (-slope / 2)
    return np.fft.irfft(spectrum, count).astype(np.float32)


def swell(count: int, rng: np.random.Generator) -> FloatArray:
    """A slowly moving envelope between 0 and 1: breath, wind, passing cars."""
    knots = rng.uniform(0, 1, max(3, int(count / RATE * rng.uniform(0.5, 4)))) ** 2
    return np.interp(np.linspace(0, len(knots) - 1, count), np.arange(len(knots)), knots).astype(np.float32)


def partials(count: int, hz: float, rng: np.random.Generator, decay: float = 0.0) -> FloatArray:
    """A steady or dying harmonic tone."""
    t = np.arange(count) / RATE
    numbers = [k for k in range(1, rng.integers(2, 9)) if k * hz < 7500]
    wave = sum((np.sin(2 * np.pi * k * hz * t + rng.uniform(0, 6)) / k ** rng.uniform(0.5, 2) for k in numbers), 0 * t)
    return (wave * np.exp(-decay * t)).astype(np.float32)


def notes(count: int, rng: np.random.Generator) -> FloatArray:
    """Chords struck one after the other, on the scale of equal temperament."""
    out, at = np.zeros(count, np.float32), 0
    while at < count:
        length = int(RATE * rng.uniform(0.1, 1.2))
        for step in rng.integers(0, 36, rng.integers(1, 5)):
            part = partials(min(length * 2, count - at), 110 * 2 ** (step / 12), rng, rng.uniform(0, 6))
            out[at : at + len(part)] += part
        at += length
    return out


def keys(count: int, rng: np.random.Generator) -> FloatArray:
    """Telephone keys (DTMF) or plain beeps, 60 to 400 ms each."""
    t, out, at = np.arange(count) / RATE, np.zeros(count, np.float32), 0
    while at < count:
        length, gap = (int(RATE * s) for s in rng.uniform(0.06, 0.4, 2))
        pair = [rng.choice(group) for group in DTMF_HZ] if rng.random() < 0.6 else [rng.uniform(200, 3000)]
        out[at : at + length] = sum(np.sin(2 * np.pi * hz * t[at : at + length]) for hz in pair)
        at += length + gap
    return out


def clicks(count: int, rng: np.random.Generator) -> FloatArray:
    out = np.zeros(count, np.float32)
    for at in rng.integers(0, count, int(count / RATE * rng.uniform(1, 12))):
        length = min(int(rng.uniform(16, 800)), count - at)
        out[at : at + length] += rng.standard_normal(length) * np.exp(-np.arange(length) / (length / 4)) * rng.random()
    return out


def sweep(count: int, rng: np.random.Generator) -> FloatArray:
    """A tone that rises or falls, once or over and over: sirens, whistles, test signals."""
    low, high = np.sort(np.exp(rng.uniform(np.log(60), np.log(3800), 2)))
    place = np.linspace(0, 1, count) * rng.choice([1, 1, rng.uniform(1, 12)])
    place = place % 1 if rng.random() < 0.5 else 1 - np.abs(1 - place % 2)
    hz = low + (high - low) * (place if rng.random() < 0.5 else 1 - place)
    phase = 2 * np.pi * np.cumsum(hz) / RATE
    return np.sum([np.sin(k * phase) / k**2 for k in range(1, rng.integers(2, 4))], axis=0).astype(np.float32)


def resonances(wave: FloatArray, hz: NDArray[np.float64], width_hz: float) -> FloatArray:
    """What a throat of these fixed resonances makes of `wave`, by their responses in the frequency domain."""
    at = np.fft.rfftfreq(len(wave), 1 / RATE)
    gain = sum(1 / np.sqrt(1 + ((at - centre) / width_hz) ** 2) / (k + 1) for k, centre in enumerate(hz))
    return np.fft.irfft(np.fft.rfft(wave) * gain, len(wave)).astype(np.float32)


def cries(count: int, rng: np.random.Generator) -> FloatArray:
    """Voices of beings that do not speak: glides of pitch through a throat that keeps its shape, call after call."""
    out, at = np.zeros(count, np.float32), int(rng.uniform(0, RATE))
    base = np.exp(rng.uniform(np.log(120), np.log(1400)))
    throat = np.sort(np.exp(rng.uniform(np.log(400), np.log(6000), rng.integers(2, 5))))
    seconds = np.sort(np.exp(rng.uniform(np.log(0.08), np.log(1.6), 2)))
    while at < count - 800:
        length = min(int(RATE * rng.uniform(*seconds)), count - at)
        knots = base * np.exp(rng.normal(0, 0.2, rng.integers(2, 5)))
        t = np.arange(length) / RATE
        hz = np.interp(np.linspace(0, 1, length), np.linspace(0, 1, len(knots)), knots)
        hz *= 1 + rng.uniform(0, 0.06) * np.sin(2 * np.pi * rng.uniform(4, 30) * t)
        phase = 2 * np.pi * np.cumsum(hz) / RATE
        voice = sum(np.sin(k * phase) * (k * hz < 7500) / k ** rng.uniform(0.3, 1.2) for k in range(1, 16))
        voice = voice + rng.uniform(0, 1.5) * rng.standard_normal(length)
        shape = np.minimum(t / 0.02, 1) * np.minimum((length / RATE - t) / rng.uniform(0.03, 0.2), 1)
        out[at : at + length] += resonances((voice * shape).astype(np.float32), throat, rng.uniform(60, 400))
        at += length + int(RATE * rng.uniform(0.05, 0.9))
    return out


def made(seconds: float, rng: np.random.Generator) -> FloatArray:
    """One artificial sound, at a level between a whisper and full scale."""
    count = int(seconds * RATE)
    kind = rng.integers(10)
    if kind < 2:
        wave = coloured(count, rng.uniform(0, 2.5), rng)
    elif kind == 2:
        wave = coloured(count, rng.uniform(0, 2), rng) * swell(count, rng)
    elif kind == 3:
        wave = partials(count, rng.choice([50, 60, 100, 120, rng.uniform(80, 1000)]), rng)
    else:
        wave = (notes, keys, clicks, sweep, cries, cries)[kind - 4](count, rng)
    wave = wave / (np.abs(wave).max() + 1e-9) * np.float32(10 ** rng.uniform(-3.0, -0.05))
    return wave + coloured(count, 0, rng) * np.float32(10 ** rng.uniform(-5, -2.5))


def recordings(paths: list[Path]) -> Iterator[FloatArray]:
    for path in paths:
        yield load(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("noises", type=Path)
    parser.add_argument("--clips", type=Path, nargs="+", required=True, help="folders of recordings")
    parser.add_argument("--made", type=int, default=400, help="artificial sounds to add, of 3 to 9 s")
    args = parser.parse_args()
    rng, log_mel, index, offset = np.random.default_rng(7), LogMel(), [], 0
    real = [log_mel.batch(samples) for folder in args.clips for samples in recordings(clips(folder))]
    np.savez(args.noises, power=(np.concatenate(real) * log_mel.scale + log_mel.offset).astype(np.float32))
    lengths = []
    with open(args.store / "noise.f16", "wb") as features:
        for sound in [*real, *(log_mel.batch(made(rng.uniform(3, 9), rng)) for _ in range(args.made))]:
            frames = sound[: len(sound) // STRIDE * STRIDE].astype(np.float16)
            features.write(frames.tobytes())
            index.append(json.dumps(asdict(Utterance(f"noise-{len(index)}", "noise", "", offset, len(frames)))))
            lengths.append(len(frames) // STRIDE)
            offset += len(frames)
    (args.store / "noise.jsonl").write_text("\n".join(index) + "\n", encoding="utf-8")
    none = np.zeros(0, np.uint8)
    np.savez(
        args.store / "noise.labels.npz",
        labels=np.zeros(sum(lengths), np.uint8), offsets=np.cumsum([0, *lengths]),
        phones=none, phone_offsets=np.zeros(len(lengths) + 1, np.int64),
    )  # fmt: skip
    print(f"noise: {len(real)} clips and {args.made} made, {offset / 360000:.2f} h")


if __name__ == "__main__":
    main()
