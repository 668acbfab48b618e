"""A back-off trigram model: mixed from several models, pruned by relative entropy, scored, read and written as ARPA."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from models.asr.ngram import BITS, MASK, START, UNKNOWN, Floats, Ints, KneserNey, Tokens, begins, find, pairs, suffixes

NEVER = -99.0


@dataclass(frozen=True)
class Backoff:
    """Natural logarithms: `log p(w|h)` of the listed n-grams, and the weight of each history for all other words."""

    words: list[str]
    one: Floats  # [words]
    one_bow: Floats
    two: Ints  # sorted keys
    two_p: Floats
    two_bow: Floats
    three: Ints
    three_p: Floats

    def score(self, keys: Ints, order: int = 3) -> Floats:
        """log p(w|h) of n-grams of one order."""
        if order == 1:
            return self.one[keys]
        own, values = (self.two, self.two_p) if order == 2 else (self.three, self.three_p)
        at, seen = find(own, keys)
        lower = self.score(suffixes(keys, order), order - 1) + self.weight(keys >> BITS, order - 1)
        return np.where(seen, values[at], lower) if len(own) else lower

    def weight(self, history: Ints, order: int) -> Floats:
        """The back-off weight of histories of `order` words; 0 for one that is not listed."""
        if order == 1:
            return self.one_bow[history]
        at, seen = find(self.two, history)
        return np.where(seen, self.two_bow[at], 0.0)

    def perplexity(self, tokens: Tokens) -> float:
        """Per word of `<s> ... </s>` text; unknown words are left out."""
        history = pairs(tokens[:-2].astype(np.int64), tokens[1:-1])
        keys = pairs(history, tokens[2:])
        use = (tokens[2:] > START) & (tokens[1:-1] != UNKNOWN) & (tokens[:-2] != UNKNOWN)
        first = tokens[1:-1] == START
        logs = np.where(first, self.score(suffixes(keys, 3), 2), self.score(keys))
        return float(np.exp(-logs[use].mean()))


def _weights(contexts: Ints, keys: Ints, p: Floats, lower: Floats) -> Floats:
    """log of (mass the listed words leave) / (mass the shorter history gives the others), per context."""
    at, seen = find(contexts, keys >> BITS)
    listed = np.bincount(at[seen], p[seen], len(contexts))
    shorter = np.bincount(at[seen], lower[seen], len(contexts))
    return np.log(np.maximum(1 - listed, 1e-9) / np.maximum(1 - shorter, 1e-9))


def renormalise(model: Backoff) -> Backoff:
    """The same n-grams with back-off weights that make each history sum to one."""
    singles = np.arange(len(model.words))
    lower = np.exp(model.one[model.two & MASK])
    model = replace(model, one_bow=_weights(singles, model.two, np.exp(model.two_p), lower))
    lower = np.exp(model.score(suffixes(model.three, 3), 2))
    return replace(model, two_bow=_weights(model.two, model.three, np.exp(model.three_p), lower))


def mix(models: list[KneserNey], shares: list[float], words: list[str], cutoffs: list[tuple[int, int]]) -> Backoff:
    """Linear interpolation, made static; an n-gram is listed if some model saw it at least its cutoff's times.

    A cutoff is for two words and for three. Listed trigrams bring the pairs that they are made of.
    """
    seen = [m.bigrams.keys[m.bigrams.counts >= c] for m, (c, _) in zip(models, cutoffs, strict=True)]
    kept = [m.trigrams.keys[m.trigrams.counts >= c] for m, (_, c) in zip(models, cutoffs, strict=True)]
    three = np.unique(np.concatenate(kept))
    two = np.unique(np.concatenate([*seen, three >> BITS, suffixes(three, 3)]))

    def blend(keys: Ints, order: int) -> Floats:
        p = sum(s * m.probability(keys, order) for s, m in zip(shares, models, strict=True))
        return np.log(np.maximum(p, 1e-43))

    one = blend(np.arange(len(words)), 1)
    empty = np.zeros(len(two))
    return renormalise(Backoff(words, one, np.zeros(len(words)), two, blend(two, 2), empty, three, blend(three, 3)))


def _losses(keys: Ints, p: Floats, lower: Floats, share: Floats) -> Floats:
    """Growth of the relative entropy when each n-gram alone is dropped: Stolcke 1998, equation 5."""
    begin = begins(keys >> BITS)
    where = np.repeat(np.arange(len(begin)), np.diff(begin, append=len(keys)))
    left = np.maximum(1 - np.add.reduceat(p, begin), 1e-9)
    below = np.maximum(1 - np.add.reduceat(lower, begin), 1e-9)
    old = np.log(left / below)
    new = np.log((left[where] + p) / (below[where] + lower))
    change = p * (np.log(lower) + new - np.log(p)) + left[where] * (new - old[where])
    return -share[where] * change


def prune(model: Backoff, models: list[KneserNey], shares: list[float], threshold: float, bigrams: float) -> Backoff:
    """Drops n-grams whose loss is under the threshold (bigrams: under their own, and no kept trigram's history).

    Histories weigh by how often the text has them: a Kneser-Ney model's own lower orders are no such measure.
    """

    def share(history: Ints, order: int) -> Floats:
        return np.sum([s * m.share(history, order) for s, m in zip(shares, models, strict=True)], axis=0)

    lower = np.exp(model.score(suffixes(model.three, 3), 2))
    loss = _losses(model.three, np.exp(model.three_p), lower, share(np.unique(model.three >> BITS), 2))
    keep = loss >= threshold
    model = replace(model, three=model.three[keep], three_p=model.three_p[keep])
    lower = np.exp(model.one[model.two & MASK])
    loss = _losses(model.two, np.exp(model.two_p), lower, share(np.unique(model.two >> BITS), 1))
    keep = (loss >= bigrams) | np.isin(model.two, model.three >> BITS)
    model = replace(model, two=model.two[keep], two_p=model.two_p[keep], two_bow=model.two_bow[keep])
    return renormalise(model)


def _lines(model: Backoff) -> Iterator[str]:
    words, ten = model.words, np.log(10.0)
    yield f"\\data\\\nngram 1={len(words)}\nngram 2={len(model.two)}\nngram 3={len(model.three)}\n\n\\1-grams:\n"
    for i, word in enumerate(words):
        p = NEVER if i in (START, UNKNOWN) else model.one[i] / ten
        yield f"{p:.4f}\t{word}\t{model.one_bow[i] / ten:.4f}\n"
    yield "\n\\2-grams:\n"
    for key, p, bow in zip(model.two.tolist(), model.two_p / ten, model.two_bow / ten, strict=True):
        yield f"{p:.4f}\t{words[key >> BITS]} {words[key & MASK]}\t{bow:.4f}\n"
    yield "\n\\3-grams:\n"
    for key, p in zip(model.three.tolist(), model.three_p / ten, strict=True):
        yield f"{p:.4f}\t{words[key >> 2 * BITS]} {words[key >> BITS & MASK]} {words[key & MASK]}\n"
    yield "\n\\end\\\n"


def write_arpa(model: Backoff, path: Path) -> None:
    """Writes the model in ARPA format, gzip-compressed."""
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=5) as file:
        file.writelines(_lines(model))


def read_arpa(path: Path) -> Backoff:
    """Reads a gzip-compressed ARPA trigram file whose first unigrams are `<unk>`, `<s>` and `</s>`."""
    words: list[str] = []
    number: dict[str, int] = {}
    found: dict[int, list[tuple[int, float, float]]] = {1: [], 2: [], 3: []}
    order = 0
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line.startswith("\\"):
                order = int(line[1]) if line[1].isdigit() else 0
            elif order and "\t" in line:
                p, text, *bow = line.rstrip("\n").split("\t")
                if order == 1:
                    number[text] = len(words)
                    words.append(text)
                key = 0
                for word in text.split(" "):
                    key = key << BITS | number[word]
                found[order].append((key, float(p), float(bow[0]) if bow else 0.0))
    assert words[:3] == ["<unk>", "<s>", "</s>"], "the first unigrams must be <unk>, <s> and </s>"
    table = {n: sorted(rows) for n, rows in found.items()}
    keys = {n: np.array([r[0] for r in rows], np.int64) for n, rows in table.items()}
    p, bow = ({n: np.array([r[c] for r in rows]) * np.log(10.0) for n, rows in table.items()} for c in (1, 2))
    return Backoff(words, p[1], bow[1], keys[2], p[2], bow[2], keys[3], p[3])
