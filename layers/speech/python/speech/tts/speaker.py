"""One stream of clauses becoming sound: acoustic model, vocoder, pauses between, and the time of every word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from speech.tts.acoustic import AcousticModel, Frames, State
from speech.tts.excitation import HOP, RATE
from speech.tts.marks import TimedSpan
from speech.tts.plan import Plan, plan
from speech.tts.prosody import Prosody
from speech.tts.script import Clause
from speech.tts.settings import SynthesisSettings
from speech.tts.units import FRAMES
from speech.tts.vocoder import Samples, VocoderModel

FRAME_S = HOP / RATE
_SILENCE_FRAMES = 40  # at a time: half a second, so that a long break does not hold up a cancel


@dataclass(frozen=True, slots=True)
class Sound:
    """Samples (n,) at 24 kHz, and what of the text begins in them."""

    samples: Samples
    spans: tuple[TimedSpan, ...] = ()


class Speaker:
    """State of one stream. Times count from its first sample, in samples, never in rounded chunks."""

    def __init__(
        self,
        acoustic: AcousticModel,
        vocoder: VocoderModel,
        settings: SynthesisSettings,
        voice: NDArray[np.float32],
        base: Prosody,
    ) -> None:
        self._acoustic, self._vocoder, self._settings = acoustic, vocoder, settings
        self._voice, self._base = voice, base
        self._decoder: State | None = None  # within a sentence; None: the next clause begins one
        self._state = vocoder.start()
        self._frames = 0  # given to the vocoder
        self._samples = 0  # taken from it
        self._owed_s = 0.0  # the pause before the next words
        self._waiting: list[TimedSpan] = []  # spans whose first sample has not come out
        self._sentence: TimedSpan | None = None  # the running one, with the end of its last clause

    def speak(self, clause: Clause) -> Iterator[Sound]:
        """The sound of a clause, as it is made."""
        planned = plan(clause, self._decoder is None, self._base)
        if clause.words:
            yield from self._silence(self._owed_s)
            self._owed_s = 0.0
            yield from self._say(planned, clause)
        else:
            self._place(planned, np.zeros(0, np.int64))
        if clause.kind != "clause":
            self._end_sentence(clause.kind)
        if clause.pause_s is not None:
            self._owed_s = 0.0
            yield from self._silence(clause.pause_s)

    def flush(self) -> Iterator[Sound]:
        """The samples still owed for what was said, and the marks after the last word."""
        self._state, samples = self._vocoder.flush(self._state)
        if len(samples):
            self._frames += len(samples) // HOP
        yield self._out(samples, everything=True)

    def _say(self, planned: Plan, clause: Clause) -> Iterator[Sound]:
        state = self._acoustic.start() if self._decoder is None else self._decoder
        lead = self._settings.leads.get(planned.first, self._settings.lead_units)
        vectors, units = self._acoustic.read(planned, self._voice, lead)
        self._place(planned, units)
        began = self._time(units, int(planned.begins))
        first = self._sentence or TimedSpan("sentence", began, clause.start, clause.end)
        self._sentence = replace(first, end=clause.end, end_s=self._time(units, len(units)))
        for after, frames in self._acoustic.speak(state, planned, vectors, units, self._voice):
            self._decoder = after
            yield self._sound(frames)

    def _end_sentence(self, kind: str) -> None:
        self._decoder = None
        pauses = self._settings.pauses
        self._owed_s = {"clause": pauses.clause, "sentence": pauses.sentence, "paragraph": pauses.paragraph}[kind]
        if self._sentence is not None:
            self._waiting.append(self._sentence)
            self._sentence = None

    def _time(self, units: NDArray[np.int64], symbol: int) -> float:
        """Seconds at which a symbol of the clause that comes next is heard to begin."""
        return max(0.0, (self._frames + FRAMES * int(units[:symbol].sum())) * FRAME_S - self._settings.onset_s)

    def _place(self, planned: Plan, units: NDArray[np.int64]) -> None:
        for span in planned.spans:
            start_s, end_s = self._time(units, span.first), self._time(units, span.after)
            self._waiting.append(TimedSpan(span.type, start_s, span.start, span.end, span.value, end_s))

    def _silence(self, seconds: float) -> Iterator[Sound]:
        left = round(seconds / FRAME_S)
        while left > 0:
            count = min(left, _SILENCE_FRAMES)
            left -= count
            yield self._sound(self._vocoder.silence(count, 10 ** (self._base.volume_db / 20)))

    def _sound(self, frames: Frames) -> Sound:
        self._state, samples = self._vocoder.run(self._state, frames)
        self._frames += len(frames.f0)
        return self._out(samples)

    def _out(self, samples: Samples, everything: bool = False) -> Sound:
        self._samples += len(samples)
        now = self._samples / RATE
        begun = [span for span in self._waiting if everything or span.start_s < now]
        self._waiting = [span for span in self._waiting if not (everything or span.start_s < now)]
        return Sound(samples, tuple(begun))
