"""Augmentation of log-mel features: level, tempo, voice, microphone, noise, rooms, telephone band, codecs, masks.

All of it works on stored features, in the power domain where the physics is additive, so one pass over the recordings
serves every epoch. Features are (T, mels) float32 in the fixed scale of `speech.features.logmel`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from speech.features.logmel import LogMel, mel

FloatArray = NDArray[np.float32]
Labels = NDArray[Any]  # (L,) of any integers
LOG_MEL = LogMel()
FLOOR = np.float32(np.log(LOG_MEL.floor))
_EDGES = np.linspace(mel(LOG_MEL.low_hz), mel(LOG_MEL.high_hz), LOG_MEL.bins + 2)[1:-1]
BIN_HZ = 700.0 * (np.exp(_EDGES / 1127.0) - 1.0)  # centre of each mel bin
_COSINES = np.cos(np.pi / LOG_MEL.bins * np.outer(np.arange(LOG_MEL.bins) + 0.5, np.arange(18)))
_COSINES /= np.linalg.norm(_COSINES, axis=0)
_ENVELOPE = (_COSINES @ _COSINES.T).astype(np.float32)
_HARMONICS = np.eye(LOG_MEL.bins, dtype=np.float32) - _ENVELOPE


@dataclass(frozen=True)
class Augmenter:
    """Probabilities and ranges of each kind of damage; decibels and factors as named."""

    noises: FloatArray | None = None  # (frames, mels) ln power, one noise after the other
    tempo: float = 0.1
    warp: float = 0.1
    microphone: float = 0.5
    noise: float = 0.2
    snr_db: tuple[float, float] = (6.0, 30.0)
    room: float = 0.08
    band: float = 0.08
    low_pass: float = 0.3
    masks: tuple[int, int] = (15, 20)  # most bins and most frames of each mask
    bend: float = 0.0  # standard deviation of the bins by which parts of the envelope move each on their own
    pitch: float = 0.0  # most octaves by which the harmonics move against the envelope
    colour: float = 0.7  # standard deviation of the microphone's curve, ln power

    def __call__(
        self, features: NDArray[np.float16], labels: Labels, rng: np.random.Generator
    ) -> tuple[FloatArray, Labels]:
        """Augmented features and the labels (L,), or where they stand, that go with them (4 feature frames a label)."""
        f, labels = change_tempo(features.astype(np.float32), labels, 1.0 + rng.uniform(-self.tempo, self.tempo))
        factor = 1.0 + rng.uniform(-self.warp, self.warp)
        if self.bend or self.pitch:
            f = f @ voice(factor, self.bend, 2.0 ** rng.uniform(-self.pitch, self.pitch), rng)
        else:
            f = warp_bins(f, factor)
        power = f * np.float32(LOG_MEL.scale) + np.float32(LOG_MEL.offset)
        if rng.random() < self.microphone:
            power = power + frequency_response(rng, self.colour)
        if rng.random() < self.room:
            power = reverberate(power, rng)
        if rng.random() < self.noise:
            power = self.add_noise(power, rng)
        if rng.random() < self.band:
            power = telephone(power, rng)
        if rng.random() < self.low_pass:
            power = low_pass(power, rng)
        power = np.maximum(power + np.float32(rng.uniform(-4.0, 2.0)), FLOOR)
        f = (power - np.float32(LOG_MEL.offset)) / np.float32(LOG_MEL.scale)
        return mask(f, *self.masks, rng), labels

    def add_noise(self, power: FloatArray, rng: np.random.Generator) -> FloatArray:
        if self.noises is not None and rng.random() < 0.6:
            start = rng.integers(len(self.noises))
            noise = self.noises[(start + np.arange(len(power))) % len(self.noises)]
        else:
            tilt = rng.uniform(-6.0, 1.0) * np.linspace(0.0, 1.0, power.shape[1])
            # A filter's power over one window of Gaussian noise is roughly gamma-distributed.
            noise = tilt + np.log(rng.gamma(3.0, 1.0 / 3.0, power.shape) + 1e-6)
        gap = np.log(10.0) / 10.0 * rng.uniform(*self.snr_db)
        level = np.log(np.exp(power).mean()) - np.log(np.exp(noise).mean() + 1e-12) - gap
        return np.logaddexp(power, noise + level).astype(np.float32)


def change_tempo(f: FloatArray, labels: Labels, factor: float) -> tuple[FloatArray, Labels]:
    """Play `factor` times as fast by interpolation between frames."""
    count = max(4, int(len(f) / factor) // 4 * 4)
    at = np.minimum(np.arange(count) * factor, len(f) - 1.001)
    low = at.astype(np.int64)
    share = (at - low).astype(np.float32)[:, None]
    nearest = ((np.arange(count // 4) + 0.5) * factor).astype(np.int64)
    stretched = f[low] * (1 - share) + f[np.minimum(low + 1, len(f) - 1)] * share
    return stretched, labels[np.minimum(nearest, len(labels) - 1)] if len(labels) else labels


def warp_bins(f: FloatArray, factor: float) -> FloatArray:
    """Vocal-tract length perturbation: frequencies below 4.8 kHz scaled by `factor`, above it bent back to the end."""
    return f @ moved(scaled(factor))


def scaled(factor: float) -> NDArray[np.float64]:
    """For each bin the bin, a fraction, of `factor` times its frequency; bent above 4.8 kHz to end in the last."""
    knee, top = 4800.0 / max(factor, 1.0), BIN_HZ[-1]
    bent = factor * knee + (BIN_HZ - knee) * (top - factor * knee) / (top - knee)
    return np.interp(np.where(knee >= BIN_HZ, BIN_HZ * factor, bent), BIN_HZ, np.arange(len(BIN_HZ)))


def moved(source: NDArray[np.float64]) -> FloatArray:
    """(mels, mels) matrix that takes each bin from `source`, a fraction of a bin, by interpolation."""
    count = len(source)
    low = np.clip(source.astype(np.int64), 0, count - 2)
    share = np.clip(source - low, 0.0, 1.0)
    out = np.zeros((count, count), np.float32)
    out[low, np.arange(count)] = 1.0 - share
    out[low + 1, np.arange(count)] += share
    return out


def voice(factor: float, bend: float, pitch: float, rng: np.random.Generator) -> FloatArray:
    """(mels, mels) matrix that makes another voice of log-mel rows: two dozen speakers do not show how voices differ.

    The envelope (the first 18 cosines: what is wider than nine bins) is scaled by `factor` as by a longer or shorter
    vocal tract, and each part of it moved by some `bend` bins on its own; what is left are the harmonics, moved
    by `pitch` and made fainter or clearer.
    """
    drift = np.interp(np.linspace(0.0, 6.0, LOG_MEL.bins), np.arange(7), rng.normal(0.0, 1.0, 7) * bend)
    envelope = _ENVELOPE @ moved(scaled(factor) + drift)
    return envelope + np.float32(rng.uniform(0.3, 1.2)) * (_HARMONICS @ moved(scaled(pitch)))


def frequency_response(rng: np.random.Generator, colour: float = 0.7) -> FloatArray:
    """What another microphone adds to each bin, ln power (mels,): a smooth curve of about 3 dB."""
    knots = rng.normal(0.0, colour, 5)
    curve = np.interp(np.linspace(0.0, 4.0, LOG_MEL.bins), np.arange(5), knots)
    return (curve - curve.mean()).astype(np.float32)


def reverberate(power: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Add an exponentially decaying tail: reverberation time 0.15 to 0.6 s, direct sound 0 to 9 dB above it."""
    decay = np.float32(np.exp(-13.8 * 0.01 / rng.uniform(0.15, 0.6)))
    linear = np.exp(power)
    tail = np.empty_like(linear)
    carried = np.zeros(power.shape[1], np.float32)
    for t in range(len(linear)):
        tail[t] = carried
        carried = decay * (carried + linear[t])
    return np.log(linear + tail * np.float32((1 - decay) * 10 ** (-rng.uniform(0.0, 9.0) / 10)) + np.float32(1e-8))


