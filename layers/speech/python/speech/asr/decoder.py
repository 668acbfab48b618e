"""Phone log-probabilities to words: a CTC beam search over the decoding graph whose state can be put down and taken up.

    state = decoder.start()
    [state] = decoder.advance([state], [log_probs])
    decoder.best(state).words

A state is a value: `advance` returns new ones. Any cut of the frames, any batch of streams and any `pack` and `unpack`
in between give the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from speech.asr import beam, history
from speech.asr.beam import (
    BEGIN,
    GAP,
    LAST_BITS,
    LINK,
    NONE,
    PLACE,
    RIVAL,
    STREAM_SHIFT,
    UNKNOWN,
    Candidates,
    Completed,
    Frame,
    Ints,
    Limits,
)
from speech.asr.graph import COST_PER_NAT, END, Automaton
from speech.asr.hypothesis import Calibration, Hypothesis, hypothesis
from speech.errors import BadSnapshot

FloatArray = npt.NDArray[np.float32]
Links = npt.NDArray[np.int32]
LARGEST_COST = 1 << 20  # 4096 nats


@dataclass(frozen=True)
class DecoderConfig:
    """Pruning, and the balance of acoustic and language model; costs in nats (natural logarithms)."""

    beam: float = 11.0  # nats behind the best token
    word_beam: float = 5.0  # the same for tokens that complete a word: there the whole word has been paid for
    max_active: int = 250  # tokens of one stream
    acoustic_scale: float = 1.0  # multiplies the log-probabilities
    blank_skip: float = 0.98  # a frame whose blank is likelier than this moves no token
    word_penalty: float = -0.3  # nats for every word
    sentence_penalty: float = 2.0  # nats for a new sentence inside an utterance
    twice_penalty: float = 2.0  # nats for a phone right after the same one without a blank, which CTC forbids
    phrase_cost: float = 7.0  # nats for a phrase of the stream's own, wherever it stands
    calibration: Calibration = field(default_factory=Calibration)  # of word confidences

    @property
    def limits(self) -> Limits:
        """The same in whole numbers."""
        penalties = (self.word_penalty, self.sentence_penalty, self.twice_penalty, self.phrase_cost)
        beam, word_beam, *costs = (round(x * COST_PER_NAT) for x in (self.beam, self.word_beam, *penalties))
        return Limits(beam, word_beam, self.max_active, *costs)


@dataclass(frozen=True)
class DecoderState:
    """Of one segment. The rows of `tokens` are named in `beam`, those of `links` in `history`."""

    frame: int  # frames taken since the start
    skipping: bool  # whether the last frame was surely blank
    settled: int  # leading links that all tokens share
    cost: int  # of the best token, 1/256 nat, over all frames that moved tokens
    tokens: Ints  # (5, n)
    links: Links  # (6, m), without the row STREAM


class Found(NamedTuple):
    """What a search leaves, streams side by side."""

    tokens: Ints  # (5, n)
    costs: Ints  # (S,) of the best tokens
    links: Ints  # (7, m) of the words completed
    rivals: Ints  # (7, k) rows of `beam.Rivals`


class Decoder:
    """The search. Holds the graph and the settings, no stream."""

    def __init__(self, graph: Automaton, config: DecoderConfig | None = None) -> None:
        self.graph = graph
        self.config = config or DecoderConfig()
        self.limits = self.config.limits
        self._skip_log = float(np.log(self.config.blank_skip))

    def start(self) -> DecoderState:
        """The state before the first frame of a segment."""
        here, none = np.array([self.graph.start << LAST_BITS]), np.full(1, NONE)
        root = Candidates(here, np.zeros(1, np.int64), none, none)
        moves = beam.empty_moves(self.graph, self.limits, root, np.full(1, self.limits.beam))
        found = Candidates(*map(np.concatenate, zip(root, *moves, strict=True)))
        merged = beam.merge(found, 1, self.limits)
        none = np.full(len(merged.place), NONE)
        tokens = np.stack([merged.place, merged.gap, none, none, np.zeros_like(none)])
        return DecoderState(0, True, 0, int(merged.best[0]), tokens, np.zeros((6, 0), np.int32))

    def advance(self, states: Sequence[DecoderState], log_probs: Sequence[FloatArray]) -> list[DecoderState]:
        """New states after log-probabilities (T, phones) of each stream; T may differ and be 0."""
        blocks = [self._checked(block) for block in log_probs]
        if len(states) != len(blocks):
            raise ValueError(f"one block of log-probabilities per state: got {len(blocks)} for {len(states)} states")
        if not sum(map(len, blocks)):
            return list(states)
        rows = [self._rows(s, b) for s, b in zip(states, blocks, strict=True)]
        order = sorted(range(len(states)), key=lambda i: -len(rows[i]))  # finished streams drop off the end
        states, blocks = [states[i] for i in order], [blocks[i] for i in order]
        new = self._collect(states, blocks, self._search(states, blocks, [rows[i] for i in order]))
        place = np.argsort(order)
        return [new[i] for i in place]

    def _checked(self, block: FloatArray) -> FloatArray:
        block = np.asarray(block, np.float32)
        if block.ndim != 2 or block.shape[1] != len(self.graph.phones):
            raise ValueError(f"log-probabilities must be (frames, {len(self.graph.phones)}), got {block.shape}")
        return block

    def _rows(self, state: DecoderState, block: FloatArray) -> Ints:
        """Frames that change something: a surely blank one after another surely blank one does not."""
        skip = block[:, 0] > self._skip_log
        if not skip.any():
            return np.arange(len(skip))
        return np.flatnonzero(~(skip & np.append(state.skipping, skip[:-1])))

    def _frames(self, states: list[DecoderState], blocks: list[FloatArray], rows: list[Ints], order: Ints) -> Frame:
        """The used frames of all streams, one stream after the other, taken in an order."""
        used = np.concatenate([b[r] for r, b in zip(rows, blocks, strict=True)]).astype(np.float64)
        cost = _whole(-self.config.acoustic_scale * used)
        phone = cost.copy()
        phone[:, 0] = beam.IMPOSSIBLE
        phone[used[:, 0] > self._skip_log] = beam.IMPOSSIBLE
        number = np.concatenate([r + s.frame for r, s in zip(rows, states, strict=True)])
        columns = cost[:, 0], phone, phone.min(axis=1), _whole(-used), number
        return Frame(*(column[order] for column in columns))

    def _search(self, states: list[DecoderState], blocks: list[FloatArray], rows: list[Ints]) -> Found:
        """All frames of all streams, which are sorted by falling number of rows."""
        count = [len(r) for r in rows]
        turn = np.concatenate([np.arange(n) for n in count])
        frames = self._frames(states, blocks, rows, np.argsort(turn, kind="stable"))
        active = np.bincount(turn).tolist()  # streams that have a first, second, ... frame
        tokens = np.concatenate([s.tokens for s in states], axis=1)
        tokens[PLACE] += _numbered([s.tokens for s in states]) << STREAM_SHIFT
        links = np.array([s.links.shape[1] for s in states])
        costs = np.array([s.cost for s in states])
        done: list[Ints] = []
        words: list[Completed] = []
        rivals: list[Any] = [np.zeros((7, 0), np.int64)]
        at = 0
        for n in active:
            cut = int(tokens[PLACE].searchsorted(n << STREAM_SHIFT))
            if cut < tokens.shape[1]:
                done.append(tokens[:, cut:])
                tokens = tokens[:, :cut]
            after = beam.step(self.graph, self.limits, tokens, Frame(*(c[at : at + n] for c in frames)), links[:n])
            at, tokens = at + n, after.tokens
            costs[:n] += after.best
            rivals.append(after.rivals)
            if after.completed is not None:
                links += np.bincount(after.completed.stream, minlength=len(links))
                words.append(after.completed)
        tokens = np.concatenate([tokens, *done[::-1]], axis=1)
        return Found(tokens, costs, _columns(words), np.concatenate(rivals, axis=1))

    def _collect(self, states: list[DecoderState], blocks: list[FloatArray], found: Found) -> list[DecoderState]:
        """States out of the batch, without the links that nothing leads to."""
        n, tokens = len(states), found.tokens
        stream = tokens[PLACE] >> STREAM_SHIFT
        old = [s.links for s in states]
        links = np.concatenate([np.stack([_numbered(old), *np.concatenate(old, axis=1)]), found.links], axis=1)
        links = links[:, np.argsort(links[0], kind="stable")]
        history.contest(links, found.rivals[:, found.rivals[2] != UNKNOWN], n)
        settled = np.array([s.settled for s in states])
        links, tokens[LINK], settled = history.swept(links, stream, tokens[LINK], settled)
        tokens[PLACE] -= stream << STREAM_SHIFT
        token_parts = np.split(tokens, stream.searchsorted(np.arange(1, n)), axis=1)
        link_parts = np.split(links[1:].astype(np.int32), links[0].searchsorted(np.arange(1, n)), axis=1)
        new = []
        for i, (state, block) in enumerate(zip(states, blocks, strict=True)):
            skipping = bool(block[-1, 0] > self._skip_log) if len(block) else state.skipping
            parts = token_parts[i].copy(), link_parts[i].copy()
            new.append(DecoderState(state.frame + len(block), skipping, int(settled[i]), int(found.costs[i]), *parts))
        return new

    def steps(self, log_probs: FloatArray) -> Iterator[tuple[Ints, Frame, beam.Step]]:
        """Each frame of a whole segment (T, phones) between the tokens before it and what it leaves."""
        state, block = self.start(), self._checked(log_probs)
        frames = self._frames([state], [block], [rows := self._rows(state, block)], np.arange(len(rows)))
        tokens, links = state.tokens, np.zeros(1, np.int64)
        for at in range(len(rows)):
            frame = Frame(*(column[at : at + 1] for column in frames))
            after = beam.step(self.graph, self.limits, tokens, frame, links)
            links += 0 if after.completed is None else len(after.completed.word)
            yield tokens, frame, after
            tokens = after.tokens

    def best(self, state: DecoderState) -> Hypothesis:
        """The likeliest words so far, without one that is still being spoken."""
        return self._hypothesis(state, state.links, int(state.tokens[GAP].argmin()), 0)

    def finish(self, state: DecoderState) -> Hypothesis:
        """The words of the segment if it ends here."""
        return self.nbest(state, 1)[0]

    def nbest(self, state: DecoderState, n: int) -> list[Hypothesis]:
        """The likeliest different endings, the best first: at least one, at most `n`."""
        final = self.final_costs(state.tokens)
        cost = state.tokens[GAP] + final
        order = np.argsort(cost, kind="stable")
        links = self._contested(state, cost, int(order[0]))
        found: dict[tuple[str, ...], Hypothesis] = {}
        for token in order[np.sort(np.unique(state.tokens[LINK, order], return_index=True)[1])].tolist():
            one = self._hypothesis(state, links, token, int(final[token]))
            found.setdefault(tuple(w.text for w in one.words), one)
            if len(found) == n:
                break
        return list(found.values())

    def _hypothesis(self, state: DecoderState, links: Links, token: int, final: int) -> Hypothesis:
        path = history.trace(links, int(state.tokens[LINK, token]))
        cost = state.cost + int(state.tokens[GAP, token]) + final
        return hypothesis(self.graph, links[:, path], state.settled, cost, self.config.calibration)

    def _contested(self, state: DecoderState, cost: Ints, best: int) -> Links:
        """The links, with lower margins where histories that are still alive contend with the best one."""
        link = state.tokens[LINK]
        rival = np.flatnonzero((cost - cost[best] < RIVAL) & (link != link[best]))
        links = np.concatenate([np.zeros((1, state.links.shape[1]), np.int64), state.links])
        full = np.full(len(rival), link[best])
        history.contest(links, np.stack([full * 0, full, link[rival], cost[rival] - cost[best]]), 1)
        return links[1:].astype(np.int32)

    def final_costs(self, tokens: Ints) -> Ints:
        """What it costs each token to end here: the sentence end of its history, or much inside a word."""
        at = tokens[PLACE] >> LAST_BITS
        cost = np.where(tokens[BEGIN] == NONE, LARGEST_COST, 2 * LARGEST_COST)
        for nth in (0, 1):
            arc = np.minimum(at + nth, len(self.graph.phone) - 1)
            ends = (tokens[BEGIN] == NONE) & (self.graph.word[arc] == END) & (self.graph.phone[arc] == 0)
            cost = np.where(ends, self.graph.cost[arc], cost)
        return cost.astype(np.int64)

    def pack(self, state: DecoderState) -> dict[str, npt.NDArray[Any]]:
        """The state as arrays, for a snapshot."""
        clock = np.array([state.frame, state.skipping, state.settled, state.cost])
        return {
            "clock": clock,
            "places": state.tokens[PLACE],
            "tokens": state.tokens[1:].astype(np.int32),
            "links": state.links,
        }

    def unpack(self, arrays: Mapping[str, npt.NDArray[Any]]) -> DecoderState:
        """The state that `pack` gave. Raises BadSnapshot if it cannot be one of this graph."""
        if set(arrays) != {"clock", "places", "tokens", "links"}:
            raise BadSnapshot(f"a decoder state has clock, places, tokens and links, got {sorted(arrays)}")
        clock, places = (np.asarray(arrays[k], np.int64) for k in ("clock", "places"))
        tokens, links = (np.array(arrays[k], np.int32) for k in ("tokens", "links"))
        n = len(places)
        if clock.shape != (4,) or tokens.shape != (4, n) or not n or links.ndim != 2 or len(links) != 6:
            raise BadSnapshot(f"decoder state of wrong shape: {clock.shape}, {tokens.shape}, {links.shape}")
        states, link = places >> LAST_BITS, tokens[LINK - 1]
        if (
            states.min() < 0
            or states.max() >= len(self.graph.phone)
            or not NONE <= link.min() <= link.max() < links.shape[1]
        ):
            raise BadSnapshot("the decoder state points outside the graph or its own words")
        frame, skipping, settled, cost = clock.tolist()
        return DecoderState(frame, bool(skipping), settled, cost, np.concatenate([places[None], tokens]), links)


def _columns(words: list[Completed]) -> Ints:
    """Completed words as links (7, n)."""
    if not words:
        return np.zeros((7, 0), np.int64)
    parts = [[w.stream, w.previous, w.word, w.begin, w.end, w.fit, np.full(len(w.fit), RIVAL)] for w in words]
    return np.concatenate(parts, axis=1)


def _whole(nats: npt.NDArray[np.float64]) -> Ints:
    """Nats to whole costs, at most LARGEST_COST."""
    return np.rint(np.minimum(nats * COST_PER_NAT, LARGEST_COST)).astype(np.int64)


def _numbered(parts: Sequence[npt.NDArray[Any]]) -> Ints:
    """The number of the stream that each column belongs to, when all streams stand side by side."""
    return np.repeat(np.arange(len(parts)), [p.shape[1] for p in parts])
