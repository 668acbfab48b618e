"""Modified Kneser-Ney trigram models, counted and estimated with sorted arrays.

Chen and Goodman, "An empirical study of smoothing techniques for language modeling", 1998, section 3 (interpolated
form). An n-gram is one integer: word numbers of `BITS` bits, the predicted word lowest. Text may be longer than memory
has room for all its n-grams: they are counted a range of first words at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Tokens = npt.NDArray[np.int32]  # running text as word numbers

BITS = 17
MASK = (1 << BITS) - 1
UNKNOWN, START, END = 0, 1, 2  # word numbers of <unk>, <s>, </s>; words follow
AT_ONCE = 1 << 26  # n-grams that are sorted at once


@dataclass(frozen=True)
class Table:
    """Counted n-grams of one order: sorted keys and how often each occurs."""

    keys: Ints
    counts: Counts


def pairs(history: Ints, word: Ints | Tokens) -> Ints:
    """The keys of n-grams made of a history's key and a word."""
    return (history << BITS) | word


def suffixes(keys: Ints, order: int) -> Ints:
    """The keys of the n-grams without their first word."""
    return keys & ((1 << (BITS * (order - 1))) - 1)


def begins(ordered: Ints) -> Ints:
    """Where each new value begins in a sorted array."""
    return np.flatnonzero(np.concatenate([[len(ordered) > 0], ordered[1:] != ordered[:-1]])[: len(ordered)])


def tally(keys: Ints) -> Table:
    """Sorts and counts."""
    ordered = np.sort(keys)
    first = begins(ordered)
    return Table(ordered[first], np.diff(first, append=len(ordered)).astype(np.int32))


def find(keys: Ints, wanted: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Where `wanted` stand in sorted `keys`, and which of them are there at all."""
    at = np.searchsorted(keys, wanted)
    at = np.minimum(at, max(0, len(keys) - 1))
    return at, (keys[at] == wanted) if len(keys) else np.zeros(len(wanted), bool)


def _gather(tokens: Tokens, usable: npt.NDArray[np.bool_], order: int, at_once: int) -> Table:
    """Counts the n-grams that begin where `usable` says, about `at_once` of them at a time."""
    first = tokens[: len(usable)]
    part = np.cumsum(np.bincount(first[usable], minlength=1)) // at_once  # of each first word
    tables = []
    for n in np.unique(part):
        low, high = np.searchsorted(part, [n, n + 1])
        at = np.flatnonzero(usable & (first >= low) & (first < high))
        keys = tokens[at].astype(np.int64)
        for k in range(1, order):
            keys = pairs(keys, tokens[at + k])
        tables.append(tally(keys))
    return Table(np.concatenate([t.keys for t in tables]), np.concatenate([t.counts for t in tables]))


def count(tokens: Tokens, at_once: int = AT_ONCE) -> tuple[Table, Table, Table]:
    """Counts of one, two and three words in running text `<s> ... </s> <s> ... </s>`; unknown words are no n-gram."""
    known = tokens != UNKNOWN
    predicted = known & (tokens != START)
    two = predicted[1:] & known[:-1]
    three = two[1:] & known[:-2] & (tokens[1:-1] != START)
    one, double, triple = (_gather(tokens, at, n, at_once) for n, at in ((1, predicted), (2, two), (3, three)))
    return one, double, triple


def _continuations(bigrams: Table, trigrams: Table) -> Table:
    """In how many contexts a pair of words was seen; pairs after `<s>` have none, so their own count stands."""
    found = tally(suffixes(trigrams.keys, 3))
    first = (bigrams.keys >> BITS) == START
    keys = np.concatenate([found.keys, bigrams.keys[first]])
    counts = np.concatenate([found.counts, bigrams.counts[first]])
    order = np.argsort(keys, kind="stable")
    return Table(keys[order], counts[order])


def _discounts(counts: Counts) -> Floats:
    """Discounts of n-grams seen once, twice, and more often (their equation 26); index 0 is unused."""
    n = [max(1.0, float((counts == k).sum())) for k in range(1, 5)]
    y = n[0] / (n[0] + 2 * n[1])
    values = [k - (k + 1) * y * n[k] / n[k - 1] for k in (1, 2, 3)]
    return np.array([0.0, *np.clip(values, [0.1, 0.2, 0.3], [0.95, 1.9, 2.9])])


@dataclass(frozen=True)
class Level:
    """One order of an interpolated model: `p(w|h) = own(hw) + left(h) * p_lower(w|shorter h)`."""

    table: Table
    discounts: Floats
    contexts: Ints
    total: Floats
    left: Floats

    def probability(self, keys: Ints, lower: Floats) -> Floats:
        """p(word | history) of n-grams, seen or not, given what a shorter history says."""
        at, known = find(self.contexts, keys >> BITS)
        left, total = np.where(known, self.left[at], 1.0), self.total[at]
        at, seen = find(self.table.keys, keys)
        counts = self.table.counts[at]
        own = (counts - self.discounts[np.minimum(counts, 3)]) / total
        found: Floats = np.where(seen, own, 0.0) + left * lower
        return found


def _level(table: Table) -> Level:
    discounts = _discounts(table.counts)
    begin = begins(table.keys >> BITS)
    total = np.add.reduceat(table.counts, begin, dtype=np.int64).astype(float)
    left = np.add.reduceat(discounts[np.minimum(table.counts, 3)], begin) / total
    return Level(table, discounts, table.keys[begin] >> BITS, total, left)


class KneserNey:
    """An interpolated modified Kneser-Ney trigram model over `size` word numbers."""

    def __init__(self, tokens: Tokens, size: int) -> None:
        self.unigrams, self.bigrams, self.trigrams = count(tokens)
        self.total = int(self.unigrams.counts.sum())
        lower = tally(suffixes(self.bigrams.keys, 2))
        self.one = self._unigram(lower, size)
        self.two = _level(_continuations(self.bigrams, self.trigrams))
        self.three = _level(self.trigrams)

    @staticmethod
    def _unigram(table: Table, size: int) -> Floats:
        discount = _discounts(table.counts)[np.minimum(table.counts, 3)]
        words = size - 2  # neither <unk> nor <s> is ever predicted
        p = np.full(size, discount.sum() / table.counts.sum() / words)
        p[table.keys] += (table.counts - discount) / table.counts.sum()
        p[[UNKNOWN, START]] = 0.0
        return p / p.sum()

    def probability(self, keys: Ints, order: int) -> Floats:
        """p(word | history) of n-grams of one order, seen or not."""
        if order == 1:
            return self.one[keys]
        level = self.two if order == 2 else self.three
        return level.probability(keys, self.probability(suffixes(keys, order), order - 1))

    def share(self, history: Ints, order: int) -> Floats:
        """How often a history of `order` words comes up, of all words predicted."""
        table = self.unigrams if order == 1 else self.bigrams
        at, seen = find(table.keys, history)
        return np.where(seen, table.counts[at] / self.total, 0.0)
