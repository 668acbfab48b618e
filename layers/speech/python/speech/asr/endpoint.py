"""Where speech segments and turns end: rules as data over frames that are silent or not, as a pure state machine."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

FRAME_S = 0.04  # seconds


@dataclass(frozen=True)
class Rule:
    """A running segment of at least `min_segment_s` ends at a pause of `min_silence_s`."""

    min_segment_s: float
    min_silence_s: float
    ends_turn: bool = False


@dataclass(frozen=True)
class EndpointRules:
    """The longer a segment runs, the shorter the pause that ends it, so that hardly any is cut within a word.

    After the idea of sherpa-onnx's endpoint rules; the values are for 40 ms frames.
    """

    rules: tuple[Rule, ...] = (
        Rule(0.0, 0.8, ends_turn=True),
        Rule(8.0, 0.48),
        Rule(12.0, 0.28),
        Rule(16.0, 0.2),
    )
    max_segment_s: float = 20.0  # ends here even in the middle of speech

    @property
    def turn_silence_s(self) -> float:
        """The pause after which the speaker counts as having stopped."""
        return min((rule.min_silence_s for rule in self.rules if rule.ends_turn), default=math.inf)


@dataclass(frozen=True, slots=True)
class EndpointState:
    """Of one stream. A segment runs from its first frame that is not silent."""

    speaking: bool = False  # a segment is running
    turn_open: bool = False  # a segment has ended since the last end of a turn
    segment_frames: int = 0  # of the running segment
    silence_frames: int = 0  # since the last frame that was not silent


@dataclass(frozen=True, slots=True)
class Span:
    """Frames [start, stop) of a block: to be decoded or skipped, and what happens at their end."""

    start: int
    stop: int
    decode: bool
    closes: bool = False  # the running segment is final
    ends_turn: bool = False


def advance(rules: EndpointRules, state: EndpointState, silent: Iterable[bool]) -> tuple[EndpointState, list[Span]]:
    """Cut a block of frames into spans. The cuts do not depend on how a stream is cut into blocks."""
    spans: list[Span] = []
    start = index = 0
    for index, is_silent in enumerate(silent, 1):
        was_speaking = state.speaking
        state, closes, ends_turn = _frame(rules, state, is_silent)
        if state.speaking and not was_speaking:
            spans += [Span(start, index - 1, decode=False)] if start < index - 1 else []
            start = index - 1
        if closes or ends_turn:
            spans.append(Span(start, index, was_speaking, closes, ends_turn))
            start = index
    if start < index:
        spans.append(Span(start, index, state.speaking))
    return state, spans


def _frame(rules: EndpointRules, state: EndpointState, silent: bool) -> tuple[EndpointState, bool, bool]:
    """One frame: the new state, whether the segment closes, whether the turn ends."""
    silence = state.silence_frames + 1 if silent else 0
    if not state.speaking:
        if not silent:
            return EndpointState(True, state.turn_open, 1, 0), False, False
        ends = state.turn_open and silence * FRAME_S >= rules.turn_silence_s
        return EndpointState(False, state.turn_open and not ends, 0, silence), False, ends
    frames = state.segment_frames + 1
    fired = [r for r in rules.rules if frames * FRAME_S >= r.min_segment_s and silence * FRAME_S >= r.min_silence_s]
    ends = any(rule.ends_turn for rule in fired)
    if fired or frames * FRAME_S >= rules.max_segment_s:
        return EndpointState(False, not ends, 0, silence), True, ends
    return EndpointState(True, state.turn_open, frames, silence), False, False
