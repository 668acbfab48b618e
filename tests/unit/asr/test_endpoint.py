"""Endpoint rules: pauses end segments and turns, and the cutting into blocks does not matter."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st
from speech.asr.endpoint import EndpointRules, EndpointState, Rule, Span, advance

RULES = EndpointRules()


def frames(pattern: str) -> list[bool]:
    """ "s2.5 p0.4" : 2.5 s of speech, 0.4 s of pause; True is a silent frame."""
    out: list[bool] = []
    for part in pattern.split():
        out += [part[0] == "p"] * round(float(part[1:]) * 25)
    return out


def actions(pattern: str, rules: EndpointRules = RULES) -> list[tuple[float, str]]:
    """When something happens, in seconds, and what."""
    _, spans = advance(rules, EndpointState(), frames(pattern))
    found = []
    for span in spans:
        if span.closes:
            found.append((span.stop / 25, "final"))
        if span.ends_turn:
            found.append((span.stop / 25, "turn"))
    return found


def test_silence_alone_does_nothing_and_is_not_decoded() -> None:
    state, spans = advance(RULES, EndpointState(), frames("p60"))
    assert spans == [Span(0, 1500, decode=False)]
    assert not state.speaking


def test_decoding_starts_with_the_first_frame_that_is_not_silent() -> None:
    _, spans = advance(RULES, EndpointState(), frames("p1 s0.4"))
    assert spans == [Span(0, 25, decode=False), Span(25, 35, decode=True)]


def test_a_long_pause_ends_segment_and_turn_at_once() -> None:
    assert actions("p1 s2 p2") == [(3.8, "final"), (3.8, "turn")]


def test_a_short_pause_in_a_short_segment_ends_nothing() -> None:
    assert actions("s2 p0.6 s2") == []


def test_the_longer_the_segment_the_shorter_the_pause_that_ends_it() -> None:
    assert actions("s9 p0.6 s1") == [(9.48, "final")]
    assert actions("s13 p0.36 s1") == [(13.28, "final")]
    assert actions("s17 p0.24 s1") == [(17.2, "final")]


def test_a_turn_ends_when_the_pause_after_a_segment_grows_long() -> None:
    assert actions("s9 p0.9") == [(9.48, "final"), (9.8, "turn")]


def test_speech_without_any_pause_is_cut_at_the_longest_segment() -> None:
    assert actions("s45") == [(20.0, "final"), (40.0, "final")]


def test_a_turn_ends_once() -> None:
    assert actions("s1 p30") == [(1.8, "final"), (1.8, "turn")]


def test_rules_are_data() -> None:
    hasty = EndpointRules(rules=(Rule(0.0, 0.2, ends_turn=True),), max_segment_s=1.0)
    assert actions("s0.4 p0.4 s2", hasty) == [(0.6, "final"), (0.6, "turn"), (1.8, "final"), (2.8, "final")]


@settings(max_examples=50, deadline=None)
@given(
    silent=st.lists(st.tuples(st.booleans(), st.integers(1, 60)), max_size=30),
    cuts=st.lists(st.integers(0, 1500), max_size=12),
)
def test_any_cut_into_blocks_gives_the_same_decoded_frames_and_ends(
    silent: list[tuple[bool, int]], cuts: list[int]
) -> None:
    stream = [flag for flag, count in silent for _ in range(count)]

    def marks(blocks: list[list[bool]]) -> tuple[list[bool], list[tuple[int, bool, bool]], EndpointState]:
        state, decoded, ends = EndpointState(), [], []
        for block in blocks:
            offset = len(decoded)
            state, spans = advance(RULES, state, block)
            for span in spans:
                decoded += [span.decode] * (span.stop - span.start)
                if span.closes or span.ends_turn:
                    ends.append((offset + span.stop, span.closes, span.ends_turn))
        return decoded, ends, state

    edges = [0, *sorted(min(c, len(stream)) for c in cuts), len(stream)]
    blocks = [stream[a:b] for a, b in itertools.pairwise(edges)]
    whole, cut = marks([stream]), marks(blocks)
    assert cut == whole
    assert len(whole[0]) == len(stream)
