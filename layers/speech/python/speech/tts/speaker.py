"""One stream of clauses becoming sound: acoustic model, vocoder, pauses between, and the time of every word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from speech.tts.acoustic import STEP, AcousticModel, Frames, State
from speech.tts.excitation import HOP, RATE
from speech.tts.marks import TimedSpan
from speech.tts.plan import Plan, plan
from speech.tts.prosody import Prosody
from speech.tts.script import Clause
from speech.tts.settings import SynthesisSettings
from speech.tts.units import FRAMES
from speech.tts.vocoder import Samples, VocoderModel, VocoderState

FRAME_S = HOP / RATE
_SILENCE_FRAMES = 40  # at a time: half a second, so that a long break does not hold up a cancel


@dataclass(frozen=True, slots=True)
class Sound:
    """Samples (n,) at 24 kHz, and what of the text begins in them."""

    samples: Samples
    spans: tuple[TimedSpan, ...] = ()


@dataclass(slots=True)
class Place:
    """How far a clause has been spoken."""

    begins: bool  # it is the first of its sentence
    lead: int  # frames of silence still to come before it
    unit: int = -1  # the next one to be spoken; -1: the times of its words are not known yet
    tail: int = -1  # frames of silence still to come after it; -1: its last unit has not been spoken
    window: int = 0  # of the clause's symbols, the one that `unit` counts in


@dataclass(slots=True)
class SpeakerState:
    """Of one stream, between any two of its sounds."""

    vocoder: VocoderState
    decoder: State | None = None  # within a sentence; None: the next clause begins one
    place: Place | None = None  # in the clause that is being spoken; None between clauses
    frames: int = 0  # given to the vocoder
    samples: int = 0  # taken from it
    owed_s: float = 0.0  # the pause before the next words
    waiting: list[TimedSpan] = field(default_factory=list)  # spans whose first sample has not come out
    sentence: TimedSpan | None = None  # the running one, with the end of its last clause


class Speaker:
    """Times count from the first sample of the stream, in samples, never in rounded chunks."""

    def __init__(
        self,
        acoustic: AcousticModel,
        vocoder: VocoderModel,
        settings: SynthesisSettings,
        voice: NDArray[np.float32],
        base: Prosody,
        state: SpeakerState | None = None,
    ) -> None:
        """`base`: what all speech is changed by; `state`: of a stream that goes on, None for a new one."""
        self._acoustic, self._vocoder, self._settings = acoustic, vocoder, settings
        self._voice, self.base = voice, base
        self.state = state or SpeakerState(vocoder.start())

    def speak(self, clause: Clause) -> Iterator[Sound]:
        """The sound of a clause, as it is made; what is left of it where `state.place` says that it was begun."""
        state = self.state
        place = state.place = state.place or self._before(clause)
        planned = plan(clause, place.begins, self.base)
        while place.lead:
            count = min(place.lead, _SILENCE_FRAMES)
            place.lead -= count
            yield self._silence(count)
        if place.tail < 0:
            yield from self._say(place, planned, clause)
            place.tail = self._after(clause)
        while place.tail:
            count = min(place.tail, _SILENCE_FRAMES)
            place.tail -= count
            yield self._silence(count)
        state.place = None

    def flush(self) -> Sound:
        """The samples still owed for what was said, and the marks after the last word."""
        self.state.vocoder, samples = self._vocoder.flush(self.state.vocoder)
        if len(samples):
            self.state.frames += len(samples) // HOP
        return self._out(samples, everything=True)

    def _before(self, clause: Clause) -> Place:
        place = Place(self.state.decoder is None, _frames(self.state.owed_s) if clause.words else 0)
        if clause.words:
            self.state.owed_s = 0.0
        return place

    def _say(self, place: Place, planned: Plan, clause: Clause) -> Iterator[Sound]:
        if not clause.words:
            self._plant(planned, np.zeros(0, np.int64))
            return
        lead = self._settings.leads.get(planned.first, self._settings.lead_units)
        for window in planned.windows()[place.window :]:
            part = planned.part(window)
            vectors, units = self._acoustic.read(planned, self._voice, lead, window)
            if place.unit < 0:
                self._plant(part, units)
                began = self._time(units, int(part.begins))
                first = self.state.sentence or TimedSpan("sentence", began, clause.start, clause.end)
                self.state.sentence = replace(first, end=clause.end, end_s=self._time(units, len(units)))
                place.unit = 0
            state = self._acoustic.start() if self.state.decoder is None else self.state.decoder
            for after, frames in self._acoustic.speak(state, part, vectors, units, self._voice, place.unit):
                self.state.decoder = after
                place.unit += STEP
                yield self._sound(frames)
            place.unit, place.window = -1, place.window + 1

    def _after(self, clause: Clause) -> int:
        """Ends the sentence if it does end; frames of silence that were asked for after the clause."""
        if clause.kind != "clause":
            self._end_sentence(clause.kind)
        if clause.pause_s is None:
            return 0
        self.state.owed_s = 0.0
        return _frames(clause.pause_s)

    def _end_sentence(self, kind: str) -> None:
        state, pauses = self.state, self._settings.pauses
        state.decoder = None
        state.owed_s = {"clause": pauses.clause, "sentence": pauses.sentence, "paragraph": pauses.paragraph}[kind]
        if state.sentence is not None:
            state.waiting.append(state.sentence)
            state.sentence = None

    def _time(self, units: NDArray[np.int64], symbol: int) -> float:
        """Seconds at which a symbol of the clause that comes next is heard to begin."""
        return max(0.0, (self.state.frames + FRAMES * int(units[:symbol].sum())) * FRAME_S - self._settings.onset_s)

    def _plant(self, planned: Plan, units: NDArray[np.int64]) -> None:
        """Words and marks of a clause get their times."""
        for span in planned.spans:
            start_s, end_s = self._time(units, span.first), self._time(units, span.after)
            self.state.waiting.append(TimedSpan(span.type, start_s, span.start, span.end, span.value, end_s))

    def _silence(self, frames: int) -> Sound:
        return self._sound(self._vocoder.silence(frames, 10 ** (self.base.volume_db / 20)))

    def _sound(self, frames: Frames) -> Sound:
        self.state.vocoder, samples = self._vocoder.run(self.state.vocoder, frames)
        self.state.frames += len(frames.f0)
        return self._out(samples)

    def _out(self, samples: Samples, everything: bool = False) -> Sound:
        self.state.samples += len(samples)
        now, waiting = self.state.samples / RATE, self.state.waiting
        begun = [span for span in waiting if everything or span.start_s < now]
        self.state.waiting = [span for span in waiting if not (everything or span.start_s < now)]
        return Sound(samples, tuple(begun))


def _frames(seconds: float) -> int:
    return max(0, round(seconds / FRAME_S))
