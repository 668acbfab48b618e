"""Batches for the acoustic model: whole sentences, read by the encoder in the clauses in which text will arrive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from speech.tts import symbols
from speech.tts.excitation import VOICED_HZ
from speech.tts.units import places
from torch import Tensor

from models.tts import acoustic
from models.tts.corpus import Store

SHORTEST = 16  # symbols of a clause that is read by itself
BLANK = symbols.encode(" ", False, False)[0]
CUTS = frozenset(symbols.encode(",;:", False, False))
LEAD = 5  # units of the pad before a sentence, at most so many of the teacher's third of a second


@dataclass
class Batch:
    tokens: Tensor  # (clauses, L) int64
    reverse: Tensor  # (clauses, L) int64: each clause's symbols from its end, padding last
    durations: Tensor  # (clauses, L) log units at speed 1
    known: Tensor  # (clauses, L) bool: a symbol, not padding
    clause_voice: Tensor  # (clauses, voices) weights
    voice: Tensor  # (B, voices)
    units: Tensor  # (B, U) int64: number of each unit's symbol in the flattened clauses
    place: Tensor  # (B, U, 4)
    mel: Tensor  # (B, 2 U, 80) normalised
    prosody: Tensor  # (B, U, 2, 3) normalised pitch, voice, energy
    heard: Tensor  # (B, U) bool: a unit, not padding


@dataclass
class Sentence:
    tokens: NDArray[np.int64]
    units: NDArray[np.int64]  # durations
    mel: NDArray[np.float32]
    prosody: NDArray[np.float32]
    voice: NDArray[np.float32]
    speed: float
    cuts: list[int]


def prosody(f0: NDArray[np.float32], energy: NDArray[np.float32]) -> NDArray[np.float32]:
    """(frames, 3): what the decoder is told."""
    voiced = f0 >= VOICED_HZ
    pitch = np.log(np.maximum(f0, VOICED_HZ) / acoustic.PITCH_HZ) / acoustic.PITCH_SCALE * voiced
    return np.stack([pitch, voiced, (energy - acoustic.ENERGY_MEAN) / acoustic.ENERGY_SCALE], axis=1).astype(np.float32)


def sentence(store: Store, i: int, rng: np.random.Generator) -> Sentence:
    tokens = store.tokens[store.of_tokens(i)].astype(np.int64)
    units = store.durations[store.of_tokens(i)].astype(np.int64) // acoustic.FRAMES
    span = store.of_frames(i)
    dropped = max(0, int(units[0]) - int(rng.integers(1, LEAD + 1)))
    units[0] -= dropped
    span = slice(span.start + dropped * acoustic.FRAMES, span.stop)
    mel = (store.mel[span].astype(np.float32) - acoustic.MEL_MEAN) / acoustic.MEL_SCALE
    possible = [k for k in range(1, len(tokens)) if tokens[k] == BLANK and tokens[k - 1] in CUTS]
    cuts, last = [], 0
    for k in possible:
        if k - last >= SHORTEST and len(tokens) - k >= SHORTEST // 2 and rng.random() < 0.7:
            cuts.append(k)
            last = k
    return Sentence(
        tokens, units, mel, prosody(store.f0[span], store.energy[span]), store.voices[i], float(store.speeds[i]), cuts
    )


def collate(sentences: list[Sentence]) -> Batch:
    clauses = [(s, a, b) for s in sentences for a, b in zip([0, *s.cuts], [*s.cuts, len(s.tokens)], strict=True)]
    length, most = max(b - a for _, a, b in clauses), max(int(s.units.sum()) for s in sentences)
    count, size = len(clauses), len(sentences)
    out: dict[str, NDArray[Any]] = {
        "tokens": np.zeros((count, length), np.int64), "reverse": np.tile(np.arange(length), (count, 1)),
        "durations": np.zeros((count, length), np.float32), "known": np.zeros((count, length), bool),
        "clause_voice": np.stack([s.voice for s, _, _ in clauses]), "voice": np.stack([s.voice for s in sentences]),
        "units": np.zeros((size, most), np.int64), "place": np.zeros((size, most, acoustic.PLACES), np.float32),
        "mel": np.zeros((size, most * acoustic.FRAMES, acoustic.MELS), np.float32),
        "prosody": np.zeros((size, most, acoustic.FRAMES, 3), np.float32), "heard": np.zeros((size, most), bool),
    }  # fmt: skip
    numbers: dict[int, list[NDArray[np.int64]]] = {id(s): [] for s in sentences}
    for row, (s, a, b) in enumerate(clauses):
        out["tokens"][row, : b - a] = s.tokens[a:b]
        out["reverse"][row, : b - a] = np.arange(b - a)[::-1]
        out["durations"][row, : b - a] = np.log(s.units[a:b] * s.speed)
        out["known"][row, : b - a] = True
        if a == 0:
            out["known"][row, 0] = False  # the pad in front was shortened at random: the caller decides about it
        numbers[id(s)].append(row * length + np.arange(b - a))
    for row, s in enumerate(sentences):
        n = int(s.units.sum())
        out["units"][row, :n] = np.repeat(np.concatenate(numbers[id(s)]), s.units)
        out["place"][row, :n] = places(s.units)
        out["mel"][row, : n * acoustic.FRAMES] = s.mel
        out["prosody"][row, :n] = s.prosody.reshape(n, acoustic.FRAMES, 3)
        out["heard"][row, :n] = True
    return Batch(**{f.name: torch.from_numpy(out[f.name]) for f in fields(Batch)})


def batches(folder: Path, sources: list[str], units: int, rng: np.random.Generator) -> Iterator[Batch]:
    """Batches of about `units` units, sentences of like length together. Never ends."""
    stores = [Store(folder / s.split("=")[0]) for s in sources]
    weights = np.array([float(s.split("=")[1]) for s in sources])
    pools = [s.training() for s in stores]
    while True:
        which = rng.choice(len(stores), 256, p=weights / weights.sum())
        drawn = [(stores[w], pools[w][rng.integers(len(pools[w]))]) for w in which]
        drawn.sort(key=lambda d: d[0].frame_at[d[1] + 1] - d[0].frame_at[d[1]])
        groups: list[list[tuple[Store, int]]] = [[]]
        for store, i in drawn:
            size = (store.frame_at[i + 1] - store.frame_at[i]) // acoustic.FRAMES
            if groups[-1] and (len(groups[-1]) + 1) * size > units:
                groups.append([])
            groups[-1].append((store, i))
        for g in rng.permutation(len(groups)):
            yield collate([sentence(store, i, rng) for store, i in groups[g]])
