"""Trains the letter-to-sound model: a joint n-gram with interpolated Kneser-Ney smoothing, counted with sorted hashes.

Chen and Goodman, "An empirical study of smoothing techniques for language modeling", 1999, equation 24. Rare n-grams
are dropped afterwards and the back-off weights made to fit what is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from speech.pronunciation.joint import END, START, STEP, JointModel, Level, fold, history_hashes, keys, mix

from models.tts.alignment import Aligner, Entry, Pair


@dataclass(frozen=True)
class Counts:
    """The different n-grams with k pairs of history; one entry each."""

    key: np.ndarray  # 64-bit hash, sorted
    at: np.ndarray  # a position in the corpus where it stands
    count: np.ndarray  # how often, or (below the highest order) after how many different pairs


def train(entries: Sequence[Entry], order: int, rounds: int, keep: Sequence[int], rarest: int) -> JointModel:
    """A model of `entries`; `keep[k]`: an n-gram with k pairs of history stays if it was seen so often.

    Pairs seen less than `rarest` times, and the words that need them, are left out.
    """
    aligner = Aligner(entries)
    aligner.fit(rounds)
    words = _without_rare(aligner.aligned(), rarest)
    pairs: list[Pair] = [("", ""), (END, ""), *sorted({pair for word in words for pair in word})]
    number = {pair: i for i, pair in enumerate(pairs)}
    sequences = [[number[pair] for pair in word] + [number[END, ""]] for word in words]
    levels = _levels(*_positions(sequences, order), len(pairs), keep)
    return JointModel.of([letter for letter, _ in pairs], [phones for _, phones in pairs], levels)


def _without_rare(words: list[list[Pair]], rarest: int) -> list[list[Pair]]:
    seen = Counter(pair for word in words for pair in word)
    return [word for word in words if all(seen[pair] >= rarest for pair in word)]


def _positions(sequences: list[list[int]], order: int) -> tuple[np.ndarray, np.ndarray]:
    """Every pair (n,) and hashes of the histories before it (order, n)."""
    width = order - 1
    flat = np.concatenate([np.array([START] * width + word) for word in sequences])
    real = np.concatenate([np.array([False] * width + [True] * len(word)) for word in sequences])
    at = np.flatnonzero(real)
    history = flat[at[:, None] - np.arange(1, width + 1)[None, :]]
    return flat[at], history_hashes(history)


def _count(pair: np.ndarray, hashes: np.ndarray) -> list[Counts]:
    """N-grams of every order, the highest counted as they stand, the others by what comes before them."""
    levels: list[Counts] = []
    at = np.arange(len(pair))
    for k in range(len(hashes) - 1, -1, -1):
        key, first, count = np.unique(mix(hashes[k][at], pair[at]), return_index=True, return_counts=True)
        levels.insert(0, Counts(key, at[first], count))
        at = at[first]
    return levels


def _levels(pair: np.ndarray, hashes: np.ndarray, pairs: int, keep: Sequence[int]) -> list[Level]:
    levels: list[Level] = []
    below_key, below_p = np.array([], np.uint64), np.array([])
    for k, own in enumerate(_count(pair, hashes)):
        history = hashes[k][own.at]
        names, group = np.unique(history, return_inverse=True)
        discount = _discount(own.count)
        total = np.bincount(group, own.count)
        left = discount * np.bincount(group) / total
        shorter = _shorter(k, own, pair, hashes, below_key, below_p, pairs)
        p = (own.count - discount) / total[group] + left[group] * shorter
        stays = own.count >= keep[k]
        kept, kept_below = (np.bincount(group[stays], x[stays], len(names)) for x in (p, shorter))
        backoff = np.maximum(1 - kept, 1e-6) / np.maximum(1 - kept_below, 1e-6)
        used = np.bincount(group[stays], minlength=len(names)) > 0
        levels.append(_level(keys(history[stays], pair[own.at[stays]]), p[stays], fold(names[used]), backoff[used]))
        below_key, below_p = own.key, p
    return levels


def _discount(count: np.ndarray) -> float:
    once, twice = int((count == 1).sum()), int((count == 2).sum())
    return once / (once + 2 * twice) if once and twice else 0.5


def _shorter(
    k: int, own: Counts, pair: np.ndarray, hashes: np.ndarray, key: np.ndarray, p: np.ndarray, pairs: int
) -> np.ndarray:
    """Probability of each n-gram with one pair of history less."""
    if k == 0:
        return np.full(len(own.key), 1 / pairs)
    return p[np.searchsorted(key, mix(hashes[k - 1][own.at], pair[own.at]))]


def _level(key: np.ndarray, p: np.ndarray, history: np.ndarray, backoff: np.ndarray) -> Level:
    by_key, by_history = np.argsort(key, kind="stable"), np.argsort(history, kind="stable")
    return Level(key[by_key], _bytes(p[by_key]), history[by_history], _bytes(backoff[by_history]))


def _bytes(p: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(-np.log(p) / STEP), 0, 255).astype(np.uint8)
