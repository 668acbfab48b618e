"""The whole acoustic model in NumPy, one frame at a time by `speech.ssm.step`: the plain oracle of the parity tests.

It takes a PyTorch state dict as float64 arrays and shares no code with the training model or the exported graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from speech import ssm

Array = NDArray[np.float64]
KEEP = 3  # frames the front end's five-tap, stride-two windows reach back


def silu(x: Array) -> Array:
    return x / (1 + np.exp(-x))


def rms_norm(x: Array, weight: Array) -> Array:
    return x / np.sqrt(np.square(x).mean() + 1e-5) * weight


def strided(x: Array, weight: Array, bias: Array) -> Array:
    """x (T, channels) -> (T / 2, out): windows of five frames ending at every second one; zeros before the first."""
    padded = np.concatenate([np.zeros((KEEP, x.shape[1])), x])
    return np.array([np.einsum("kc,ock->o", padded[t : t + 5], weight) + bias for t in range(0, len(x) - 1, 2)])


def mixer(w: dict[str, Array], name: str, frames: Array, heads: int, head_dim: int, state: int) -> Array:
    inner, out = heads * head_dim, []
    S = np.zeros((heads, head_dim, state))
    taps = w[f"{name}.conv_weight"]
    tail = [np.zeros(taps.shape[1])] * (len(taps) - 1)
    for x in frames:
        projected = w[f"{name}.project.weight"] @ x
        z, mixed, dt = projected[:inner], projected[inner:-heads], projected[-heads:]
        tail = [*tail, mixed]
        u = silu(sum(t * f for t, f in zip(taps, tail, strict=True)) + w[f"{name}.conv_bias"])
        tail = tail[1:]
        dt, A = np.log1p(np.exp(dt + w[f"{name}.dt_bias"])), -np.exp(w[f"{name}.log_A"])
        B, C = u[inner : inner + state], u[inner + state :]
        y, S = ssm.step(u[:inner].reshape(heads, head_dim), dt, A, B, C, w[f"{name}.D"], S)
        out.append(w[f"{name}.out.weight"] @ rms_norm(y.ravel() * silu(z), w[f"{name}.norm.weight"]))
    return np.array(out)


def log_probs(w: dict[str, Array], c: Any, features: Array) -> Array:
    """features (T, mels) -> (T / 4, tokens) for the weights `w` of a model of config `c`."""
    x = silu(strided(features, w["frontend.first.weight"], w["frontend.first.bias"]))
    x = silu(strided(x, w["frontend.second.weight"], w["frontend.second.bias"]))
    for i in range(c.layers):
        b = f"blocks.{i}"
        normed = np.array([rms_norm(frame, w[f"{b}.norm_mixer.weight"]) for frame in x])
        x = x + mixer(w, f"{b}.mixer", normed, c.heads, c.head_dim, c.state)
        for t, frame in enumerate(x):
            h = w[f"{b}.up.weight"] @ rms_norm(frame, w[f"{b}.norm_ffn.weight"]) + w[f"{b}.up.bias"]
            x[t] = frame + w[f"{b}.down.weight"] @ np.square(np.maximum(h, 0)) + w[f"{b}.down.bias"]
    scores = np.array([w["head.weight"] @ rms_norm(frame, w["norm.weight"]) + w["head.bias"] for frame in x])
    scores -= scores.max(1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(1, keepdims=True))
