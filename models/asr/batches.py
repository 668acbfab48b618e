"""Endless training batches from feature stores: similar lengths together, augmented, labels delayed.

Where a teacher's posteriors lie beside a store (NAME.soft.npy, a row for each label frame) they are what a frame is to
learn; else it is the label of the alignment. NAME.hidden.npy has the teacher's own features, likewise.
"""

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
    targets: Tensor  # (b, L, tokens) what each frame is to say, delayed likewise; zeros where there is nothing
    hidden: Tensor | None  # (b, L, width) the teacher's features, delayed likewise; zeros where there are none
    lengths: Tensor  # (b,) label frames, delay included
    phones: Tensor  # all phones one after the other
    phone_lengths: Tensor  # (b,)
    seconds: float


@dataclass
class Row:
    """One damaged utterance: features (T, mels), labels (L,), a teacher's posteriors and features (L, n), phones."""

    features: NDArray[np.float32]
    labels: NDArray[np.uint8]
    soft: NDArray[np.float16] | None
    hidden: NDArray[np.float16] | None
    phones: NDArray[np.uint8]


class Store:
    """Features, labels and index of one source; utterances without labels are left out."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.index = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        self.features = np.fromfile(folder / f"{name}.f16", np.float16).reshape(-1, LOG_MEL.bins)
        data = np.load(folder / f"{name}.labels.npz")
        self.labels, self.offsets = data["labels"], data["offsets"]
        self.phones, self.phone_offsets = data["phones"], data["phone_offsets"]
        self.soft = self._beside(folder / f"{name}.soft.npy")  # (label frames, tokens) float16
        self.hidden = self._beside(folder / f"{name}.hidden.npy")  # (label frames, width) float16
        self.usable = [i for i in range(len(self.index)) if self.offsets[i + 1] > self.offsets[i]]

    @staticmethod
    def _beside(path: Path) -> NDArray[np.float16] | None:
        return np.load(path, mmap_mode="r") if path.exists() else None

    def sequences(self) -> list[NDArray[np.uint8]]:
        """Phones of each usable utterance."""
        return [self.phones[self.phone_offsets[i] : self.phone_offsets[i + 1]] for i in self.usable]

    def get(self, i: int, augment: Augmenter, rng: np.random.Generator) -> Row:
        """Utterance `i`, damaged."""
        u, first, last = self.index[i], int(self.offsets[i]), int(self.offsets[i + 1])
        features = self.features[u["offset"] : u["offset"] + (last - first) * STRIDE]
        damaged, at = augment(features, np.arange(first, last), rng)
        soft, hidden = (None if a is None else a[at] for a in (self.soft, self.hidden))
        phones = self.phones[self.phone_offsets[i] : self.phone_offsets[i + 1]]
        return Row(damaged, self.labels[at], soft, hidden, phones)


def collate(rows: list[Row], delay: int, tokens: int) -> Batch:
    longest = max(len(row.labels) for row in rows) + delay
    features = np.full((len(rows), longest * STRIDE, LOG_MEL.bins), LOG_MEL.silence, np.float32)
    labels = np.full((len(rows), longest), IGNORE, np.int64)
    targets = np.zeros((len(rows), longest, tokens), np.float32)
    for i, row in enumerate(rows):
        count = len(row.labels)
        features[i, : count * STRIDE] = row.features[: count * STRIDE]
        labels[i, delay : delay + count] = row.labels
        targets[i, delay : delay + count] = np.eye(tokens)[row.labels] if row.soft is None else row.soft
    return Batch(
        torch.from_numpy(features), torch.from_numpy(labels), torch.from_numpy(targets), _hidden(rows, longest, delay),
        torch.tensor([len(row.labels) + delay for row in rows]),
        torch.from_numpy(np.concatenate([row.phones for row in rows]).astype(np.int64)),
        torch.tensor([len(row.phones) for row in rows]),
        sum(len(row.features) for row in rows) / 100.0,
    )  # fmt: skip


def _hidden(rows: list[Row], longest: int, delay: int) -> Tensor | None:
    widths = [row.hidden.shape[1] for row in rows if row.hidden is not None]
    if not widths:
        return None
    out = np.zeros((len(rows), longest, widths[0]), np.float32)
    for i, row in enumerate(rows):
        if row.hidden is not None:
            out[i, delay : delay + len(row.hidden)] = row.hidden
    return torch.from_numpy(out)


def batches(
    stores: list[tuple[Store, float]],
    augment: Augmenter,
    delay: int,
    tokens: int,
    seconds: float,
    rng: np.random.Generator,
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
            yield collate([store.get(i, augment, rng) for store, i, _ in groups[g]], delay, tokens)
