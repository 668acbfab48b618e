"""Three hours of a call in seconds: connections are renewed, memory stays flat, words stay where they were said."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator, Sequence

import numpy as np
from cloud.calls.call import Call
from cloud.calls.session import Session, step
from cloud.calls.track import Samples, Track
from cloud.live.told import Teller
from cloud.video.consumer import CallEnded, Connected, Consumer, Disconnected
from cloud.video.getmedia import Start
from speech.audio import pcm
from speech.events import Event, Final, Word
from speech.media.call_events import Audio, Dropped, Gap
from speech.media.documents import FragmentWriter
from speech.media.events import Block, FragmentInfo
from speech.media.formats import AudioFormat
from speech.media.writer import mulaw_track

HOURS = 3
FRAGMENT_S = 10
FRAGMENTS = 3600 * HOURS // FRAGMENT_S
BEGAN_S = 1_700_000_000
RATE = 8000  # Hz; the lowest there is, for speed
TRACKS = (mulaw_track(1, RATE, name="AUDIO_FROM_CUSTOMER"),)
SOUND = bytes(RATE * FRAGMENT_S)


class Service:
    """GetMedia with a clock of its own: it passes with each fragment, and after 2700 s a connection is cut."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.longest_s = 0.0

    def clock(self) -> float:
        return self.now_s

    def connect(self, stream: str, start: Start, silence_s: float) -> Service:
        first = int(start.fragment) if start.kind == "FRAGMENT_NUMBER" else 0
        self._opened_s, self._documents = self.now_s, self._from(first)
        return self

    def _from(self, first: int) -> Iterator[bytes]:
        for index in range(first, FRAGMENTS):
            number = f"{index + 1:047d}"
            at_s = FRAGMENT_S * index
            info = FragmentInfo(number, BEGAN_S + at_s, BEGAN_S + at_s, 0, number)
            self.now_s += FRAGMENT_S
            yield FragmentWriter(TRACKS, info).whole([Block(1, 1000 * at_s, SOUND)], 1000 * at_s, {"ContactId": "c"})

    def read(self) -> bytes:
        self.longest_s = max(self.longest_s, self.now_s - self._opened_s)
        assert self.longest_s < 2700
        return next(self._documents, b"")

    def interrupt(self) -> None: ...

    def close(self) -> None: ...


def test_connections_are_renewed_in_time_and_memory_is_flat() -> None:
    service, heard, connections, memory = Service(), 0, 0, list[int]()
    consumer = Consumer("s", Start("EARLIEST"), connect=service.connect, clock=service.clock)
    tracemalloc.start()
    for events in consumer.batches():
        for event in events:
            assert not isinstance(event, Gap | Dropped), event
            connections += isinstance(event, Connected)
            if isinstance(event, Audio):
                assert event.at_ms == 1000 * (BEGAN_S + FRAGMENT_S * heard)
                heard += 1
                if heard % 180 == 0:
                    gc.collect()  # the parser of a connection refers to itself
                    memory.append(tracemalloc.get_traced_memory()[0])
            if isinstance(event, Disconnected) and heard == FRAGMENTS:
                consumer.stop()
    tracemalloc.stop()
    assert events == [CallEnded("stopped")]
    assert heard == FRAGMENTS
    assert connections >= 1 + 4
    assert service.longest_s >= 2100
    settled, later = memory[1], memory[2:]  # the first half hour still fills what is filled once, as imports and caches
    assert len(later) >= 3
    assert max(later) < 1.05 * settled + 20_000


class Clicks:
    """A recogniser that hears a click as a word, exactly where it is; it counts samples, as ours does."""

    language = "en"

    def __init__(self) -> None:
        self.samples = 0
        self.rate = 8000

    def stream(self, rate: int, live: bool) -> Clicks:
        return self

    def finish(self) -> list[Event]:
        return []

    def step_many(self, streams: Sequence[Clicks], chunks: Sequence[Samples]) -> list[list[Event]]:
        told: list[list[Event]] = []
        for chunk in chunks:
            told.append([])
            for at in np.flatnonzero(chunk > 0.5):
                at_s = (self.samples + int(at)) / self.rate
                told[-1].append(Final(0, (Word("click", at_s, at_s, 1.0),), (), at_s, at_s))
            self.samples += len(chunk)
        return told


def test_words_do_not_drift_in_three_hours() -> None:
    """The producer's sound card runs 120 parts in a million slow: 1.3 s in three hours, if samples were believed."""
    clicks = Clicks()
    track = Track(0, "customer", AudioFormat("pcm_s16le", 8000), Teller(0))
    session = Session(Call("c", "s", Start("NOW")), clicks, tracks={1: track})  # type: ignore[arg-type]
    expected_s, sound = [], np.zeros(8000, np.float32)
    sound[4000] = 0.9
    quiet, clicked = (pcm.encode(part, "pcm_s16le") for part in (np.zeros(8000, np.float32), sound))
    for second in range(3600 * HOURS):
        stated_ms = round(1000 * second * (1 + 120e-6))
        loud = second % 60 == 30
        if loud:
            expected_s.append(stated_ms / 1000 + 0.5)
        track.hear(stated_ms, clicked if loud else quiet)
        if second % 100 == 0:
            step([session])
    step([session])
    found_s = [word.start_s for final in track.finals for word in final.words]
    assert len(found_s) == len(expected_s) == 60 * HOURS
    assert np.abs(np.array(found_s) - expected_s).max() <= 0.021
