"""Letter-to-sound: guesses the phones of an unseen word with a joint n-gram learned from a pronunciation lexicon.

Letters and phones are aligned by expectation maximisation (each letter takes 0 to 2 phones), and an n-gram over the
(letter, phones) pairs is read with a beam search: Bisani and Ney, "Joint-sequence models for grapheme-to-phoneme
conversion", Speech Communication 2008, with Witten-Bell interpolation instead of their discounting.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable

Pair = tuple[str, str]  # one letter and the phones it stands for, "" to three characters
SPANS = (0, 1, 2, 3)
FLOOR = 1e-6


def _viterbi(word: str, phones: str, cost: dict[Pair, float]) -> list[Pair] | None:
    """The cheapest way of sharing out `phones` among the letters of `word`; None when they do not fit."""
    unseen = -math.log(FLOOR)
    best: dict[int, tuple[float, list[Pair]]] = {0: (0.0, [])}
    for letter in word:
        after: dict[int, tuple[float, list[Pair]]] = {}
        for used, (total, path) in best.items():
            for span in SPANS:
                end = used + span
                if end > len(phones):
                    break
                pair = (letter, phones[used:end])
                here = total + cost.get(pair, unseen + 4.0 * span)
                if end not in after or here < after[end][0]:
                    after[end] = (here, [*path, pair])
        best = after
    return best[len(phones)][1] if len(phones) in best else None


def _first_guess(entries: list[tuple[str, str]]) -> dict[Pair, float]:
    """Costs from letters and phones that stand at the same relative place in their words."""
    counts: Counter[Pair] = Counter()
    totals: Counter[str] = Counter()
    for word, phones in entries:
        for i, letter in enumerate(word):
            centre = round(i * (len(phones) - 1) / max(1, len(word) - 1))
            for j, share in ((centre - 1, 1), (centre, 2), (centre + 1, 1)):
                if 0 <= j < len(phones):
                    counts[letter, phones[j]] += share
                    totals[letter] += share
    costs = {pair: -math.log(n / totals[pair[0]]) for pair, n in counts.items()}
    costs.update({(letter, ""): 2.5 for letter in totals})
    return costs


def align(entries: list[tuple[str, str]], rounds: int = 4, sample: int = 15000) -> list[list[Pair]]:
    """Aligned pairs of every entry that can be aligned; costs are re-estimated `rounds` times on a sample."""
    step = max(1, len(entries) // sample)
    cost = _first_guess(entries[::step])
    for _ in range(rounds):
        counts: Counter[Pair] = Counter()
        for word, phones in entries[::step]:
            counts.update(_viterbi(word, phones, cost) or [])
        totals: Counter[str] = Counter()
        for (letter, _phones), n in counts.items():
            totals[letter] += n
        cost = {pair: -math.log(n / totals[pair[0]]) for pair, n in counts.items() if n > 1}
    aligned = (_viterbi(word, phones, cost) for word, phones in entries)
    return [pairs for pairs in aligned if pairs]


class LetterToSound:
    """A joint n-gram over (letter, phones) pairs; `pronounce(word)` gives the likeliest phone string."""

    def __init__(self, entries: Iterable[tuple[str, str]], order: int = 7) -> None:
        self.order = order
        self.counts: dict[tuple[Pair, ...], Counter[Pair]] = defaultdict(Counter)
        self.choices: dict[str, set[Pair]] = defaultdict(set)
        for pairs in align([(w, p) for w, p in entries if w.isalpha() and p]):
            self._count([*pairs, ("$", "")])
        seen = self.counts[()]
        for pair, n in seen.items():
            if n > 3:
                self.choices[pair[0]].add(pair)

    def _count(self, pairs: list[Pair]) -> None:
        history: tuple[Pair, ...] = (("^", ""),)
        for pair in pairs:
            for k in range(len(history) + 1):
                self.counts[history[k:]][pair] += 1
            history = (*history, pair)[-(self.order - 1) :]

    def _probability(self, pair: Pair, history: tuple[Pair, ...]) -> float:
        value = FLOOR
        for k in range(len(history), -1, -1):
            seen = self.counts.get(history[k:])
            if not seen:
                break
            total, kinds = seen.total(), len(seen)
            value = (seen[pair] + kinds * value) / (total + kinds)
        return value

    def pronounce(self, word: str, beam: int = 8) -> str:
        """The phones of `word` (lower-case letters)."""
        hypotheses: list[tuple[float, str, tuple[Pair, ...]]] = [(0.0, "", (("^", ""),))]
        for letter in [*word, "$"]:
            grown: dict[tuple[str, tuple[Pair, ...]], float] = {}
            for score, phones, history in hypotheses:
                for pair in self.choices[letter]:
                    total = score + math.log(self._probability(pair, history))
                    key = (phones + pair[1], (*history, pair)[-(self.order - 1) :])
                    grown[key] = max(total, grown.get(key, -math.inf))
            ranked = sorted(((s, p, h) for (p, h), s in grown.items()), reverse=True)
            hypotheses = ranked[:beam]
        return hypotheses[0][1] if hypotheses else ""
