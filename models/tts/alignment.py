"""Shares out the phones of a word among its letters: hard expectation maximisation, many words at a time.

A letter takes zero, one or two phones; a stress mark belongs to the vowel after it. Chunks are numbered: 0 is
silence, 1 + a a single phone, 1 + P + a P + b two phones.

Glossary: n words of one length; L letters; J phones at most; P phones in the inventory (the last is padding).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

Entry = tuple[str, str]  # spelling of a to z, phonemes with stress marks
Pair = tuple[str, str]  # a letter and its phones
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
IMPOSSIBLE = 1e9
UNSEEN = 14.0


def phones_of(text: str) -> list[str]:
    """Phones with the stress marks attached: `təmˈɑɾO` -> t ə m ˈɑ ɾ O."""
    return re.findall("[ˈˌ]*[^ˈˌ ]", text)


class Aligner:
    """Costs of chunks by letter, re-estimated from its own alignments."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        inventory = sorted({p for _, phones in entries for p in phones_of(phones)})
        self.names = [*inventory, ""]
        number = {phone: i for i, phone in enumerate(inventory)}
        self.groups = _grouped(entries, number, len(inventory))
        self.cost = self._first_guess()

    def _first_guess(self) -> np.ndarray:
        """Costs (26, chunks) from letters and phones at the same relative place in their words."""
        size = len(self.names)
        seen = np.full((26, size), 0.01)
        for letters, phones, lengths in self.groups:
            for i in range(letters.shape[1]):
                place = np.rint(i * (lengths - 1) / max(1, letters.shape[1] - 1)).astype(int)
                for shift, share in ((-1, 0.5), (0, 1.0), (1, 0.5)):
                    j = np.clip(place + shift, 0, lengths - 1)
                    np.add.at(seen, (letters[:, i], phones[np.arange(len(j)), j]), share)
        single = -np.log(seen / seen.sum(1, keepdims=True))
        single[:, -1] = IMPOSSIBLE
        double = single[:, :, None] + single[:, None, :] + 2.0
        return np.concatenate([np.full((26, 1), 2.5), single, double.reshape(26, -1)], axis=1)

    def fit(self, rounds: int) -> None:
        """Re-estimate the costs `rounds` times."""
        for _ in range(rounds):
            counts = np.zeros_like(self.cost)
            for group in self.groups:
                chunks, fits = self._align(*group)
                np.add.at(counts, (group[0][fits], chunks[fits]), 1.0)
            share = counts / np.maximum(counts.sum(1, keepdims=True), 1.0)
            self.cost = np.where(counts > 1, -np.log(np.maximum(share, 1e-9)), UNSEEN)
            self.cost[:, self._padding()] = IMPOSSIBLE

    def _padding(self) -> np.ndarray:
        size = len(self.names)
        pair = np.zeros((size, size), bool)
        pair[-1, :] = pair[:, -1] = True
        return np.concatenate([[False], np.arange(size) == size - 1, pair.ravel()])

    def _align(self, letters: np.ndarray, phones: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Chunk of every letter (n, L), and which words could be aligned (n,)."""
        size, (n, width) = len(self.names), letters.shape
        twos = 1 + size + phones[:, :-1] * size + phones[:, 1:]
        best = np.full((n, phones.shape[1] + 1), IMPOSSIBLE)
        best[:, 0] = 0.0
        spans = np.zeros((width, *best.shape), np.int8)
        for i in range(width):
            letter = letters[:, i : i + 1]
            ways = np.full((3, *best.shape), IMPOSSIBLE * 2)
            ways[0] = best + self.cost[letter, 0]
            ways[1, :, 1:] = best[:, :-1] + self.cost[letter, 1 + phones]
            ways[2, :, 2:] = best[:, :-2] + self.cost[letter, twos]
            spans[i] = ways.argmin(0)
            best = ways.min(0)
        rows, j = np.arange(n), lengths.copy()
        fits = best[rows, lengths] < IMPOSSIBLE
        chunks = np.zeros((n, width), int)
        for i in range(width - 1, -1, -1):
            span = spans[i, rows, j]
            last, before = phones[rows, np.maximum(j - 1, 0)], phones[rows, np.maximum(j - 2, 0)]
            chunks[:, i] = np.choose(span, [0, 1 + last, 1 + size + before * size + last])
            j = np.maximum(j - span, 0)
        return chunks, fits

    def aligned(self) -> list[list[Pair]]:
        """Words as lists of (letter, phones), those that could be aligned."""
        out = []
        for letters, phones, lengths in self.groups:
            chunks, fits = self._align(letters, phones, lengths)
            for row, chunk in zip(letters[fits].tolist(), chunks[fits].tolist(), strict=True):
                out.append([(ALPHABET[a], self._written(c)) for a, c in zip(row, chunk, strict=True)])
        return out

    def _written(self, chunk: int) -> str:
        size = len(self.names)
        if chunk == 0:
            return ""
        if chunk <= size:
            return self.names[chunk - 1]
        first, second = divmod(chunk - 1 - size, size)
        return self.names[first] + self.names[second]


def _grouped(entries: Sequence[Entry], number: dict[str, int], padding: int) -> list[tuple[np.ndarray, ...]]:
    """Words by number of letters: letters (n, L), phones (n, J) padded, numbers of phones (n,)."""
    by_length: dict[int, list[tuple[list[int], list[int]]]] = defaultdict(list)
    for word, text in entries:
        by_length[len(word)].append(([ALPHABET.index(c) for c in word], [number[p] for p in phones_of(text)]))
    groups = []
    for rows in by_length.values():
        lengths = np.array([len(phones) for _, phones in rows])
        phones = np.full((len(rows), lengths.max() + 2), padding)
        for row, (_, own) in zip(phones, rows, strict=True):
            row[: len(own)] = own
        groups.append((np.array([letters for letters, _ in rows]), phones, lengths))
    return groups
