"""Alternatives against an oracle that ranks every sentence, and against the search that they start from."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from speech.asr.alternatives import alternatives
from speech.asr.decoder import Decoder
from speech.asr.graph import Graph
from speech.asr.hypothesis import Hypothesis

from tests.unit.asr.test_decoder import EXHAUSTIVE, PRUNED, decoded, peaks, texts
from tests.unit.asr.tiny import LEXICON, VARIANT_COST, Oracle, align, language_model, random_log_probs, tiny_graph


@pytest.fixture(scope="module")
def graph() -> Graph:
    return tiny_graph()


def ranked(log_probs: np.ndarray, longest: int) -> list[tuple[float, tuple[str, ...]]]:
    """Every sentence of at most `longest` words and its cost, the cheapest first."""
    oracle, found = Oracle(language_model(), 0.3, 0.7), []
    for n in range(longest + 1):
        for words in itertools.product(LEXICON, repeat=n):
            sounds = itertools.product(*(enumerate(LEXICON[w]) for w in words))
            acoustic = min(align(log_probs, s) + VARIANT_COST * sum(v > 0 for v, _ in s) for s in sounds)
            found.append((acoustic + oracle.sentence(words), words))
    return sorted(found)


def found_in(decoder: Decoder, log_probs: np.ndarray, n: int) -> tuple[Hypothesis, list[Hypothesis]]:
    best = decoder.finish(decoded(decoder, log_probs))
    return best, alternatives(decoder, log_probs, best, n)


@pytest.mark.parametrize("seed", range(10))
def test_the_likeliest_sentences_are_those_that_trying_all_of_them_finds(graph: Graph, seed: int) -> None:
    log_probs = random_log_probs(seed, 5)
    best, others = found_in(Decoder(graph, EXHAUSTIVE), log_probs, 5)
    truth = ranked(log_probs, 3)
    cost = {words: cost for cost, words in truth}
    assert [one.cost for one in (best, *others)] == pytest.approx([cost[texts(o)] for o in (best, *others)], abs=0.05)
    assert [texts(best), texts(others[0])] == [words for _, words in truth[:2]]
    # One that loses to the same words, said at other times, takes its own detours with it.
    assert len({texts(one) for one in others} & {words for _, words in truth[1:6]}) >= 4


@pytest.mark.parametrize("seed", range(8))
def test_they_are_different_sorted_and_never_the_best_again(graph: Graph, seed: int) -> None:
    decoder, log_probs = Decoder(graph, PRUNED), random_log_probs(seed, 60)
    best, others = found_in(decoder, log_probs, 5)
    assert len({texts(one) for one in (best, *others)}) == 6
    assert [one.cost for one in (best, *others)] == sorted(one.cost for one in (best, *others))


def test_a_close_call_is_the_first_alternative_and_less_sure(graph: Graph) -> None:
    log_probs = peaks(0, 1, 2, 3, 4, 0, 4, 2, 3, 0)
    log_probs[6, [1, 4]] = np.log(0.498)  # "cat" or "sat"
    best, [other, *_] = found_in(Decoder(graph, EXHAUSTIVE), log_probs, 3)
    assert {texts(best)[-1], texts(other)[-1]} == {"cat", "sat"}
    assert other.words[-1].confidence <= best.words[-1].confidence
    assert other.words[0].confidence == best.words[0].confidence


def test_nothing_has_no_alternative(graph: Graph) -> None:
    assert found_in(Decoder(graph), random_log_probs(0, 0), 5)[1] == []