def telephone(power: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Leave 300 to 3400 Hz; outside it only the quantisation noise of an 8-bit codec, or nothing above 4 kHz."""
    low, high, edge = rng.uniform(150, 350), rng.uniform(3300, 3800), rng.uniform(5.0, 40.0)
    outside = np.maximum(np.maximum(low - BIN_HZ, BIN_HZ - high), 0.0)
    slope = outside / edge  # hertz for each neper: from a digital network's edges to an old line's
    loss = np.minimum(slope, 30.0).astype(np.float32)
    inside = np.logaddexp(power - loss, power.max(axis=1, keepdims=True) - np.float32(rng.uniform(7.0, 11.0)))
    inside = np.where(BIN_HZ < 4000.0, inside, FLOOR)
    return inside.astype(np.float32)


def low_pass(power: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Nothing above 3.6 to 7.4 kHz, as perceptual codecs at low rates leave it; half of the time below it holes too."""
    cutoff = rng.uniform(3600.0, 7400.0)
    power = np.where(cutoff > BIN_HZ, power, FLOOR)
    if rng.random() < 0.5:  # what lies far below the loudest bin of its frame is not coded
        heard = power > power.max(axis=1, keepdims=True) - np.float32(rng.uniform(9.0, 13.0))
        power = np.where(heard, power, FLOOR)
    return power.astype(np.float32)


def mask(f: FloatArray, bins: int, frames: int, rng: np.random.Generator) -> FloatArray:
    """SpecAugment (Park et al., 2019): two bands of up to `bins`, a stretch of up to `frames` each 2.5 s: the mean."""
    mean = f.mean()
    for _ in range(2):
        width = rng.integers(0, bins + 1)
        start = rng.integers(0, f.shape[1] - width)
        f[:, start : start + width] = mean
    for _ in range(len(f) // 250 + 1):
        width = rng.integers(0, frames + 1)
        start = rng.integers(0, max(1, len(f) - width))
        f[start : start + width] = mean
    return f
