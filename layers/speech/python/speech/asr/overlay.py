"""A stream's own phrases beside the decoding graph: a small prefix tree that every word may be followed by.

The tree has one root, the entrance, which all roots of the graph lead to at the same cost: a phrase is as likely after
one word as after another, like a word of a class whose words nobody has counted. Inside, only sounds cost, so a phrase
is favoured from its first phone on; but a path leaves the tree by the phrase's last phone alone. Where a phrase is not
completed, nothing of the favour is left, since the same sounds went through the graph beside it without.

States and arcs of the tree are numbered after the graph's. Arcs have the graph's form (`speech.asr.graph`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from speech.asr.graph import NO_WORD, Graph

Ints = npt.NDArray[np.int64]
Step = tuple[int, int]  # a phone, and the word that it completes or NO_WORD


@dataclass(frozen=True)
class Path:
    """One way of saying a phrase."""

    steps: tuple[Step, ...]
    target: int  # the root that it leads to
    cost: int  # beside that of entering, 1/256 nat


class Joined:
    """A column of the graph with the tree's after it, read as one; neither is copied."""

    def __init__(self, base: npt.NDArray[Any], extra: npt.NDArray[Any]) -> None:
        self._base, self._extra, self._size = base, extra, len(base)

    def __len__(self) -> int:
        return self._size + len(self._extra)

    def __getitem__(self, at: Ints) -> Ints:
        found: Ints = self._base.take(at, mode="clip").astype(np.int64)
        beyond = (at >= self._size).nonzero()[0]
        if len(beyond):
            found[beyond] = self._extra[at[beyond] - self._size]
        return found


@dataclass
class _Node:
    """Of the tree while it is built."""

    ends: dict[tuple[Step, int], int] = field(default_factory=dict)  # last step and target -> cost
    inner: dict[Step, _Node] = field(default_factory=dict)


@dataclass(frozen=True)
class OverlaidGraph:
    """A graph with phrases; columns as in `Graph`."""

    phone: Joined
    word: Joined
    target: Joined
    cost: Joined
    arcs: Joined
    start: int
    words: tuple[str, ...]
    phones: tuple[str, ...]
    entrance: int

    @classmethod
    def of(cls, base: Graph, words: Sequence[str], paths: Iterable[Path]) -> OverlaidGraph:
        """`words` are those the graph lacks; the paths number them after the graph's own."""
        first = len(base.phone)
        columns = _compiled(_tree(paths), first)
        phone, word, target, cost, arcs = (
            Joined(getattr(base, name), column)
            for name, column in zip(("phone", "word", "target", "cost", "arcs"), columns, strict=True)
        )
        return cls(phone, word, target, cost, arcs, base.start, (*base.words, *words), base.phones, first)


def _tree(paths: Iterable[Path]) -> _Node:
    root = _Node()
    for path in paths:
        node = root
        for step in path.steps[:-1]:
            node = node.inner.setdefault(step, _Node())
        end = (path.steps[-1], path.target)
        node.ends[end] = min(path.cost, node.ends.get(end, path.cost))
    return root


def _compiled(root: _Node, first: int) -> npt.NDArray[np.int32]:
    """Columns phone, word, target, cost, arcs of the tree's arcs, the root's first; numbers count from `first`."""
    nodes, at = [root], 0
    starts: dict[int, int] = {}
    while at < len(nodes):  # breadth first, so that a state's arcs stand side by side
        nodes.extend(nodes[at].inner.values())
        at += 1
    size = 0
    for node in nodes:
        starts[id(node)] = first + size
        size += len(node.ends) + len(node.inner)
    rows: list[tuple[int, int, int, int, int]] = []
    for node in nodes:
        arcs = [(*step, target, cost) for (step, target), cost in node.ends.items()]
        arcs += [(*step, starts[id(child)], 0) for step, child in node.inner.items()]
        rows += [(*arc, len(arcs) * (nth == 0)) for nth, arc in enumerate(sorted(arcs))]
    # Who looks for arcs without a phone reads one arc past a state: past the last there is one that leads nowhere.
    rows.append((1, NO_WORD, first, 0, 0))
    return np.array(rows, np.int32).T
