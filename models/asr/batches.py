"""Endless training batches from feature stores: similar lengths together, augmented, labels delayed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.asr.augment import LOG_MEL, Augmenter

STRIDE = 4
IGNORE = -100


@dataclass
class Batch:
    features: Tensor  # (b, T, mels) float32, T a multiple of 4; padded with silence
    labels: Tensor  # (b, L) int64, delayed; IGNORE where there is nothing to learn
    lengths: Tensor  # (b,) label frames, delay included
    phones: Tensor  # all phones one after the other
    phone_lengths: Tensor  # (b,)
    seconds: float


class Store:
    """Features, labels and index of one source; utterances without labels are left out."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.index = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        self.features = np.fromfile(folder / f"{name}.f16", np.float16).reshape(-1, LOG_MEL.bins)
        data = np.load(folder / f"{name}.labels.npz")
        self.labels, self.offsets = data["labels"], data["offsets"]
        self.phones, self.phone_offsets = data["phones"], data["phone_offsets"]
        self.usable = [i for i in range(len(self.index)) if self.offsets[i + 1] > self.offsets[i]]

    def sequences(self) -> list[NDArray[np.uint8]]:
        """Phones of each usable utterance."""
        return [self.phones[self.phone_offsets[i] : self.phone_offsets[i + 1]] for i in self.usable]

    def get(self, i: int) -> tuple[NDArray[np.float16], NDArray[np.uint8], NDArray[np.uint8]]:
        u = self.index[i]
        length = int(self.offsets[i + 1] - self.offsets[i])
        features = self.features[u["offset"] : u["offset"] + length * STRIDE]
        phones = self.phones[self.phone_offsets[i] : self.phone_offsets[i + 1]]
        return features, self.labels[self.offsets[i] : self.offsets[i + 1]], phones


def collate(rows: list[tuple[NDArray[np.float32], NDArray[np.uint8], NDArray[np.uint8]]], delay: int) -> Batch:
    longest = max(len(labels) for _, labels, _ in rows) + delay
    features = np.full((len(rows), longest * STRIDE, LOG_MEL.bins), LOG_MEL.silence, np.float32)
    targets = np.full((len(rows), longest), IGNORE, np.int64)
    for row, (f, labels, _) in enumerate(rows):
        features[row, : len(labels) * STRIDE] = f[: len(labels) * STRIDE]
        targets[row, delay : delay + len(labels)] = labels
    return Batch(
        torch.from_numpy(features), torch.from_numpy(targets),
        torch.tensor([len(labels) + delay for _, labels, _ in rows]),
        torch.from_numpy(np.concatenate([p for _, _, p in rows]).astype(np.int64)),
        torch.tensor([len(p) for _, _, p in rows]),
        sum(len(f) for f, _, _ in rows) / 100.0,
    )  # fmt: skip


def batches(
    stores: list[tuple[Store, float]], augment: Augmenter, delay: int, seconds: float, rng: np.random.Generator
) -> Iterator[Batch]:
    """Batches of at most `seconds` of padded audio, for ever. A store's weight is its share seen in each round."""
    while True:
        chosen: list[tuple[Store, int, int]] = []
        for store, weight in stores:
            count = int(len(store.usable) * weight)
            picks = rng.permutation(np.resize(rng.permutation(store.usable), count))
            chosen += [(store, int(i), int(store.offsets[i + 1] - store.offsets[i])) for i in picks]
        order = rng.permutation(len(chosen))
        groups: list[list[tuple[Store, int, int]]] = []
        for pool in np.array_split(order, max(1, len(order) // 600)):
            group: list[tuple[Store, int, int]] = []
            for k in sorted(pool, key=lambda k: chosen[k][2] + rng.uniform(0, 20)):
                if group and max(*(g[2] for g in group), chosen[k][2]) * (len(group) + 1) * 0.04 > seconds:
                    groups.append(group)
                    group = []
                group.append(chosen[k])
            groups.append(group)
        for g in rng.permutation(len(groups)):
            rows = []
            for store, i, _ in groups[g]:
                features, labels, phones = store.get(i)
                damaged, labels = augment(features, labels, rng)
                rows.append((damaged, labels, phones))
            yield collate(rows, delay)
