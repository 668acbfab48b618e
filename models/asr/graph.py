"""Compiles lexicon and language model into the decoding graph (format: `speech.asr.graph`).

    python -m models.asr.graph --lm lm.arpa.gz --lexicon lexicon.tsv --tokens tokens.txt --out graph.bin

Each history of the language model gets the prefix tree of the words listed after it. A word's cost moves towards the
root as far as all words below can share it (weight pushing in the tropical semiring), its name stays at its last
phone. Building the states from the leaves up and keeping equal ones once makes the automaton minimal.
"""

from __future__ import annotations

import argparse
import gc
from array import array
from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import numpy as np
from speech.asr.graph import COST_PER_NAT, END, NO_WORD, Graph

from models.asr.backoff import Backoff, read_arpa
from models.asr.ngram import BITS, MASK, START
from models.asr.ngram import END as LM_END

VARIANT_COST = 0.7  # nats: a pronunciation that is not the first
LARGEST = 127.0  # nats

Arc = tuple[int, int, int, int]  # phone, word, target (roots as -1 - history), cost
Entry = tuple[bytes, int, int, int]  # phones, word, history it leads to, cost
Lexicon = dict[str, list[bytes]]


def units(nats: float) -> int:
    """A cost in the graph's whole numbers."""
    return round(min(max(nats, -LARGEST), LARGEST) * COST_PER_NAT)


def read_lexicon(path: Path, phones: list[str]) -> Lexicon:
    """Pronunciations of each word as phone numbers, the usual one first."""
    number = {p: i for i, p in enumerate(phones)}
    found: Lexicon = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        word, sounds = line.split("\t")
        found[word].append(bytes(number[p] for p in sounds.split()))
    return found


class Builder:
    """Collects states, equal ones once."""

    def __init__(self) -> None:
        self.columns = [array("B"), array("H"), array("i"), array("h")]
        self.sizes = array("B")
        self.known: dict[tuple[Arc, ...], int] = {}

    def state(self, arcs: list[Arc]) -> int:
        """The number of the state with these arcs."""
        key = tuple(sorted(arcs))
        if key not in self.known:
            self.known[key] = self.append(arcs)
        return self.known[key]

    def append(self, arcs: list[Arc]) -> int:
        """A new state, arcs without a phone first."""
        first = len(self.sizes)
        for arc in sorted(arcs):
            for column, value in zip(self.columns, arc, strict=True):
                column.append(value)
        self.sizes.extend([len(arcs), *[0] * (len(arcs) - 1)])
        return first

    def tree(self, entries: list[Entry], depth: int = 0) -> list[Arc]:
        """Arcs of the node whose entries share their first `depth` phones; entries are sorted by their phones."""
        arcs: list[Arc] = []
        for phone, group in groupby(entries, key=lambda e: e[0][depth]):
            longer: list[Entry] = []
            for entry in group:
                sounds, word, history, cost = entry
                if len(sounds) == depth + 1:
                    arcs.append((phone, word, -1 - history, cost))
                else:
                    longer.append(entry)
            if longer:
                shared = min(cost for *_, cost in longer)
                rest = [(s, w, h, c - shared) for s, w, h, c in longer]
                arcs.append((phone, NO_WORD, self.state(self.tree(rest, depth + 1)), shared))
        return arcs


