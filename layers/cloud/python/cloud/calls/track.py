"""One track of a call on its way to words: blocks with times in, records in the call's clock out.

The recogniser counts samples, the producer states times. Where they part by a little, the stated time wins for the
words that follow; a gap is heard as silence, and a long one, or a clock set back, begins a new recogniser stream.
"""

from __future__ import annotations

from collections import deque
from dataclasses import InitVar, dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from speech.events import Event, Final, Token, Word
from speech.media.formats import AudioFormat
from speech.media.sound import Sound

from cloud.live.told import Teller, Told, settled

if TYPE_CHECKING:
    from speech.asr.recognizer import Recognizer, RecognizerStream

Samples = NDArray[np.float32]
DRIFT_MS = 20  # stated times within this are the same
GAP_MS = 500  # a longer one is silence
LONGEST_SILENCE_MS = 30_000  # a longer one is not heard


@dataclass(frozen=True, slots=True)
class Begin:
    """A new recogniser stream, after the end of the one before, if there was one."""

    at_s: float  # in the call's clock
    rate: int  # Hz


@dataclass(frozen=True, slots=True)
class Shift:
    """Later words are later by so much than their samples say."""

    by_s: float


@dataclass(slots=True)
class Track:
    """A track; `waiting` is what the recogniser has not heard yet, in order. Raises as `Sound` for what it is in."""

    channel: int  # place among the call's tracks, from 0
    speaker: str
    format: AudioFormat
    teller: Teller
    stream: RecognizerStream | None = None
    end_ms: float | None = None  # end of the last block, in the call's clock
    finals: list[Final] = field(default_factory=list)  # in the call's clock
    numbered: int = 0  # records so far that are not partials
    waiting: deque[Samples | Begin | Shift] = field(default_factory=deque)
    primer: InitVar[tuple[bytes, ...]] = ()  # of `sound` in the process that has heard the track before
    sound: Sound = field(init=False)

    def __post_init__(self, primer: tuple[bytes, ...]) -> None:
        self.sound = Sound(self.format, primer)

    def change_format(self, found: AudioFormat) -> None:
        """The track is declared anew in another format. Raises as `Sound`."""
        if found != self.format:
            self.format, self.sound, self.end_ms = found, Sound(found), None

    def hear(self, at_ms: float, data: bytes) -> None:
        """A block that begins at `at_ms` of the call's clock."""
        before, samples = self.sound.rate, self.sound.hear(data)
        rate = self.sound.rate
        if rate != before:
            self.end_ms = None
        gap_ms = None if self.end_ms is None else at_ms - self.end_ms
        if gap_ms is None or not -GAP_MS <= gap_ms <= LONGEST_SILENCE_MS:
            self.waiting.append(Begin(at_ms / 1000, rate))
            self.end_ms = at_ms
        elif gap_ms > GAP_MS:
            self.waiting.append(np.zeros(round(gap_ms * rate / 1000), np.float32))
            self.end_ms = at_ms
        elif abs(gap_ms) > DRIFT_MS:
            self.waiting.append(Shift(gap_ms / 1000))
            self.end_ms = at_ms
        self.waiting.append(samples)
        self.end_ms = (at_ms if self.end_ms is None else self.end_ms) + 1000 * len(samples) / rate

    def next_samples(self) -> Samples | None:
        """What the recogniser may hear at once; None when something else comes first, or nothing does."""
        parts: list[Samples] = []
        while self.waiting and isinstance(self.waiting[0], np.ndarray):
            parts.append(self.waiting.popleft())  # type: ignore[arg-type]
        return np.concatenate(parts) if parts else None

    def turn(self, recognizer: Recognizer) -> list[Told] | None:
        """Do what comes next when that is no audio, and tell what follows; None when nothing waits."""
        if not self.waiting:
            return None
        match self.waiting.popleft():
            case Begin(at_s, rate):
                told = self.finish()
                self.stream, self.teller = recognizer.stream(rate=rate, live=True), self.teller.again(at_s)
                return told
            case Shift(by_s):
                self.teller = replace(self.teller, base_s=self.teller.base_s + by_s)
        return []

    def finish(self) -> list[Told]:
        """The recogniser stream is over: what it still owed."""
        stream, self.stream = self.stream, None
        return self.tell(stream.finish()) if stream else []

    def tell(self, events: list[Event]) -> list[Told]:
        """Events of the recogniser as numbered records; finals are kept."""
        for event in events:
            if isinstance(event, Final) and event.words:
                moved = later(event, self.teller.base_s)
                self.finals.append(replace(moved, segment=self.teller.base_segment + event.segment))
        self.teller, told = self.teller.tell(events)
        for record in told:
            record["speaker"] = self.speaker
            if record["type"] == "partial":
                # After a take-over partials may come again, cut differently: this says which of two is the later one.
                record["heard_s"] = round((self.end_ms or 0.0) / 1000, 3)
            else:
                record["number"] = self.numbered
                self.numbered += 1
        return settled(told)


def later(final: Final, by_s: float) -> Final:
    """The same, later."""

    def times(part: Final | Word | Token) -> dict[str, float]:
        return {"start_s": round(part.start_s + by_s, 3), "end_s": round(part.end_s + by_s, 3)}

    words = tuple(replace(word, **times(word)) for word in final.words)  # type: ignore[arg-type]
    tokens = tuple(replace(token, **times(token)) for token in final.tokens)  # type: ignore[arg-type]
    return Final(final.segment, words, tokens, times(final)["start_s"], times(final)["end_s"])
