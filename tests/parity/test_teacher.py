"""The teacher learns phones from features that it is given, and what it writes lies beside the labels row by row."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from models.asr.batches import Store
from models.asr.teacher import Taught, Teacher, phone_error, teach, train

WIDTH, TOKENS = 12, 4
LEXICON = {"a": [[1]], "b": [[2]], "c": [[3]]}


def write(folder: Path, count: int, rng: np.random.Generator) -> None:
    """Utterances of three letters, each a vector of its own for two to four label frames, pauses between them."""
    sounds = np.random.default_rng(0).standard_normal((TOKENS, WIDTH)) * 2
    index, labels, phones, features = [], [], [], []
    for _ in range(count):
        word = rng.integers(1, TOKENS, 3)
        frames = np.concatenate([[0], *([p] * rng.integers(2, 5) + [0] for p in word)]).astype(np.uint8)
        index.append({"text": " ".join("abc"[p - 1] for p in word), "offset": 0, "frames": 4 * len(frames)})
        labels.append(frames)
        phones.append(word.astype(np.uint8))
        rows = np.repeat(sounds[frames], 2, axis=0)
        features.append((rows + rng.standard_normal(rows.shape) * 0.3).astype(np.float16))
    (folder / "x.jsonl").write_text("".join(json.dumps(u) + "\n" for u in index), encoding="utf-8")
    np.savez(
        folder / "x.labels.npz",
        labels=np.concatenate(labels), offsets=np.cumsum([0, *map(len, labels)]),
        phones=np.concatenate(phones), phone_offsets=np.cumsum([0, *map(len, phones)]),
    )  # fmt: skip
    np.concatenate(features).tofile(folder / "x.f16")
    np.savez(folder / "x.npz", offsets=np.cumsum([0, *map(len, features)]))


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> tuple[Teacher, Path]:
    folder = tmp_path_factory.mktemp("store")
    write(folder, 30, np.random.default_rng(1))
    torch.manual_seed(1)
    model = Teacher(WIDTH, TOKENS, d=16, layers=1)
    train(model, [Taught(folder, folder, "x")], steps=60)
    return model.eval(), folder


def test_it_knows_the_phones_of_utterances_it_never_heard(taught: tuple[Teacher, Path], tmp_path: Path) -> None:
    write(tmp_path, 20, np.random.default_rng(2))
    assert phone_error(taught[0], Taught(tmp_path, tmp_path, "x"), LEXICON, every=1) < 5


def test_posteriors_and_features_lie_beside_the_labels(taught: tuple[Teacher, Path]) -> None:
    model, folder = taught
    teach(model, Taught(folder, folder, "x"), folder)
    labels = np.load(folder / "x.labels.npz")["labels"]
    soft, hidden = np.load(folder / "x.soft.npy"), np.load(folder / "x.hidden.npy")
    np.testing.assert_allclose(soft.sum(1, dtype=np.float32), 1.0, atol=5e-3)
    assert (soft.argmax(1) == labels).mean() > 0.9
    assert hidden.shape == (len(labels), WIDTH)
    np.zeros((int(labels.size) * 4, 80), np.float16).tofile(folder / "x.f16")  # a store's features have that name
    store = Store(folder, "x")
    assert store.soft is not None
    assert len(store.soft) == len(store.labels)
