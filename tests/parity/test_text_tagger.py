"""The exported tagger's graph equals a NumPy loop over the recurrence, and PyTorch's own scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from speech.model.bundle import Bundle
from speech.model.onnx import OnnxModel
from speech.text.punctuation import Tagger
from speech.text.vocabulary import Vocabulary

TINY = Path(__file__).with_name("test_text_tiny")
Array = np.ndarray[Any, Any]
W = {
    name: value.astype(np.float64) if value.dtype == np.float32 else value
    for name, value in np.load(TINY / "parity.npz").items()
}
HEADS, STATE = 2, 4  # in one direction


def silu(x: Array) -> Array:
    return x / (1 + np.exp(-x))


def normed(x: Array, weight: Array) -> Array:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weight


def recurrence(x: Array, name: str) -> Array:
    """One direction, one word after the other: S = a S + dt x B', y = S C + D x."""
    y = np.zeros_like(x)
    dim = x.shape[1] // HEADS
    S = np.zeros((HEADS, dim, STATE))
    for t in range(len(x)):
        projected = W[f"{name}.project.weight"] @ x[t] + W[f"{name}.project.bias"]
        B, C, dt = projected[:STATE], projected[STATE : 2 * STATE], np.log1p(np.exp(projected[2 * STATE :]))
        for h in range(HEADS):
            u = x[t, h * dim : (h + 1) * dim]
            a = np.exp(-dt[h] * np.exp(W[f"{name}.log_decay"][h]))
            S[h] = a * S[h] + dt[h] * np.outer(u, B)
            y[t, h * dim : (h + 1) * dim] = S[h] @ C + W[f"{name}.skip"][h] * u
    return y


def layer(x: Array, name: str) -> Array:
    width = x.shape[1]
    entered = normed(x, W[f"{name}.norm.weight"]) @ W[f"{name}.enter.weight"].T + W[f"{name}.enter.bias"]
    gate, inner = entered[:, :width], entered[:, width:]
    padded = np.vstack([np.zeros(width), inner, np.zeros(width)])
    mixed = silu(np.array([(padded[t : t + 3] * W[f"{name}.conv"]).sum(0) for t in range(len(x))]))
    ahead = recurrence(mixed[:, : width // 2], f"{name}.right")
    back = recurrence(mixed[::-1, width // 2 :], f"{name}.left")[::-1]
    x = x + (np.hstack([ahead, back]) * silu(gate)) @ W[f"{name}.leave.weight"].T + W[f"{name}.leave.bias"]
    hidden = silu(normed(x, W[f"{name}.norm_ff.weight"]) @ W[f"{name}.up.weight"].T + W[f"{name}.up.bias"])
    return x + hidden @ W[f"{name}.down.weight"].T + W[f"{name}.down.bias"]


def oracle(features: Array) -> Array:
    rows = W["embed.rows.values"][features[:, 0]] * W["embed.rows.scale"][features[:, 0]]
    for column in (1, 2):
        rows = rows + W["embed.pieces.values"][features[:, column]] * W["embed.pieces.scale"][features[:, column]]
    x = rows @ W["embed.out.weight"].T + W["embed.out.bias"]
    for i in range(2):
        x = layer(x, f"layers.{i}")
    return normed(x, W["norm.weight"]) @ W["heads.weight"].T + W["heads.bias"]


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    bundle = Bundle.load(TINY, "text")
    return Tagger(OnnxModel(bundle.path("tagger.onnx")), Vocabulary.load(bundle.path("vocabulary.txt"), 16))


def test_the_graph_equals_torch(tagger: Tagger) -> None:
    marks, casings = tagger.scores(str(W["sentence"]).split())
    np.testing.assert_allclose(marks, W["torch_punctuation"][0], atol=2e-4)
    np.testing.assert_allclose(casings, W["torch_casing"][0], atol=2e-4)


@pytest.mark.parametrize("words", [1, 2, 3, 40])
def test_the_graph_equals_a_loop_over_the_recurrence(tagger: Tagger, words: int) -> None:
    features = np.random.default_rng(words).integers(0, 16, (words, 3))
    found = tagger.graph.run({"features": features[None]})
    expected = oracle(features)
    np.testing.assert_allclose(found["punctuation"][0], expected[:, :4], atol=5e-4)
    np.testing.assert_allclose(found["casing"][0], expected[:, 4:], atol=5e-4)


def test_a_batch_gives_what_its_segments_give_alone(tagger: Tagger) -> None:
    features = np.random.default_rng(0).integers(0, 16, (3, 9, 3))
    together = tagger.graph.run({"features": features})["casing"]
    for i in range(3):
        np.testing.assert_allclose(
            together[i], tagger.graph.run({"features": features[i : i + 1]})["casing"][0], atol=1e-5
        )