class Compiler:
    """Turns the n-grams of one model into the trees of its histories."""

    def __init__(self, model: Backoff, lexicon: Lexicon) -> None:
        self.model = model
        self.builder = Builder()
        spoken = [w for w in model.words[3:] if w in lexicon]
        self.names = ("", "</s>", *spoken)
        number = {w: i for i, w in enumerate(self.names)}
        self.number = [number.get(w, NO_WORD) for w in model.words]
        self.number[LM_END] = END
        self.sounds = [lexicon.get(w, []) for w in model.words]
        singles, doubles = np.unique(model.two >> BITS).tolist(), np.unique(model.three >> BITS).tolist()
        # A history is the key of its words plus its order on top, so that () and (<unk>) differ.
        self.histories = [(0, 0), *((1, k) for k in singles), *((2, k) for k in doubles)]
        self.index = {h: i for i, h in enumerate(self.histories)}
        self.ends = {(0, 0): -float(model.one[LM_END])}
        for order, keys, logs in ((1, model.two, model.two_p), (2, model.three, model.three_p)):
            at = np.flatnonzero(keys & MASK == LM_END)
            self.ends |= {
                (order, key): -p for key, p in zip((keys[at] >> BITS).tolist(), logs[at].tolist(), strict=True)
            }

    def after(self, order: int, key: int) -> int:
        """The history that stands for the last `order` words."""
        for n in range(order, -1, -1):
            found = self.index.get((n, key & ((1 << BITS * n) - 1)))
            if found is not None:
                return found
        raise AssertionError("the empty history is always there")

    def listed(self) -> Iterator[tuple[int, list[tuple[int, float]]]]:
        """Each history with the words listed after it and their costs in nats."""
        yield 0, [(w, -p) for w, p in enumerate(self.model.one.tolist()) if w > START]
        for order, keys, logs in ((1, self.model.two, self.model.two_p), (2, self.model.three, self.model.three_p)):
            rows = zip(keys.tolist(), logs.tolist(), strict=True)
            for context, group in groupby(rows, key=lambda r: r[0] >> BITS):
                yield self.index[order, context], [(key & MASK, -p) for key, p in group]

    def backoff(self, order: int, key: int) -> float:
        """What it costs a history to forget its oldest word, in nats."""
        return -float(self.model.weight(np.array([key]), order)[0])

    def sentence_end(self, order: int, key: int) -> float:
        """What it costs a history to end the sentence, by itself or after forgetting, in nats."""
        here = self.ends.get((order, key), LARGEST)
        if not order:
            return here
        return min(here, self.backoff(order, key) + self.sentence_end(order - 1, key & ((1 << BITS * (order - 1)) - 1)))

    def root(self, history: int, words: list[tuple[int, float]]) -> list[Arc]:
        """The arcs of a history's root."""
        order, key = self.histories[history]
        arcs: list[Arc] = [(0, END, -1 - self.index[1, START], units(self.sentence_end(order, key)))]
        entries: list[Entry] = []
        if order:
            arcs.append((0, NO_WORD, -1 - self.after(order - 1, key), units(self.backoff(order, key))))
        for word, nats in words:
            target = self.after(min(order + 1, 2), key << BITS | word)
            for variant, sounds in enumerate(self.sounds[word]):
                entries.append((sounds, self.number[word], target, units(nats + VARIANT_COST * (variant > 0))))
        return arcs + self.builder.tree(sorted(entries))

    def compile(self, phones: list[str]) -> Graph:
        """The whole graph."""
        roots = np.zeros(len(self.histories), np.int64)
        for history, words in self.listed():
            roots[history] = self.builder.append(self.root(history, words))
        phone, word, target, cost = (np.array(c) for c in self.builder.columns)
        target = np.where(target < 0, roots[-1 - np.minimum(target, -1)], target).astype(np.int32)
        start = int(roots[self.index[1, START]])
        return Graph(phone, word, target, cost, np.array(self.builder.sizes), start, self.names, tuple(phones))


def compile_graph(model: Backoff, lexicon: Lexicon, phones: list[str]) -> Graph:
    """The decoding graph of a model; words without a pronunciation are left out."""
    gc.disable()  # millions of small tuples, none of them in a cycle
    try:
        return Compiler(model, lexicon).compile(phones)
    finally:
        gc.enable()


def main() -> None:
    """Reads the parts, writes the graph and prints its size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lm", type=Path, required=True)
    parser.add_argument("--lexicon", type=Path, required=True)
    parser.add_argument("--tokens", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    phones = args.tokens.read_text(encoding="utf-8").split()
    graph = compile_graph(read_arpa(args.lm), read_lexicon(args.lexicon, phones), phones)
    graph.save(args.out)
    sizes = f"{len(graph.words) - 2} words, {int((graph.arcs > 0).sum())} states, {len(graph.phone)} arcs"
    print(f"{sizes}, {args.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
