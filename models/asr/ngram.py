"""Modified Kneser-Ney trigram models, counted and estimated with sorted arrays.

Chen and Goodman, "An empirical study of smoothing techniques for language modeling", 1998, section 3 (interpolated
form). An n-gram is one integer: word numbers of `BITS` bits, the predicted word lowest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

BITS = 17
MASK = (1 << BITS) - 1
UNKNOWN, START, END = 0, 1, 2  # word numbers of <unk>, <s>, </s>; words follow


@dataclass(frozen=True)
class Table:
    """Counted n-grams of one order: sorted keys and how often each occurs."""

    keys: Ints
    counts: Ints


def pairs(history: Ints, word: Ints) -> Ints:
    """The keys of n-grams made of a history's key and a word."""
    return (history << BITS) | word


def suffixes(keys: Ints, order: int) -> Ints:
    """The keys of the n-grams without their first word."""
    return keys & ((1 << (BITS * (order - 1))) - 1)


def tally(keys: Ints) -> Table:
    """Sorts and counts."""
    return Table(*np.unique(keys, return_counts=True))


def find(keys: Ints, wanted: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Where `wanted` stand in sorted `keys`, and which of them are there at all."""
    at = np.searchsorted(keys, wanted)
    at = np.minimum(at, max(0, len(keys) - 1))
    return at, (keys[at] == wanted) if len(keys) else np.zeros(len(wanted), bool)


def count(tokens: Ints) -> tuple[Table, Table, Table]:
    """Counts of one, two and three words in running text `<s> ... </s> <s> ... </s>`; unknown words are no n-gram."""
    known = tokens != UNKNOWN
    predicted = known & (tokens != START)
    two = predicted[1:] & known[:-1]
    bigrams = pairs(tokens[:-1], tokens[1:])
    three = two[1:] & known[:-2] & (tokens[1:-1] != START)
    trigrams = pairs(bigrams[:-1], tokens[2:])
    return tally(tokens[predicted]), tally(bigrams[two]), tally(trigrams[three])


def _continuations(bigrams: Table, trigrams: Table) -> Table:
    """In how many contexts a pair of words was seen; pairs after `<s>` have none, so their own count stands."""
    found = tally(suffixes(trigrams.keys, 3))
    first = (bigrams.keys >> BITS) == START
    keys = np.concatenate([found.keys, bigrams.keys[first]])
    counts = np.concatenate([found.counts, bigrams.counts[first]])
    order = np.argsort(keys, kind="stable")
    return Table(keys[order], counts[order])


def _discounts(counts: Ints) -> Floats:
    """Discounts of n-grams seen once, twice, and more often (their equation 26); index 0 is unused."""
    n = [max(1.0, float((counts == k).sum())) for k in range(1, 5)]
    y = n[0] / (n[0] + 2 * n[1])
    values = [k - (k + 1) * y * n[k] / n[k - 1] for k in (1, 2, 3)]
    return np.array([0.0, *np.clip(values, [0.1, 0.2, 0.3], [0.95, 1.9, 2.9])])


@dataclass(frozen=True)
class Level:
    """One order of an interpolated model: `p(w|h) = own(hw) + left(h) * p_lower(w|shorter h)`."""

    keys: Ints
    own: Floats
    contexts: Ints
    left: Floats


def _level(table: Table) -> Level:
    discount = _discounts(table.counts)[np.minimum(table.counts, 3)]
    contexts, begin = np.unique(table.keys >> BITS, return_index=True)
    total = np.add.reduceat(table.counts, begin).astype(float)
    where = np.searchsorted(contexts, table.keys >> BITS)
    own = (table.counts - discount) / total[where]
    return Level(table.keys, own, contexts, np.add.reduceat(discount, begin) / total)


class KneserNey:
    """An interpolated modified Kneser-Ney trigram model over `size` word numbers."""

    def __init__(self, tokens: Ints, size: int) -> None:
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
        lower = self.probability(suffixes(keys, order), order - 1)
        at, seen = find(level.contexts, keys >> BITS)
        left = np.where(seen, level.left[at], 1.0)
        at, seen = find(level.keys, keys)
        return np.where(seen, level.own[at], 0.0) + left * lower

    def share(self, history: Ints, order: int) -> Floats:
        """How often a history of `order` words comes up, of all words predicted."""
        table = self.unigrams if order == 1 else self.bigrams
        at, seen = find(table.keys, history)
        return np.where(seen, table.counts[at] / self.total, 0.0)
