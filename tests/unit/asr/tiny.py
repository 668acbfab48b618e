"""A language model of a few words, random log-probabilities, and an oracle that tries every sentence there is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from speech.asr.graph import Graph

from models.asr.backoff import Backoff, renormalise
from models.asr.graph import VARIANT_COST, Lexicon, compile_graph

PHONES = ["<b>", "k", "æ", "t", "s"]
WORDS = ["<unk>", "<s>", "</s>", "at", "cat", "cats", "sat", "tack"]
LEXICON: Lexicon = {
    "at": [bytes([2, 3]), bytes([3])],  # a reduced form of one phone
    "cat": [bytes([1, 2, 3])],
    "cats": [bytes([1, 2, 3, 4])],
    "sat": [bytes([4, 2, 3])],
    "tack": [bytes([3, 2, 1]), bytes([1, 2, 3])],  # the second sounds like "cat"
}
BIGRAMS = {("<s>", "cat"): 0.4, ("cat", "sat"): 0.6, ("sat", "at"): 0.3, ("cats", "</s>"): 0.5, ("at", "cats"): 0.2}
TRIGRAMS = {("<s>", "cat", "sat"): 0.8, ("cat", "sat", "at"): 0.5, ("cat", "sat", "</s>"): 0.4}
UNIGRAMS = {"at": 0.3, "cat": 0.2, "cats": 0.1, "sat": 0.15, "tack": 0.05, "</s>": 0.2}


def language_model() -> Backoff:
    """The tables above as a back-off model whose histories sum to one."""
    number = {w: i for i, w in enumerate(WORDS)}

    def keys(table: dict[tuple[str, ...], float]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        rows = sorted(
            (sum(number[w] << 17 * i for i, w in enumerate(reversed(k))), math.log(p)) for k, p in table.items()
        )
        return np.array([r[0] for r in rows]), np.array([r[1] for r in rows])

    one = np.log([UNIGRAMS.get(w, 1e-40) for w in WORDS])
    empty = np.zeros(len(WORDS))
    bigrams = {**BIGRAMS, ("sat", "</s>"): 0.1}
    two, two_p = keys(bigrams)
    three, three_p = keys(TRIGRAMS)
    return renormalise(Backoff(WORDS, one, empty, two, two_p, np.zeros(len(two)), three, three_p))


def tiny_graph() -> Graph:
    """The compiled graph of that model."""
    return compile_graph(language_model(), LEXICON, PHONES)


def random_log_probs(seed: int, frames: int, sharpness: float = 2.0) -> npt.NDArray[np.float32]:
    """(frames, phones), normalised; the sharper, the surer."""
    logits = np.random.default_rng(seed).normal(size=(frames, len(PHONES))) * sharpness
    return (logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)).astype(np.float32)


class Oracle:
    """The cheapest sentence by trying all of them: n-grams as dictionaries, CTC as a plain alignment."""

    def __init__(self, model: Backoff, word_penalty: float, sentence_penalty: float) -> None:
        name = model.words
        self.p: dict[tuple[str, ...], float] = {(w,): -p for w, p in zip(name, model.one.tolist(), strict=True)}
        self.bow: dict[tuple[str, ...], float] = {(w,): -b for w, b in zip(name, model.one_bow.tolist(), strict=True)}
        for key, p, bow in zip(model.two.tolist(), model.two_p.tolist(), model.two_bow.tolist(), strict=True):
            self.p[name[key >> 17], name[key & 131071]] = -p
            self.bow[name[key >> 17], name[key & 131071]] = -bow
        for key, p in zip(model.three.tolist(), model.three_p.tolist(), strict=True):
            self.p[name[key >> 34], name[key >> 17 & 131071], name[key & 131071]] = -p
        self.word_penalty, self.sentence_penalty = word_penalty, sentence_penalty

    def steps(self, history: tuple[str, ...], word: str) -> Iterator[tuple[float, tuple[str, ...]]]:
        """Every way of saying `word` after `history`: at once, or after forgetting the oldest word."""
        if (*history, word) in self.p:
            yield self.p[*history, word], (*history, word)[-2:]
        if history:
            for cost, after in self.steps(history[1:], word):
                yield self.bow.get(history, 0.0) + cost, after

    def sentence(self, words: tuple[str, ...]) -> float:
        """The cheapest language-model cost of a whole utterance, which may hold several sentences."""
        paths: dict[tuple[str, ...], float] = {("<s>",): 0.0}
        for word in words:
            after: dict[tuple[str, ...], float] = {}
            for history, total in [*paths.items(), self._restart(paths)]:
                for cost, new in self.steps(history, word):
                    after[new] = min(after.get(new, math.inf), total + cost + self.word_penalty)
            paths = after
        return min(total + cost for history, total in paths.items() for cost, _ in self.steps(history, "</s>"))

    def _restart(self, paths: dict[tuple[str, ...], float]) -> tuple[tuple[str, ...], float]:
        ends = [total + cost for history, total in paths.items() for cost, _ in self.steps(history, "</s>")]
        return ("<s>",), min(ends) + self.sentence_penalty

    def best(self, log_probs: npt.NDArray[np.float32], longest: int) -> tuple[tuple[str, ...], float]:
        """The cheapest words and their cost."""
        found: list[tuple[float, tuple[str, ...]]] = []
        for n in range(longest + 1):
            for words in itertools.product(LEXICON, repeat=n):
                sounds = itertools.product(*(enumerate(LEXICON[w]) for w in words))
                acoustic = min(align(log_probs, s) + VARIANT_COST * sum(v > 0 for v, _ in s) for s in sounds)
                if acoustic < math.inf:
                    found.append((acoustic + self.sentence(words), words))
        cost, words = min(found)
        return words, cost


def align(log_probs: npt.NDArray[np.float32], sounds: tuple[tuple[int, bytes], ...]) -> float:
    """The cheapest CTC alignment of the phones: Graves et al. 2006, with the maximum in place of the sum."""
    labels = [0]
    for phone in b"".join(s for _, s in sounds):
        labels += [phone, 0]
    costs, first = [math.inf] * len(labels), True
    for row in (-log_probs.astype(float)).tolist():
        new = []
        for i, label in enumerate(labels):
            before = [costs[i], costs[i - 1] if i else math.inf]
            if i > 1 and label and label != labels[i - 2]:
                before.append(costs[i - 2])
            if first:
                before = [0.0 if i < 2 else math.inf]
            new.append(min(before) + row[label])
        costs, first = new, False
    return min(costs[-2:])
