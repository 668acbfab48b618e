"""Other ways of hearing a segment: the shortest detours around its best path.

A stream's search forgets what loses. Where alternatives are asked for, the segment's log-probabilities are kept and
searched once more at its end, this time keeping each clash: where history L gave way to history W, every path that
begins with W could begin with L, for the cost between the two. Putting such detours together, the cheapest first, is
Eppstein's way to the k shortest paths ("Finding the k shortest paths", SIAM J. Computing 1998). A detour's cost was
met in one place and is taken to hold for all words that follow, so costs of alternatives are estimates.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np

from speech.asr import history
from speech.asr.beam import GAP, LINK, RIVAL, Ints
from speech.asr.decoder import LARGEST_COST, Decoder, FloatArray, Found
from speech.asr.hypothesis import DecodedWord, Evidence, Hypothesis, hypothesis

MOST_DETOURS = 12  # tried at one word
MOST_TRIED = 40  # paths for each alternative that is asked for
Path = tuple[int, ...]  # links in order


def alternatives(decoder: Decoder, log_probs: FloatArray, n: int) -> list[Hypothesis]:
    """The `n` likeliest word sequences of a segment (T, phones), or fewer: all different, the best first."""
    found = decoder.search(log_probs)
    final = decoder.final_costs(found.tokens)
    links = found.links[1:].astype(np.int32)
    different: dict[tuple[int, ...], tuple[int, Path]] = {}
    for cost, path in _paths(found, found.tokens[GAP] + final, n * MOST_TRIED):
        words = tuple(links[history.WORD - 1, list(path)].tolist())
        different.setdefault(words, (cost, path))
        if len(different) == n:
            break
    ranked = []
    for cost, path in different.values():
        whole = int(found.costs[0]) + cost
        ranked.append(hypothesis(decoder.graph, links[:, list(path)], 0, whole, decoder.config.calibration))
    return ranked[:1] + [_compared(decoder, ranked[0], other) for other in ranked[1:]]


def _paths(found: Found, ends: Ints, most: int) -> Iterator[tuple[int, Path]]:
    """At most `most` paths and their costs in 1/256 nat, the cheapest first; paths may say the same."""
    previous = found.links[history.PREVIOUS].tolist()
    starts, losers, behind = _detours(found)
    heads: dict[int, int] = {}
    for head, cost in zip(found.tokens[LINK].tolist(), ends.tolist(), strict=True):
        heads[head] = min(cost, heads.get(head, 4 * LARGEST_COST))
    ceiling = min(heads.values()) + RIVAL
    waiting: list[tuple[int, int, Path]] = [(cost, head, ()) for head, cost in heads.items() if cost <= ceiling]
    heapq.heapify(waiting)
    for _ in range(most):
        if not waiting:
            return
        cost, head, rest = heapq.heappop(waiting)
        at, after = head, rest
        while True:
            first, last = starts[at + 1], starts[at + 2]
            for loser, more in zip(losers[first:last], behind[first:last], strict=True):
                if cost + more <= ceiling:
                    heapq.heappush(waiting, (cost + more, loser, after))
            if at == history.NONE:
                break
            after, at = (at, *after), previous[at]
        yield cost, after


def _detours(found: Found) -> tuple[list[int], list[int], list[int]]:
    """Losers and their costs, sorted by winner, the nearest first: those of link w lie from starts[w + 1] on."""
    _, winner, loser, behind = found.rivals
    order = np.lexsort((behind, loser, winner))
    winner, loser, behind = winner[order], loser[order], behind[order]
    new = np.ones(len(winner), bool)
    new[1:] = (winner[1:] != winner[:-1]) | (loser[1:] != loser[:-1])
    winner, loser, behind = winner[new], loser[new], behind[new]
    order = np.lexsort((loser, behind, winner))
    winner, loser, behind = winner[order], loser[order], behind[order]
    near = np.arange(len(winner)) - winner.searchsorted(winner) < MOST_DETOURS
    winner, loser, behind = winner[near], loser[near], behind[near]
    starts = winner.searchsorted(np.arange(-1, found.links.shape[1] + 1))
    return starts.tolist(), loser.tolist(), behind.tolist()


def _compared(decoder: Decoder, best: Hypothesis, other: Hypothesis) -> Hypothesis:
    """The other hypothesis with confidences to match: a word that the best one lacks is behind it by their costs."""
    sure = {(word.text, word.end_frame // history.NEAR): word for word in best.words}
    behind = (best.cost - other.cost) * 1.0
    words = []
    for word in other.words:
        near = word.end_frame // history.NEAR
        same = next((sure[word.text, at] for at in (near, near - 1, near + 1) if (word.text, at) in sure), None)
        words.append(_evident(decoder, word, same.evidence.margin if same else min(behind, word.evidence.margin)))
    return Hypothesis(tuple(words), other.stable, other.cost)


def _evident(decoder: Decoder, word: DecodedWord, margin: float) -> DecodedWord:
    evidence = Evidence(word.evidence.sound, margin, word.evidence.frames)
    confidence = decoder.config.calibration.confidence(evidence)
    return DecodedWord(word.text, word.start_frame, word.end_frame, confidence, evidence)
