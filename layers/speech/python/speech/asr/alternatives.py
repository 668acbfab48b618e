"""Other ways of hearing a segment: the shortest detours around its best path.

A stream's search forgets what loses. Where alternatives are asked for, the segment's log-probabilities are kept and
searched once more at its end, this time remembering where other words gave way. Every path of the search is its best
predecessors, frame by frame, but for some places where it takes a loser's for what the loser was behind: so paths come
out in the order of their costs, after Eppstein, "Finding the k shortest paths" (SIAM J. Computing 1998).
"""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from speech.asr import history
from speech.asr.beam import BEGIN, FIT, GAP, LINK, NONE, PLACE, RIVAL, UNKNOWN, Frame, Ints, Step
from speech.asr.decoder import LARGEST_COST, Decoder, FloatArray
from speech.asr.graph import COST_PER_NAT
from speech.asr.hypothesis import DecodedWord, Evidence, Hypothesis

MOST_TRIED = 40  # paths for each alternative that is asked for


class Said(NamedTuple):
    """A word on a path."""

    word: int
    begin: int  # frame of its first phone
    end: int  # frame of its last phone
    fit: int  # cost of its sounds


def alternatives(decoder: Decoder, log_probs: FloatArray, best: Hypothesis, n: int) -> list[Hypothesis]:
    """At most `n` other word sequences of a segment (T, phones), the likeliest first; `best`: what was found."""
    lattice = _Lattice(decoder)
    for before, frame, after in decoder.steps(log_probs):
        lattice.add(before, frame, after)
    seen = {tuple(word.text for word in best.words)}
    found: list[Hypothesis] = []
    for cost, path in itertools.islice(lattice.paths(), (n + 1) * MOST_TRIED):
        one = _hypothesis(decoder, path, (lattice.cost + cost) / COST_PER_NAT, best)
        texts = tuple(word.text for word in one.words)
        if texts not in seen:
            seen.add(texts)
            found.append(one)
        if len(found) == n:
            break
    return found


@dataclass(frozen=True)
class _Layer:
    """One frame. An origin is the token before, and the word that was completed on the way from it, if any."""

    origins: list[tuple[int, Said | None]]  # of each token
    detours: dict[int, list[tuple[int, int, Said | None]]]  # by token: cost, and another origin


@dataclass
class _Lattice:
    """All frames of a segment."""

    decoder: Decoder
    cost: int = 0  # of the best token, over all frames
    layers: list[_Layer] = field(default_factory=list)
    last: Step | None = None
    said: list[int] = field(default_factory=list)  # by link: the number of the word sequence that ends with it
    sequences: dict[tuple[int, int], int] = field(default_factory=dict)  # by the number of a shorter one, and a word

    def add(self, before: Ints, frame: Frame, step: Step) -> None:
        """One more frame."""
        words: dict[int, Said] = {}
        if (done := step.completed) is not None:
            rows = (done.event, done.previous, done.word, done.begin, done.end, done.fit)
            for event, previous, *said in zip(*(row.tolist() for row in rows), strict=True):
                words[event] = Said(*said)
                self.said.append(self._longer(self._sequence(previous), words[event].word))
        origins = [(s, words.get(e)) for s, e in zip(step.source.tolist(), step.event.tolist(), strict=True)]
        detours: dict[int, list[tuple[int, int, Said | None]]] = defaultdict(list)
        places, rivals = step.tokens[PLACE], step.rivals
        at = np.minimum(places.searchsorted(rivals.place), len(places) - 1)
        there = places[at] == rivals.place
        columns = at, rivals.winner, rivals.loser, rivals.behind, rivals.source, rivals.event
        for token, winner, loser, behind, source, event in zip(*(c[there].tolist() for c in columns), strict=True):
            if event >= 0 and event not in words:
                words[event] = self._lost(before[:, source], frame, event)
            lost = (
                self._longer(self._sequence(int(before[LINK, source])), words[event].word) if loser == UNKNOWN else None
            )
            if self._sequence(winner) != (self._sequence(loser) if lost is None else lost):
                detours[token].append((behind, source, words.get(event)))
        self.layers.append(_Layer(origins, detours))
        self.cost += int(step.best[0])
        self.last = step

    def _lost(self, token: Ints, frame: Frame, event: int) -> Said:
        """A word that survived nowhere, as it would have been completed by a token."""
        arc, number = np.array([event % len(self.decoder.graph.phone)]), int(frame.number[0])
        begin = number if token[BEGIN] == NONE else int(token[BEGIN])
        fit = int(token[FIT] + frame.fit[0, self.decoder.graph.phone[arc][0]])
        return Said(int(self.decoder.graph.word[arc][0]), begin, number, fit)

    def paths(self) -> Iterator[tuple[int, tuple[Said, ...]]]:
        """Words of all paths with their costs beside the best token's, 1/256 nat, the cheapest first."""
        if self.last is None:
            return
        tokens = self.last.tokens
        ends = self._ends(tokens[GAP] + self.decoder.final_costs(tokens), tokens[LINK])
        ceiling = min(cost for cost, _ in ends) + RIVAL
        count = itertools.count()
        waiting: list[tuple[int, int, int, int, tuple[Said, ...]]] = []
        for cost, token in ends:
            if cost <= ceiling:
                heapq.heappush(waiting, (cost, next(count), len(self.layers), token, ()))
        while waiting:
            cost, _, layer, token, path = heapq.heappop(waiting)
            while layer:
                layer -= 1
                for behind, source, word in self.layers[layer].detours.get(token, ()):
                    if cost + behind <= ceiling:
                        detour = path if word is None else (word, *path)
                        heapq.heappush(waiting, (cost + behind, next(count), layer, source, detour))
                token, word = self.layers[layer].origins[token]
                path = path if word is None else (word, *path)
            yield cost, path

    def _ends(self, costs: Ints, links: Ints) -> list[tuple[int, int]]:
        """The cheapest end of each word sequence: its cost and its token."""
        ends: dict[int, tuple[int, int]] = {}
        for token, (cost, link) in enumerate(zip(costs.tolist(), links.tolist(), strict=True)):
            said = self._sequence(link)
            ends[said] = min((cost, token), ends.get(said, (4 * LARGEST_COST, 0)))
        return list(ends.values())

    def _sequence(self, link: int) -> int:
        return NONE if link == NONE else self.said[link]

    def _longer(self, sequence: int, word: int) -> int:
        return self.sequences.setdefault((sequence, word), len(self.sequences))


def _hypothesis(decoder: Decoder, path: tuple[Said, ...], cost: float, best: Hypothesis) -> Hypothesis:
    """A path as a hypothesis: a word that the best one has is as sure as there, others are behind by the costs."""
    sure = {(word.text, word.end_frame // history.NEAR): word.evidence.margin for word in best.words}
    words = []
    for word, begin, end, fit in path:
        text, frames, near = decoder.graph.words[word], end + 1 - begin, (end + 1) // history.NEAR
        margin = next((sure[text, at] for at in (near, near - 1, near + 1) if (text, at) in sure), best.cost - cost)
        evidence = Evidence(-fit / COST_PER_NAT / frames, margin, frames)
        words.append(DecodedWord(text, begin, end + 1, decoder.config.calibration.confidence(evidence), evidence))
    return Hypothesis(tuple(words), 0, cost)
