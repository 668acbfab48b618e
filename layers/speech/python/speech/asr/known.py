"""The pronunciations that a decoding graph holds: read off the tree of its shortest history, which has every word."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from speech.asr.graph import NO_WORD, Graph

Ints = npt.NDArray[np.int64]


class Spoken(NamedTuple):
    """A word of the graph."""

    ways: tuple[str, ...]  # its pronunciations in phones, the likeliest first
    root: int  # of the history that it leaves


class KnownWords:
    """Looks up the words of one graph; nothing is read before the first question."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @cached_property
    def numbers(self) -> dict[str, int]:
        """By word; the two entries that are no words are left out."""
        return {word: i for i, word in enumerate(self._graph.words) if i > 1}

    @cached_property
    def root(self) -> int:
        """Of the shortest history: the end of all back-offs."""
        graph, root = self._graph, self._graph.start
        while True:
            shorter = [at for at in (root, root + 1) if graph.phone[at] == 0 and graph.word[at] == NO_WORD]
            if not shorter:
                return root
            root = int(graph.target[shorter[0]])

    def find(self, wanted: Collection[int]) -> dict[int, Spoken]:
        """The words with these numbers."""
        graph, looked_for = self._graph, np.fromiter(sorted(wanted), np.int64)
        found: dict[int, list[tuple[int, str]]] = defaultdict(list)
        roots: dict[int, int] = {}
        above: list[tuple[Ints, Ints]] = []  # of each level: the phone of every node, and its parent's place
        state, cost, parent = np.array([self.root]), np.zeros(1, np.int64), np.zeros(1, np.int64)
        while len(state):
            size = graph.arcs[state].astype(np.int64)
            ends = size.cumsum()
            arc = np.arange(ends[-1]) + (state - ends + size).repeat(size)
            origin = np.arange(len(state)).repeat(size)
            use = graph.phone[arc] != 0
            arc, origin = arc[use], origin[use]
            total, word = cost[origin] + graph.cost[arc], graph.word[arc]
            for hit in np.flatnonzero(np.isin(word, looked_for)).tolist():
                number = int(word[hit])
                found[number].append((int(total[hit]), self._read(above, int(origin[hit]), int(graph.phone[arc[hit]]))))
                roots[number] = int(graph.target[arc[hit]])
            inner = np.flatnonzero(word == NO_WORD)
            parent = origin[inner]
            above.append((graph.phone[arc[inner]].astype(np.int64), parent))
            state, cost = graph.target[arc[inner]].astype(np.int64), total[inner]
        return {number: Spoken(tuple(way for _, way in sorted(ways)), roots[number]) for number, ways in found.items()}

    def _read(self, above: list[tuple[Ints, Ints]], node: int, last: int) -> str:
        """Phones from the root to the node and through an arc with the phone `last`."""
        phones = [last]
        for phone, parent in reversed(above):
            phones.append(int(phone[node]))
            node = int(parent[node])
        return "".join(self._graph.phones[phone] for phone in reversed(phones))
