"""One frame of CTC token passing, for many streams at once: vectorised, exact in whole numbers, bound to no stream.

A token stands in a graph state after the phone `last` (0 after a blank or at the start). A frame lets it repeat the
phone, take the blank, or follow an arc whose phone differs from `last`: the CTC topology (Graves et al. 2006, section
4.1) laid over the graph as it is walked. Tokens that meet in the same place are merged, the cheaper one survives.

Everything is a whole number of 1/256 nat, tokens are kept in a fixed order, and ties go to the earlier candidate: so
results do not depend on how the frames are cut or on which streams share the batch, to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from speech.asr.graph import END, Graph

Ints = npt.NDArray[np.int64]
Array = npt.NDArray[Any]

PLACE, GAP, LINK, BEGIN, FIT = range(5)  # rows of tokens; they are sorted by PLACE
NONE = -1
IMPOSSIBLE = 1 << 30
LAST_BITS, STATE_BITS = 8, 32  # a place is stream, state and last phone
LAST_MASK, STATE_MASK = (1 << LAST_BITS) - 1, (1 << STATE_BITS) - 1
STREAM_SHIFT = LAST_BITS + STATE_BITS
EMPTY_MOVES = 3  # two back-offs and the start of a new sentence
KEY_BITS = 64  # of the integers that are sorted to merge tokens


@dataclass(frozen=True)
class Limits:
    """What pruning and the language model are told, in 1/256 nat."""

    beam: int
    max_active: int
    word: int  # cost of every word
    sentence: int  # cost of a new sentence inside an utterance, beside the language model's


class Frame(NamedTuple):
    """One frame of S streams, or many frames in rows."""

    blank: Ints  # (S,) scaled cost of the blank
    phone: Ints  # (S, phones) scaled costs; IMPOSSIBLE for the blank, and for all in a frame that is surely blank
    cheapest: Ints  # (S,) of `phone`
    fit: Ints  # (S, phones) unscaled costs
    number: Ints  # (S,) counted from the start of the segment


class Candidates(NamedTuple):
    """Places that tokens can reach in this frame; parallel arrays."""

    place: Ints
    cost: Ints
    source: Ints  # the token it comes from
    arc: Ints  # the arc followed in this frame, NONE for repetition and blank


class Completed(NamedTuple):
    """Words completed in this frame, streams in order; parallel arrays."""

    stream: Ints
    previous: Ints  # link to the word before
    word: Ints
    begin: Ints  # frame of its first phone
    end: Ints  # frame of its last phone
    fit: Ints


def empty_moves(graph: Graph, limits: Limits, edge: Candidates, ceiling: Ints) -> list[Candidates]:
    """Where candidates at roots get without consuming a frame: shorter histories, a new sentence."""
    found = []
    for _ in range(EMPTY_MOVES):
        state = edge.place >> LAST_BITS & STATE_MASK
        arc = np.concatenate([state, state + 1])  # a root has at most two such arcs, and at least two arcs in all
        use = (graph.phone[arc] == 0).nonzero()[0]
        arc, origin = arc[use], use % len(state)
        place, cost = edge.place[origin], edge.cost[origin] + graph.cost[arc]
        cost += limits.sentence * (graph.word[arc] == END)
        use = (cost <= ceiling[place >> STREAM_SHIFT]).nonzero()[0]
        if not len(use):
            break
        arc, origin, place = arc[use], origin[use], place[use]
        place += (graph.target[arc] - state[origin]) << LAST_BITS
        edge = Candidates(place, cost[use], edge.source[origin], edge.arc[origin])
        found.append(edge)
    return found


def _phone_moves(graph: Graph, tokens: Ints, frame: Frame, ceiling: Ints) -> Candidates:
    """Candidates along arcs with a phone, under the ceiling."""
    stream = tokens[PLACE] >> STREAM_SHIFT
    who = (tokens[GAP] <= (ceiling - frame.cheapest)[stream]).nonzero()[0]
    place, gap, stream = tokens[PLACE, who], tokens[GAP, who], stream[who]
    state = place >> LAST_BITS & STATE_MASK
    size = graph.arcs[state].astype(np.int64)
    ends = size.cumsum()
    arc = np.arange(ends[-1] if len(ends) else 0) + (state - ends + size).repeat(size)
    phone = graph.phone[arc]
    price = frame.phone.ravel()[(stream * frame.phone.shape[1]).repeat(size) + phone] + graph.cost[arc]
    use = (price <= (ceiling[stream] - gap).repeat(size)).nonzero()[0]
    use = use[phone[use] != (place & LAST_MASK).repeat(size)[use]]
    arc, phone = arc[use], phone[use]
    origin = np.arange(len(who)).repeat(size)[use]
    target = (stream[origin] << STATE_BITS) + graph.target[arc]
    return Candidates((target << LAST_BITS) + phone, gap[origin] + price[use], who[origin], arc)


def _candidates(graph: Graph, limits: Limits, tokens: Ints, frame: Frame) -> Candidates:
    """All that can be reached; few are behind the beam."""
    place, gap = tokens[PLACE], tokens[GAP]
    stream, last = place >> STREAM_SHIFT, place & LAST_MASK
    blank = gap + frame.blank[stream]
    again = gap + frame.phone.ravel()[stream * frame.phone.shape[1] + last]
    first = place.searchsorted(np.arange(len(frame.blank)) << STREAM_SHIFT)
    ceiling = np.minimum.reduceat(np.minimum(blank, again), first) + limits.beam
    bound = ceiling[stream]
    use = (blank <= bound).nonzero()[0]
    parts = [Candidates((place - last)[use], blank[use], use, np.full(len(use), NONE))]
    use = (again <= bound).nonzero()[0]
    parts.append(Candidates(place[use], again[use], use, np.full(len(use), NONE)))
    moves = _phone_moves(graph, tokens, frame, ceiling)
    complete = (graph.word[moves.arc]).nonzero()[0]
    if len(complete):
        moves.cost[complete] += limits.word
        edge = Candidates(*(column[complete] for column in moves))
        parts += empty_moves(graph, limits, edge, ceiling)
    return Candidates(*map(np.concatenate, zip(*parts, moves, strict=True)))


def merge(found: Candidates, n: int, limits: Limits) -> tuple[Ints, Ints, Ints, Ints]:
    """Survivors within the beam, the cheapest of each place: candidate numbers, places, gaps; and the n best costs."""
    stream = found.place >> STREAM_SHIFT
    best = np.full(n, IMPOSSIBLE)
    np.minimum.at(best, stream, found.cost)
    gap = found.cost - best[stream]
    use = (gap <= limits.beam).nonzero()[0]
    place, gap = found.place[use], gap[use]
    gap_bits, position_bits = limits.beam.bit_length(), len(found.cost).bit_length()
    state_bits = KEY_BITS - (n - 1).bit_length() - LAST_BITS - gap_bits - position_bits
    if int((place >> LAST_BITS & STATE_MASK).max()) >> max(0, state_bits):  # many streams: slower, the same order
        use = use[np.lexsort((use, gap, place))]
        place, gap = found.place[use], found.cost[use] - best[found.place[use] >> STREAM_SHIFT]
    else:
        squeezed = (place & (1 << STREAM_SHIFT) - 1) | (place >> STREAM_SHIFT << (state_bits + LAST_BITS))
        key = ((squeezed << gap_bits | gap) << position_bits | use).view(np.uint64)
        key.sort()
        use = key.view(np.int64) & ((1 << position_bits) - 1)
        place, gap = found.place[use], found.cost[use] - best[found.place[use] >> STREAM_SHIFT]
    first = (np.append(True, place[1:] != place[:-1])).nonzero()[0]
    return use[first], place[first], gap[first], best


def _thin(stream: Ints, gap: Ints, n: int, limits: Limits) -> Array | None:
    """Which tokens stay when a stream has more than `max_active`: the best, ties at the border all dropped."""
    if len(stream) <= limits.max_active or np.bincount(stream).max() <= limits.max_active:
        return None
    width = limits.beam + 1
    ranks = np.bincount(stream * width + gap, minlength=n * width).reshape(n, width).cumsum(axis=1)
    border = np.maximum((ranks <= limits.max_active).sum(axis=1), 1)
    return (gap < border[stream]).nonzero()[0]


def step(graph: Graph, limits: Limits, tokens: Ints, frame: Frame, links: Ints) -> tuple[Ints, Completed | None, Ints]:
    """Tokens (5, n) one frame later, the words completed in it, and the best costs (S,) that gaps now count from.

    `links` (S,) counts each stream's words so far.
    """
    found = _candidates(graph, limits, tokens, frame)
    chosen, place, gap, best = merge(found, len(links), limits)
    stream = place >> STREAM_SHIFT
    kept = _thin(stream, gap, len(links), limits)
    if kept is not None:
        chosen, place, gap, stream = chosen[kept], place[kept], gap[kept], stream[kept]
    arc, source = found.arc[chosen], found.source[chosen]
    link, begin, fit = tokens[LINK:, source]
    begin = np.where((begin == NONE) & (arc != NONE), frame.number[stream], begin)
    fit = (fit + frame.fit.ravel()[stream * frame.fit.shape[1] + (place & LAST_MASK)]) * (begin != NONE)
    new = np.stack([place, gap, link, begin, fit])
    ended = ((arc != NONE) & (graph.word[arc] > 0)).nonzero()[0]
    if not len(ended):
        return new, None, best
    return new, _complete(graph, new, ended, source[ended] * len(graph.phone) + arc[ended], frame.number, links), best


def _complete(graph: Graph, tokens: Ints, ended: Ints, event: Ints, number: Ints, links: Ints) -> Completed:
    """Give the tokens that have `ended` a word their new links, one for each different `event`."""
    events, one, which = np.unique(event, return_index=True, return_inverse=True)
    first = ended[one]
    place, _, link, begin, fit = tokens[:, first]
    stream = place >> STREAM_SHIFT
    word = graph.word[events % len(graph.phone)].astype(np.int64)
    fresh = links[stream] + np.arange(len(first)) - stream.searchsorted(stream)
    tokens[LINK, ended], tokens[BEGIN, ended], tokens[FIT, ended] = fresh[which], NONE, 0
    return Completed(stream, link, word, begin, number[stream], fit)
