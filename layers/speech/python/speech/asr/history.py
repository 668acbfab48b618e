"""The words behind the tokens: a forest of links from each word to the one before it, kept as small as it can be."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

STREAM, PREVIOUS, WORD, BEGIN, END, FIT, MARGIN = range(7)  # rows of links
NONE = -1
FAR = np.iinfo(np.int64).max
DEPTH = 12  # words that two histories are followed back
NEAR = 4  # frames between the ends of what is the same word in two histories


def swept(links: Ints, stream: Ints, heads: Ints, settled: Ints) -> tuple[Ints, Ints, Ints]:
    """Links without those that no head leads to: links, heads, and how many leading links all heads of a stream share.

    `links` (7, n) are sorted by stream, each after the link before it; PREVIOUS and `heads` count within the stream.
    The first `settled[s]` links of stream s are known to be shared. What is kept does not depend on when one sweeps.
    """
    offsets = links[STREAM].searchsorted(np.arange(len(settled)))
    base = offsets[links[STREAM]]
    # Numbered over all streams, with the place before a stream's first link for NONE.
    previous, ends = links[PREVIOUS] + base, heads + offsets[stream]
    alive = _alive(previous, base, ends[heads != NONE], np.arange(len(base)) - base < settled[links[STREAM]])
    rank = np.append(0, np.cumsum(alive))
    heads = rank[ends + 1] - rank[offsets[stream]] - 1
    links[PREVIOUS] = rank[previous + 1] - rank[base] - 1
    links = links[:, alive]
    return links, heads, _shared(links, stream, heads, len(settled))


def _alive(previous: Ints, base: Ints, ends: Ints, alive: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """`alive` with all links that lead to the ends."""
    edge = np.unique(ends)
    edge = edge[~alive[edge]]
    while len(edge):
        alive[edge] = True
        inner = previous[edge] >= base[edge]
        edge = previous[edge][inner]
        edge = edge[~alive[edge]]
    return alive


def _shared(links: Ints, stream: Ints, heads: Ints, n: int) -> Ints:
    """How many leading links all heads of each stream have in common: (n,)."""
    offsets = links[STREAM].searchsorted(np.arange(n))
    lowest = np.full(n, FAR)
    np.minimum.at(lowest, stream, heads + offsets[stream])
    # A link is common if nothing after it leads past it. Later streams never interfere: all they have is later still.
    after = np.minimum.accumulate(np.append(links[PREVIOUS] + offsets[links[STREAM]], FAR)[::-1])[::-1][1:]
    common = np.minimum(after, lowest[links[STREAM]]) >= np.arange(len(after))
    return np.bincount(links[STREAM][common], minlength=n)


def contest(links: Ints, rivals: Ints, n: int) -> None:
    """Lowers MARGIN of the words that a rival history lacks to the cost between the two.

    `rivals` are rows stream (of n), winner, loser, cost, and others. Both are followed back to where they part.
    """
    offsets = links[STREAM].searchsorted(np.arange(n))
    base = offsets[rivals[0]]
    ours, theirs, cost = rivals[1] + base, rivals[2] + base, rivals[3]
    previous = links[PREVIOUS] + offsets[links[STREAM]]
    for _ in range(DEPTH):
        # Of two different links, the later cannot be an ancestor of the other. A place before `base` is the beginning.
        on = (ours != theirs).nonzero()[0]
        ours, theirs, cost, base = ours[on], theirs[on], cost[on], base[on]
        if not len(on):
            return
        a, b = np.maximum(ours, base), np.maximum(theirs, base)
        there = (ours >= base) & (theirs >= base) & (links[WORD, a] == links[WORD, b])
        same = there & (np.abs(links[END, a] - links[END, b]) <= NEAR)
        back = same | (ours > theirs)
        lost = (back & ~same).nonzero()[0]
        np.minimum.at(links[MARGIN], ours[lost], cost[lost])
        ours, theirs = np.where(back, previous[a], ours), np.where(same | ~back, previous[b], theirs)


def trace(links: npt.NDArray[np.int32], head: int) -> list[int]:
    """The links that lead to `head`, the oldest first; `links` are one stream's, without the row STREAM."""
    previous = links[PREVIOUS - 1].tolist()
    path = []
    while head != NONE:
        path.append(head)
        head = previous[head]
    return path[::-1]
