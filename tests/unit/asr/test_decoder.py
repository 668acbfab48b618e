"""The decoder against an oracle that tries every sentence, and against itself under every cut, batch and snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from speech.asr.decoder import Decoder, DecoderConfig, DecoderState
from speech.asr.graph import Graph
from speech.asr.hypothesis import Hypothesis
from speech.errors import BadBundle, BadSnapshot

from tests.unit.asr.tiny import WORDS, Oracle, language_model, random_log_probs, tiny_graph

WIDE: dict[str, Any] = {"beam": 100.0, "word_beam": 100.0, "max_active": 10**6, "blank_skip": 1.0}
EXHAUSTIVE = DecoderConfig(**WIDE, word_penalty=0.3, sentence_penalty=0.7, twice_penalty=1000.0)
PRUNED = DecoderConfig(beam=6.0, word_beam=4.0, max_active=20, blank_skip=0.6)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return tiny_graph()


def decoded(decoder: Decoder, log_probs: np.ndarray) -> DecoderState:
    return decoder.advance([decoder.start()], [log_probs])[0]


def texts(hypothesis: Hypothesis) -> tuple[str, ...]:
    return tuple(word.text for word in hypothesis.words)


def same(a: DecoderState, b: DecoderState) -> bool:
    scalars = [(s.frame, s.skipping, s.settled, s.cost) for s in (a, b)]
    return scalars[0] == scalars[1] and np.array_equal(a.tokens, b.tokens) and np.array_equal(a.links, b.links)


@pytest.mark.parametrize("seed", range(12))
def test_the_best_sentence_is_the_one_that_trying_all_of_them_finds(graph: Graph, seed: int) -> None:
    log_probs = random_log_probs(seed, 5)
    found = Decoder(graph, EXHAUSTIVE).finish(decoded(Decoder(graph, EXHAUSTIVE), log_probs))
    words, cost = Oracle(language_model(), 0.3, 0.7).best(log_probs, longest=3)
    assert texts(found) == words
    assert found.cost == pytest.approx(cost, abs=0.05)  # costs are rounded to 1/256 nat, about 15 of them


def test_the_alternatives_of_a_segment_are_different_and_sorted(graph: Graph) -> None:
    decoder = Decoder(graph, EXHAUSTIVE)
    found = decoder.nbest(decoded(decoder, random_log_probs(3, 6, sharpness=0.5)), 5)
    assert len({texts(h) for h in found}) == 5
    assert [h.cost for h in found] == sorted(h.cost for h in found)


@pytest.mark.parametrize("cut", [1, 2, 3, 7, 50])
def test_any_cut_of_the_frames_gives_the_same_state(graph: Graph, cut: int) -> None:
    decoder, log_probs = Decoder(graph, PRUNED), random_log_probs(5, 60)
    state = decoder.start()
    for at in range(0, 60, cut):
        [state] = decoder.advance([state], [log_probs[at : at + cut]])
    assert same(state, decoded(decoder, log_probs))


def test_a_batch_gives_each_stream_what_it_gets_alone(graph: Graph) -> None:
    decoder = Decoder(graph, PRUNED)
    streams = [random_log_probs(seed, frames) for seed, frames in enumerate([40, 7, 40, 0, 23, 40])]
    together = decoder.advance([decoder.start() for _ in streams], streams)
    assert all(same(state, decoded(decoder, lp)) for state, lp in zip(together, streams, strict=True))


def test_streams_that_come_and_go_do_not_disturb_one_another(graph: Graph) -> None:
    decoder, streams = Decoder(graph, PRUNED), [random_log_probs(seed, 40) for seed in range(5)]
    states = [decoder.start() for _ in streams]
    for at in range(0, 40, 4):
        members = [i for i in range(5) if (at // 4 + i) % 3]
        blocks = [streams[i][states[i].frame : states[i].frame + 3 + i] for i in members]
        for i, state in zip(members, decoder.advance([states[i] for i in members], blocks), strict=True):
            states[i] = state
    assert all(same(s, decoded(decoder, lp[: s.frame])) for s, lp in zip(states, streams, strict=True))


def test_more_streams_than_a_sort_key_holds_are_merged_in_the_same_way(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder, log_probs = Decoder(graph, PRUNED), random_log_probs(8, 30)
    packed = decoded(decoder, log_probs)
    monkeypatch.setattr("speech.asr.beam.KEY_BITS", 0)
    assert same(decoded(decoder, log_probs), packed)


def test_a_state_survives_packing_at_any_frame(graph: Graph) -> None:
    decoder, log_probs = Decoder(graph, PRUNED), random_log_probs(6, 30)
    for at in range(0, 31, 2):
        state = decoder.unpack(decoder.pack(decoded(decoder, log_probs[:at])))
        [state] = decoder.advance([state], [log_probs[at:]])
        assert same(state, decoded(decoder, log_probs))


def test_advancing_leaves_the_old_state_as_it_was(graph: Graph) -> None:
    decoder = Decoder(graph, PRUNED)
    state = decoded(decoder, random_log_probs(1, 10))
    tokens, links = state.tokens.copy(), state.links.copy()
    decoder.advance([state], [random_log_probs(2, 10)])
    assert np.array_equal(state.tokens, tokens)
    assert np.array_equal(state.links, links)


def test_stable_words_never_change(graph: Graph) -> None:
    decoder, log_probs = Decoder(graph, PRUNED), random_log_probs(9, 120, sharpness=3.0)
    seen = list(partials(decoder, log_probs))
    final = texts(decoder.finish(decoded(decoder, log_probs)))
    assert len(final) > 10
    assert max(h.stable for h in seen) > len(final) - 5
    assert all(texts(h)[: h.stable] == final[: h.stable] for h in seen)


def partials(decoder: Decoder, log_probs: np.ndarray) -> Iterator[Hypothesis]:
    state = decoder.start()
    for row in log_probs:
        [state] = decoder.advance([state], [row[None]])
        yield decoder.best(state)


def peaks(*labels: int) -> np.ndarray:
    """Log-probabilities that say exactly these labels, one a frame."""
    probabilities = np.full((len(labels), 5), 0.001)
    probabilities[np.arange(len(labels)), labels] = 0.996
    return np.log(probabilities).astype(np.float32)


def test_words_begin_at_their_first_phone_and_end_with_their_last(graph: Graph) -> None:
    decoder = Decoder(graph, EXHAUSTIVE)
    words = decoder.finish(decoded(decoder, peaks(0, 0, 1, 1, 2, 3, 0, 0, 4, 0, 2, 2, 3, 0))).words
    assert [(w.text, w.start_frame, w.end_frame) for w in words] == [("cat", 2, 6), ("sat", 8, 13)]


def test_a_clear_word_is_surer_than_an_unclear_one(graph: Graph) -> None:
    decoder, log_probs = Decoder(graph, EXHAUSTIVE), peaks(0, 1, 2, 3, 0, 4, 2, 3, 0)
    log_probs[5:8] = np.log([[0.45, 0.01, 0.01, 0.13, 0.4], [0.3, 0.3, 0.3, 0.05, 0.05], [0.3, 0.3, 0.01, 0.3, 0.09]])
    clear, unclear = decoder.finish(decoded(decoder, log_probs)).words
    assert 0 < unclear.confidence < clear.confidence - 0.1 < 0.9


def test_a_word_with_a_close_rival_is_less_sure_than_its_sounds(graph: Graph) -> None:
    decoder, log_probs = Decoder(graph, EXHAUSTIVE), peaks(0, 1, 2, 3, 4, 0, 4, 2, 3, 0)
    log_probs[6, [1, 4]] = np.log(0.498)  # "cat" or "sat"
    *_, close = decoder.finish(decoded(decoder, log_probs)).words
    log_probs[6, 1] = np.log(1e-6)
    *_, alone = decoder.finish(decoded(decoder, log_probs)).words
    assert (close.text, alone.text) == ("sat", "sat")
    assert close.confidence < alone.confidence - 0.1


def test_equal_phones_need_a_blank_between_them(graph: Graph) -> None:
    decoder = Decoder(graph, EXHAUSTIVE)
    assert texts(decoder.finish(decoded(decoder, peaks(1, 2, 3, 0, 3, 2, 1)))) == ("cat", "tack")
    assert texts(decoder.finish(decoded(decoder, peaks(1, 2, 3, 3, 2, 1)))) != ("cat", "tack")


def test_equal_phones_may_touch_at_a_cost(graph: Graph) -> None:
    decoder = Decoder(graph, DecoderConfig(**WIDE, twice_penalty=1.0))
    assert texts(decoder.finish(decoded(decoder, peaks(1, 2, 3, 3, 2, 1)))) == ("cat", "tack")


def test_silence_is_no_words(graph: Graph) -> None:
    decoder = Decoder(graph)
    state = decoded(decoder, peaks(*[0] * 50))
    assert decoder.best(state).words == decoder.finish(state).words == ()


def test_a_segment_cut_inside_a_word_keeps_the_words_before(graph: Graph) -> None:
    decoder = Decoder(graph, DecoderConfig(beam=8.0))
    assert texts(decoder.finish(decoded(decoder, peaks(0, 1, 2, 3, 0, 4, 2)))) == ("cat",)


def test_a_graph_survives_its_file(graph: Graph, tmp_path) -> None:  # type: ignore[no-untyped-def]
    graph.save(tmp_path / "graph.bin")
    loaded = Graph.load(tmp_path / "graph.bin")
    assert set(loaded.words[2:]) == set(WORDS[3:])
    assert (loaded.start, loaded.words, loaded.phones) == (graph.start, graph.words, graph.phones)
    assert all(
        np.array_equal(getattr(loaded, k), getattr(graph, k)) for k in ("phone", "word", "target", "cost", "arcs")
    )


def test_a_cut_or_foreign_graph_file_is_refused(graph: Graph, tmp_path) -> None:  # type: ignore[no-untyped-def]
    graph.save(tmp_path / "graph.bin")
    whole = (tmp_path / "graph.bin").read_bytes()
    (tmp_path / "cut.bin").write_bytes(whole[:-20])
    with pytest.raises(BadBundle, match="cut short"):
        Graph.load(tmp_path / "cut.bin")
    (tmp_path / "other.bin").write_bytes(b"PK" + whole)
    with pytest.raises(BadBundle, match="not a decoding graph"):
        Graph.load(tmp_path / "other.bin")


def test_wrong_shapes_and_foreign_states_are_refused(graph: Graph) -> None:
    decoder = Decoder(graph)
    with pytest.raises(ValueError, match=r"must be \(frames, 5\)"):
        decoder.advance([decoder.start()], [np.zeros((3, 4), np.float32)])
    packed = decoder.pack(decoder.start())
    with pytest.raises(BadSnapshot, match="clock, places, tokens and links"):
        decoder.unpack({"tokens": packed["tokens"]})
    with pytest.raises(BadSnapshot, match="outside the graph"):
        decoder.unpack({**packed, "places": packed["places"] + 100000})
