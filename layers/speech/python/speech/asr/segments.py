"""From log-probabilities to events: frames are decoded or skipped, segments and turns end, words get their times."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Literal

import numpy as np

from speech.asr.acoustic import Block
from speech.asr.alternatives import alternatives
from speech.asr.decoder import Decoder, DecoderState
from speech.asr.endpoint import EndpointState, Span, advance
from speech.asr.evidence import Evidence, spoken
from speech.asr.hearing import Hearing
from speech.asr.hypothesis import Hypothesis
from speech.asr.settings import RecognitionSettings
from speech.asr.words import timed
from speech.events import Alternative, Event, Final, Partial, TurnEnd, Word
from speech.features.logmel import FloatArray
from speech.text.formatter import Formatter, ends_sentence

NO_TURN = -1.0
NOTHING: Evidence = np.zeros(0, np.int8)

TurnReason = Literal["silence", "length", "finish"]


@dataclass(frozen=True)
class SegmentState:
    """Of one stream. `decoder` is None while nobody speaks."""

    hearing: Hearing
    endpoint: EndpointState = field(default_factory=EndpointState)
    decoder: DecoderState | None = None
    frames: int = 0  # label frames seen since the start of the stream
    first: int = 0  # label frame with which the running segment began
    number: int = 0  # of the running or next segment
    turn_end_s: float = NO_TURN  # end of the last word of the open turn
    opens: bool = True  # the next segment begins a sentence
    shown: tuple[Word, ...] = ()  # words of the last partial, before a filter
    speech: Evidence = field(default_factory=NOTHING.copy)  # (frames,) of the running segment
    heard: FloatArray | None = None  # (frames, tokens) of the running segment, where alternatives are asked for


class Segments:
    """Shared by all streams: the rules and the formatter; every call takes states and returns new ones."""

    def __init__(self, settings: RecognitionSettings, formatter: Formatter, lead_s: float) -> None:
        """`lead_s`: label frame j begins at j x 40 ms - lead_s."""
        self._settings, self._formatter, self._lead_s = settings, formatter, lead_s

    def advance(
        self, states: Sequence[SegmentState], blocks: Sequence[Block], partials: Sequence[bool]
    ) -> list[tuple[SegmentState, list[Event]]]:
        """Take a block of frames for each stream: the new state and what happened, stream by stream.

        With `partials`, the words of a running segment are told whenever a block has changed them.
        """
        now, plans = list(states), []
        events: list[list[Event]] = [[] for _ in states]
        for i, block in enumerate(blocks):
            endpoint, spans = advance(self._settings.endpoint, now[i].endpoint, self._silent(block.log_probs))
            now[i] = replace(now[i], endpoint=endpoint)
            plans.append(spans)
        for turn in range(max(map(len, plans), default=0)):
            members = [i for i, spans in enumerate(plans) if turn < len(spans)]
            spans = [plans[i][turn] for i in members]
            decoded = self._decode([now[i] for i in members], [blocks[i] for i in members], spans)
            for i, state, span in zip(members, decoded, spans, strict=True):
                now[i] = self._end(state, span, events[i])
        for i, wanted in enumerate(partials):
            if wanted:
                now[i] = self._show(now[i], events[i])
        return list(zip(now, events, strict=True))

    def finish(self, state: SegmentState, duration_s: float) -> tuple[SegmentState, list[Event]]:
        """The stream is over: close what runs. No word ends after `duration_s`."""
        events: list[Event] = []
        if state.decoder is not None:
            state = self._close(state, events, duration_s)
        return self._end_turn(state, events, "finish"), events

    def _silent(self, block: FloatArray) -> list[bool]:
        tokens = list(self._settings.silence_tokens)
        if not len(block):
            return []
        silent: list[bool] = (np.exp(block[:, tokens]).sum(axis=1) > self._settings.silence_probability).tolist()
        return silent

    def _decode(
        self, states: Sequence[SegmentState], blocks: Sequence[Block], spans: Sequence[Span]
    ) -> list[SegmentState]:
        """The frames of one span for each stream, all streams with the same phrases in one call of their decoder."""
        after = [self._begin(s, span) for s, span in zip(states, spans, strict=True)]
        parts = [block.part(span.start, span.stop) for block, span in zip(blocks, spans, strict=True)]
        for decoder, members in _by_decoder(after, spans):
            before = [d for i in members if (d := after[i].decoder) is not None]
            decoded = decoder.advance(before, [parts[i].log_probs for i in members])
            for i, now in zip(members, decoded, strict=True):
                heard, speech = after[i].heard, np.concatenate([after[i].speech, parts[i].speech])
                kept = None if heard is None else np.concatenate([heard, parts[i].log_probs])
                after[i] = replace(after[i], decoder=now, heard=kept, speech=speech)
        return [replace(s, frames=s.frames + p.stop - p.start) for s, p in zip(after, spans, strict=True)]

    def _begin(self, state: SegmentState, span: Span) -> SegmentState:
        if state.decoder is not None or not span.decode:
            return state
        heard = np.zeros((0, len(state.hearing.decoder.graph.phones)), np.float32)
        kept = heard if state.hearing.alternatives else None
        return replace(state, decoder=state.hearing.decoder.start(), first=state.frames, heard=kept)

    def _end(self, state: SegmentState, span: Span, events: list[Event]) -> SegmentState:
        if span.closes:
            state = self._close(state, events, math.inf)
        return self._end_turn(state, events, "silence") if span.ends_turn else state

    def _close(self, state: SegmentState, events: list[Event], limit_s: float) -> SegmentState:
        """The running segment is over: a final if it has words, and the decoder rests."""
        assert state.decoder is not None
        closed = replace(state, decoder=None, shown=(), speech=NOTHING, heard=None)
        best = state.hearing.decoder.finish(state.decoder)
        words = self._spoken_words(best, state, limit_s)
        if words and fmean(word.confidence for word in words) >= self._settings.min_confidence:
            tokens = self._formatter.format(words, state.opens, state.hearing.forms)
            others = tuple(self._others(state, best, limit_s))
            final = Final(state.number, words, tokens, words[0].start_s, words[-1].end_s, others)
            told = state.hearing.final(final)
            closed = replace(closed, number=state.number + 1, opens=ends_sentence(tokens))
            if told.words:
                events.append(told)
                return replace(closed, turn_end_s=words[-1].end_s)
        if self._told(state, state.shown, 0).words:
            events.append(Partial(state.number, (), 0))  # what a partial showed is no speech, or nothing to be shown
        return closed

    def _others(self, state: SegmentState, best: Hypothesis, limit_s: float) -> Iterator[Alternative]:
        """The alternatives that were asked for."""
        if state.heard is None:
            return
        for way in alternatives(state.hearing.decoder, state.heard, best, state.hearing.alternatives):
            words = self._words(way, state, limit_s)
            yield Alternative(words, self._formatter.format(words, state.opens, state.hearing.forms))

    def _end_turn(self, state: SegmentState, events: list[Event], reason: TurnReason) -> SegmentState:
        if state.turn_end_s == NO_TURN:
            return state
        events.append(TurnEnd(state.turn_end_s, reason))
        return replace(state, turn_end_s=NO_TURN, opens=True)

    def _show(self, state: SegmentState, events: list[Event]) -> SegmentState:
        """A partial, if the words of the running segment have changed since the last."""
        if state.decoder is None:
            return state
        best = state.hearing.decoder.best(state.decoder)
        words = self._spoken_words(best, state, math.inf)
        if words == state.shown:
            return state
        # The end of the last word may still move: it stops where a next word begins.
        told = self._told(state, words, max(0, min(best.stable, len(words) - 1)))
        if told.words != self._told(state, state.shown, 0).words:
            events.append(told)
        return replace(state, shown=words)

    def shown(self, state: SegmentState) -> SegmentState:
        """A resumed live stream's state, knowing again the partial that it last told."""
        if state.decoder is None:
            return state
        return replace(state, shown=self._spoken_words(state.hearing.decoder.best(state.decoder), state, math.inf))

    def _told(self, state: SegmentState, words: tuple[Word, ...], stable: int) -> Partial:
        return state.hearing.partial(state.number, words, stable)

    def _spoken_words(self, found: Hypothesis, state: SegmentState, limit_s: float) -> tuple[Word, ...]:
        """Nothing where there is too little evidence that anybody spoke."""
        least = self._settings.min_speech
        if least is not None and found.words and spoken(found.words, state.speech) < least:
            return ()
        return self._words(found, state, limit_s)

    def _words(self, found: Hypothesis, state: SegmentState, limit_s: float) -> tuple[Word, ...]:
        shifts_s = (self._settings.word_start_shift_s, self._settings.word_end_shift_s)
        return timed(found.words, state.first, self._lead_s, shifts_s, limit_s)


def _by_decoder(states: Sequence[SegmentState], spans: Sequence[Span]) -> Iterator[tuple[Decoder, list[int]]]:
    """Each decoder with the places of the streams that it has frames of."""
    groups: dict[Decoder, list[int]] = {}
    for i, (state, span) in enumerate(zip(states, spans, strict=True)):
        if span.decode:
            groups.setdefault(state.hearing.decoder, []).append(i)
    yield from groups.items()
