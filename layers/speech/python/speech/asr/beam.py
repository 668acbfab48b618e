"""One frame of CTC token passing, for many streams at once: vectorised, exact in whole numbers, bound to no stream.

A token stands in a graph state after the phone `last` (0 after a blank or at the start). A frame lets it repeat the
phone, take the blank, or follow an arc whose phone differs from `last`: the CTC topology (Graves et al. 2006, section
4.1) laid over the graph as it is walked. At a cost the phone may be the same, as models taught frame by frame need.
Tokens that meet in the same place are merged, the cheaper one survives.

Everything is a whole number of 1/256 nat, tokens are kept in a fixed order, and ties go to the earlier candidate: so
results do not depend on how the frames are cut or on which streams share the batch, to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from speech.asr.graph import COST_PER_NAT, END, NO_WORD, NOWHERE, Automaton

Ints = npt.NDArray[np.int64]
Array = npt.NDArray[Any]

PLACE, GAP, LINK, BEGIN, FIT = range(5)  # rows of tokens; they are sorted by PLACE
NONE, MOVED, UNKNOWN = -1, -2, -2
RIVAL = 8 * COST_PER_NAT  # a history that is further behind is no rival
IMPOSSIBLE = 1 << 30
LAST_BITS, STATE_BITS = 8, 32  # a place is stream, state and last phone
LAST_MASK, STATE_MASK = (1 << LAST_BITS) - 1, (1 << STATE_BITS) - 1
STREAM_SHIFT = LAST_BITS + STATE_BITS
EMPTY_MOVES = 2  # back-offs that a trigram takes to forget everything
KEY_BITS = 64  # of the integers that are sorted to merge tokens


@dataclass(frozen=True)
class Limits:
    """What pruning and the language model are told, in 1/256 nat."""

    beam: int
    word_beam: int  # for completed words
    max_active: int
    word: int  # cost of every word
    sentence: int  # cost of a new sentence inside an utterance, beside the language model's
    twice: int  # cost of a phone right after the same phone, without a blank between
    phrase: int  # cost of entering a stream's own phrases


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
    event: Ints  # source * arcs + arc if a word was completed, MOVED within a word, NONE for repetition and blank


class Completed(NamedTuple):
    """Words completed in this frame, streams in order; parallel arrays."""

    event: Ints  # which token took which arc; sorted
    stream: Ints
    link: Ints  # number of the word in its stream
    previous: Ints  # that of the word before it
    word: Ints
    begin: Ints  # frame of its first phone
    end: Ints  # frame of its last phone
    fit: Ints


class Rivals(NamedTuple):
    """Where one history gave way to another; parallel arrays."""

    stream: Ints
    winner: Ints  # link
    loser: Ints  # link, UNKNOWN for a word that survived nowhere
    behind: Ints  # cost between them
    place: Ints  # where they met
    source: Ints  # the token that the loser comes from
    event: Ints  # what the loser did, as in `Candidates`


class Step(NamedTuple):
    """What a frame leaves."""

    tokens: Ints  # (5, n)
    completed: Completed | None
    rivals: Rivals
    best: Ints  # (S,) costs that gaps now count from
    source: Ints  # (n,) the token that each comes from
    event: Ints  # (n,) what it did, as in `Candidates`


def empty_moves(graph: Automaton, limits: Limits, edge: Candidates, ceiling: Ints) -> list[Candidates]:
    """Where candidates at roots get without consuming a frame: shorter histories, a new sentence, own phrases."""
    found = _shorter_histories(graph, limits, edge, ceiling)
    if graph.entrance == NOWHERE:
        return found
    return [*found, *(_entered(graph, limits, roots, ceiling) for roots in (edge, *found))]


def _entered(graph: Automaton, limits: Limits, edge: Candidates, ceiling: Ints) -> Candidates:
    """Candidates at roots as they enter the phrases; those inside a phrase do not."""
    stream, cost = edge.place >> STREAM_SHIFT, edge.cost + limits.phrase
    outside = (edge.place >> LAST_BITS & STATE_MASK) < graph.entrance
    use = (outside & (cost <= ceiling[stream])).nonzero()[0]
    place = (((stream[use] << STATE_BITS) + graph.entrance) << LAST_BITS) + (edge.place[use] & LAST_MASK)
    return Candidates(place, cost[use], edge.source[use], edge.event[use])


def _shorter_histories(graph: Automaton, limits: Limits, edge: Candidates, ceiling: Ints) -> list[Candidates]:
    found = []
    for _ in range(EMPTY_MOVES):
        state = edge.place >> LAST_BITS & STATE_MASK
        arc = np.concatenate([state, state + 1])  # the shortest history has one such arc, the others two
        use = (graph.phone[arc] == 0).nonzero()[0]
        arc, origin = arc[use], use % len(state)
        place, cost = edge.place[origin], edge.cost[origin] + graph.cost[arc]
        cost += limits.sentence * (graph.word[arc] == END)
        use = (cost <= ceiling[place >> STREAM_SHIFT]).nonzero()[0]
        if not len(use):
            break
        arc, origin, place = arc[use], origin[use], place[use]
        place += (graph.target[arc] - state[origin]) << LAST_BITS
        edge = Candidates(place, cost[use], edge.source[origin], edge.event[origin])
        found.append(edge)
    return found


def _phone_moves(graph: Automaton, limits: Limits, tokens: Ints, frame: Frame, ceiling: Ints) -> Candidates:
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
    twice = phone == (place & LAST_MASK).repeat(size)
    price[twice] += limits.twice
    slack = (ceiling[stream] - gap).repeat(size) - price
    use = (slack >= 0).nonzero()[0]
    use = use[(slack[use] >= limits.beam - limits.word_beam) | (graph.word[arc[use]] == NO_WORD)]
    arc, phone = arc[use], phone[use]
    origin = np.arange(len(who)).repeat(size)[use]
    target = (stream[origin] << STATE_BITS) + graph.target[arc]
    source = who[origin]
    event = np.where(graph.word[arc] != NO_WORD, source * len(graph.phone) + arc, MOVED)
    return Candidates((target << LAST_BITS) + phone, gap[origin] + price[use], source, event)


def _candidates(graph: Automaton, limits: Limits, tokens: Ints, frame: Frame) -> Candidates:
    """All that can be reached, and some that are behind the beam."""
    place, gap = tokens[PLACE], tokens[GAP]
    stream, last = place >> STREAM_SHIFT, place & LAST_MASK
    blank, source = gap + frame.blank[stream], np.arange(len(place))
    if frame.cheapest.min() >= IMPOSSIBLE:  # surely blank in all streams
        return Candidates(place - last, blank, source, np.full(len(place), NONE))
    again = gap + frame.phone.ravel()[stream * frame.phone.shape[1] + last]
    first = place.searchsorted(np.arange(len(frame.blank)) << STREAM_SHIFT)
    ceiling = np.minimum.reduceat(np.minimum(blank, again), first) + limits.beam
    moves = _phone_moves(graph, limits, tokens, frame, ceiling)
    parts = [(place - last, blank, source), (place, again, source), moves[:3]]
    events = [np.full(2 * len(place), NONE), moves.event]
    complete = (moves.event >= 0).nonzero()[0]
    if len(complete):
        moves.cost[complete] += limits.word
        found = empty_moves(graph, limits, Candidates(*(column[complete] for column in moves)), ceiling)
        parts += [edge[:3] for edge in found]
        events += [edge.event for edge in found]
    places, costs, sources = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Candidates(places, costs, sources, np.concatenate(events))


class Merged(NamedTuple):
    """Candidates by number, and where those that survive stand."""

    chosen: Ints
    place: Ints
    gap: Ints
    best: Ints  # (S,)
    winner: Ints  # of each clash; parallel with loser and behind
    loser: Ints
    behind: Ints


def merge(found: Candidates, n: int, limits: Limits) -> Merged:
    """The cheapest candidate of each place, if within the beam of its stream (of n), and the close ones it beat."""
    stream = found.place >> STREAM_SHIFT
    best = np.full(n, IMPOSSIBLE)
    np.minimum.at(best, stream, found.cost)
    gap = found.cost - best[stream]
    use = (gap <= limits.beam).nonzero()[0]
    use = use[_order(found.place[use], gap[use], use, n, limits)]
    place, gap = found.place[use], gap[use]
    new = _new(place)
    first, again = new.nonzero()[0], (~new).nonzero()[0]
    winner = first[first.searchsorted(again, "right") - 1]
    behind = gap[again] - gap[winner]
    close = (behind < RIVAL).nonzero()[0]
    return Merged(use[first], place[first], gap[first], best, use[winner[close]], use[again[close]], behind[close])


def _new(ordered: Ints) -> npt.NDArray[np.bool_]:
    """Where a value differs from the one before it."""
    new = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return new


def _order(place: Ints, gap: Ints, position: Ints, n: int, limits: Limits) -> Ints:
    """How to sort by place, then gap, then position (which rises): one sort of packed integers if they fit."""
    gap_bits, position_bits = limits.beam.bit_length(), len(position).bit_length()
    state_bits = KEY_BITS - (n - 1).bit_length() - LAST_BITS - gap_bits - position_bits
    if int((place >> LAST_BITS & STATE_MASK).max()) >> max(0, state_bits):
        return np.lexsort((position, gap, place))
    stream = place >> STREAM_SHIFT << max(0, state_bits) + LAST_BITS
    key = ((stream | (place & (1 << STREAM_SHIFT) - 1)) << gap_bits | gap) << position_bits | np.arange(len(place))
    key = key.view(np.uint64)
    key.sort()
    return key.view(np.int64) & ((1 << position_bits) - 1)


def _thin(stream: Ints, gap: Ints, n: int, limits: Limits) -> Array | None:
    """Which tokens stay when a stream has more than `max_active`: the best, ties at the border all dropped."""
    if len(stream) <= limits.max_active or np.bincount(stream).max() <= limits.max_active:
        return None
    width = limits.beam + 1
    ranks = np.bincount(stream * width + gap, minlength=n * width).reshape(n, width).cumsum(axis=1)
    border = np.maximum((ranks <= limits.max_active).sum(axis=1), 1)
    kept: Array = (gap < border[stream]).nonzero()[0]
    return kept


def step(graph: Automaton, limits: Limits, tokens: Ints, frame: Frame, links: Ints) -> Step:
    """One frame: tokens (5, n) of S streams with `links` (S,) words completed so far."""
    found = _candidates(graph, limits, tokens, frame)
    merged = merge(found, len(links), limits)
    chosen, place, gap = merged.chosen, merged.place, merged.gap
    kept = _thin(place >> STREAM_SHIFT, gap, len(links), limits)
    if kept is not None:
        chosen, place, gap = chosen[kept], place[kept], gap[kept]
    stream, source, event = place >> STREAM_SHIFT, found.source[chosen], found.event[chosen]
    new = tokens[:, source]
    new[PLACE], new[GAP], begin = place, gap, new[BEGIN]
    begin[:] = np.where((begin == NONE) & (event != NONE), frame.number[stream], begin)
    new[FIT] += frame.fit.ravel()[stream * frame.fit.shape[1] + (place & LAST_MASK)]
    new[FIT] *= begin != NONE
    ended = (event >= 0).nonzero()[0]
    completed = _complete(graph, new, ended, event[ended], frame.number, links) if len(ended) else None
    return Step(new, completed, _rivals(tokens, found, merged, completed), merged.best, source, event)


def _complete(graph: Automaton, tokens: Ints, ended: Ints, event: Ints, number: Ints, links: Ints) -> Completed:
    """Give the tokens that have `ended` a word their new links, one for each different `event`."""
    order = event.argsort(kind="stable")
    new = _new(event[order])
    one, which = order[new], np.empty_like(order)
    which[order] = new.cumsum() - 1
    events = event[one]
    place, _, previous, begin, fit = tokens[:, ended[one]]
    stream = place >> STREAM_SHIFT
    word = graph.word[events % len(graph.phone)].astype(np.int64)
    link = links[stream] + np.arange(len(one)) - stream.searchsorted(stream)
    tokens[LINK, ended], tokens[BEGIN, ended], tokens[FIT, ended] = link[which], NONE, 0
    return Completed(events, stream, link, previous, word, begin, number[stream], fit)


def _rivals(tokens: Ints, found: Candidates, merged: Merged, completed: Completed | None) -> Rivals:
    """The clashes between candidates with different words behind them."""
    both = np.concatenate([merged.winner, merged.loser])
    event, link = found.event[both], tokens[LINK, found.source[both]]
    ended = (event >= 0).nonzero()[0]
    if len(ended):
        event = event[ended]
        link[ended] = UNKNOWN  # a word that survived nowhere
        if completed is not None:
            at = np.minimum(completed.event.searchsorted(event), len(completed.event) - 1)
            link[ended] = np.where(completed.event[at] == event, completed.link[at], UNKNOWN)
    winner, loser = link.reshape(2, -1)
    use = ((winner != loser) & (winner != UNKNOWN)).nonzero()[0]
    place, lost = found.place[merged.winner[use]], merged.loser[use]
    rows = place >> STREAM_SHIFT, winner[use], loser[use], merged.behind[use]
    return Rivals(*rows, place, found.source[lost], found.event[lost])
