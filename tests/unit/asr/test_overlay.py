"""Phrases beside the graph against an oracle that tries every sentence of words and phrases, and against any cut."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from speech.asr.decoder import Decoder, DecoderConfig, DecoderState
from speech.asr.graph import Graph
from speech.asr.pronounced import VARIANT_COST, Pronouncing, overlaid
from speech.asr.vocabulary import CustomVocabulary

from tests.unit.asr.test_decoder import EXHAUSTIVE, PRUNED, peaks, same, texts
from tests.unit.asr.tiny import LEXICON, PHONES, Oracle, align, language_model, random_log_probs, tiny_graph

COST = 1.5  # nats
# One unknown word with two pronunciations, a phrase of known words, and one of both kinds.
VALUES = [
    {"phrase": "Skat", "pronunciations": ["skæt", "skt"]},
    {"phrase": "cat at"},
    {"phrase": "tack kats", "pronunciations": ["tæk kæts"]},
]
SOUNDS = {
    ("skat",): [(4, 1, 2, 3), (4, 1, 3)],
    ("cat", "at"): [(1, 2, 3, 2, 3), (1, 2, 3, 3)],
    ("tack", "kats"): [(3, 2, 1, 1, 2, 3, 4)],
}
Unit = tuple[tuple[str, ...], bool]  # words, and whether they are a phrase


@pytest.fixture(scope="module")
def graph() -> Graph:
    return tiny_graph()


def with_phrases(graph: Graph, config: DecoderConfig, values: list[dict[str, object]] | None = None) -> Decoder:
    phrases = Pronouncing(graph, None).pronounce(CustomVocabulary.read(VALUES if values is None else values))
    return Decoder(overlaid(graph, phrases), config)


def decoded(decoder: Decoder, log_probs: np.ndarray) -> DecoderState:
    return decoder.advance([decoder.start()], [log_probs])[0]


class PhraseOracle(Oracle):
    """Sentences of words and phrases; after a phrase only its last word is remembered, if the model knows it."""

    def cost_of(self, units: tuple[Unit, ...]) -> float:
        paths: dict[tuple[str, ...], float] = {("<s>",): 0.0}
        for words, is_phrase in units:
            starts = dict([*paths.items(), self._restart(paths)])
            starts |= {h: min(c, starts[h]) for h, c in paths.items()}
            after: dict[tuple[str, ...], float] = {}
            if is_phrase:
                known = (words[-1],) if words[-1] in LEXICON else ()
                after[known] = min(starts.values()) + COST + self.word_penalty * len(words)
            else:
                for history, total in starts.items():
                    for cost, new in self.steps(history, words[0]):
                        after[new] = min(after.get(new, math.inf), total + cost + self.word_penalty)
            paths = after
        return min(total + cost for history, total in paths.items() for cost, _ in self.steps(history, "</s>"))

    def cheapest(self, log_probs: np.ndarray, longest: int) -> tuple[tuple[str, ...], float]:
        units: list[Unit] = [*(((word,), False) for word in LEXICON), *((words, True) for words in SOUNDS)]
        best: tuple[float, tuple[str, ...]] = (math.inf, ())
        for n in range(longest + 1):
            for chosen in itertools.product(units, repeat=n):
                options = [SOUNDS[w] if phrase else [tuple(s) for s in LEXICON[w[0]]] for w, phrase in chosen]
                for ways in itertools.product(*(enumerate(o) for o in options)):
                    acoustic = align(log_probs, tuple((0, bytes(sound)) for _, sound in ways))
                    if acoustic < math.inf:
                        variants = sum(VARIANT_COST / 256 for nth, _ in ways if nth)
                        cost = acoustic + variants + self.cost_of(chosen)
                        best = min(best, (cost, tuple(w for words, _ in chosen for w in words)))
        return best[1], best[0]


@pytest.mark.parametrize("seed", range(10))
def test_the_best_sentence_is_the_one_that_trying_words_and_phrases_finds(graph: Graph, seed: int) -> None:
    log_probs = random_log_probs(seed, 6)
    decoder = with_phrases(graph, replace(EXHAUSTIVE, phrase_cost=COST))
    found = decoder.finish(decoded(decoder, log_probs))
    words, cost = PhraseOracle(language_model(), 0.3, 0.7).cheapest(log_probs, longest=3)
    assert texts(found) == words
    assert found.cost == pytest.approx(cost, abs=0.05)


def test_an_unknown_word_is_missed_without_the_vocabulary_and_found_with_it(graph: Graph) -> None:
    log_probs = peaks(0, 4, 1, 2, 3, 0, 2, 3, 0)
    plain, own = Decoder(graph, EXHAUSTIVE), with_phrases(graph, EXHAUSTIVE)
    assert "skat" not in texts(plain.finish(decoded(plain, log_probs)))
    assert texts(own.finish(decoded(own, log_probs))) == ("skat", "at")


@pytest.mark.parametrize("seed", range(8))
def test_a_phrase_that_is_not_completed_leaves_nothing_behind(graph: Graph, seed: int) -> None:
    log_probs = random_log_probs(seed, 8)
    long = [{"phrase": "cat at sat tack cats at", "pronunciations": ["kæt æt sæt tæk kæts æt"]}]
    plain, own = Decoder(graph, EXHAUSTIVE), with_phrases(graph, replace(EXHAUSTIVE, phrase_cost=0.0), long)
    expected, found = (d.finish(decoded(d, log_probs)) for d in (plain, own))
    assert (texts(found), found.cost) == (texts(expected), expected.cost)


@pytest.mark.parametrize("cut", [1, 2, 3, 7, 50])
def test_any_cut_and_any_packing_give_the_same_state(graph: Graph, cut: int) -> None:
    decoder, log_probs = with_phrases(graph, PRUNED), random_log_probs(5, 60)
    state = decoder.start()
    for at in range(0, 60, cut):
        [state] = decoder.advance([decoder.unpack(decoder.pack(state))], [log_probs[at : at + cut]])
    assert same(state, decoded(decoder, log_probs))


def test_a_batch_gives_each_stream_what_it_gets_alone(graph: Graph) -> None:
    decoder = with_phrases(graph, PRUNED)
    streams = [random_log_probs(seed, frames) for seed, frames in enumerate([40, 7, 40, 0, 23, 40])]
    together = decoder.advance([decoder.start() for _ in streams], streams)
    assert all(same(state, decoded(decoder, lp)) for state, lp in zip(together, streams, strict=True))


def test_the_graph_itself_is_not_copied(graph: Graph) -> None:
    own = with_phrases(graph, PRUNED).graph
    every = np.arange(len(graph.phone))
    assert np.array_equal(own.phone[every], graph.phone)
    assert np.array_equal(own.target[every], graph.target)
    assert set(own.words) - set(graph.words) == {"skat", "kats"}
    assert own.phones == tuple(PHONES)
