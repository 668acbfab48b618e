"""The vocoder in NumPy, frame by frame and window by window: the plain oracle of the parity tests.

It takes a PyTorch state dict as float64 arrays and shares no code with the training model or the exported graph.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
WINDOW, STEP, HOP = 600, 150, 300


def gelu(x: Array) -> Array:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def layer_norm(x: Array, weight: Array, bias: Array) -> Array:
    return (x - x.mean()) / np.sqrt(x.var() + 1e-5) * weight + bias


def network(w: dict[str, Array], blocks: int, mel: Array, f0: Array) -> Array:
    """(T, 2, 4, 301) outputs for the mel frames (T, 80) and the pitch (T,)."""
    frames = []
    for row, hz in zip(mel, f0, strict=True):
        voiced = float(hz >= 30.0)
        x = np.concatenate([(row + 5) / 2.5, [np.log(max(hz, 30.0) / 200) * voiced, voiced]])
        frames.append(w["enter.weight"] @ x + w["enter.bias"])
    for i in range(blocks):
        b = f"blocks.{i}."
        taps, after = w[b + "weight"], []
        for t, x in enumerate(frames):
            y = w[b + "bias"].copy()
            for k in range(len(taps)):
                past = t - (len(taps) - 1) + k
                if past >= 0:
                    y += frames[past] * taps[k]
            h = gelu(w[b + "up.weight"] @ layer_norm(y, w[b + "norm.weight"], w[b + "norm.bias"]) + w[b + "up.bias"])
            after.append(x + w[b + "scale"] * (w[b + "down.weight"] @ h + w[b + "down.bias"]))
        frames = after
    out = [w["head.weight"] @ layer_norm(x, w["norm.weight"], w["norm.bias"]) + w["head.bias"] for x in frames]
    return np.array(out).reshape(len(out), 2, 4, 301)


def samples(
    w: dict[str, Array], blocks: int, envelope: Array, mel: Array, f0: Array, harmonics: Array, noise: Array
) -> Array:
    """(T * 300,) samples, 600 late, for sources of T * 300 samples each."""
    length = len(mel) * HOP
    out = network(w, blocks, mel, f0)
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)
    sources = [np.concatenate([np.zeros(WINDOW - STEP), s.ravel()]) for s in (harmonics, noise)]
    made = np.zeros(length + WINDOW)
    for j in range(2 * len(mel)):
        values = out[j // 2, j % 2]
        base = mel[j // 2] @ envelope + 3
        gain, hiss = np.exp(np.minimum(base + values[0], 6)), np.exp(np.minimum(base + values[3] - 1, 6))
        voiced, noisy = (np.fft.rfft(s[j * STEP : j * STEP + WINDOW] * hann) for s in sources)
        piece = np.fft.irfft(voiced * gain * (1 + values[1] + 1j * values[2]) + noisy * hiss, WINDOW)
        made[j * STEP : j * STEP + WINDOW] += piece * hann / 1.5
    return made[:length]
