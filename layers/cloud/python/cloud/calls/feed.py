"""Calls' streams read side by side, a thread each, into one queue: batches in order for each call."""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass, replace

from speech.media.call_events import Audio, Position

from cloud.video.consumer import CallEnded, Consumer, ConsumerEvent

WAITING = 512  # batches, of all calls: readers of what is kept must not run ahead of the recogniser


@dataclass(frozen=True, slots=True)
class Batch:
    """What came together on one call; its last batch has `ended`."""

    call: str
    reader: int  # which reader of the call: one that was given up may have left some
    leg: int  # which of the call's streams
    events: list[ConsumerEvent]
    position: Position  # behind the events
    ended: str = ""  # why there will be no more
    error: Exception | None = None  # what ended it

    @property
    def audio_bytes(self) -> int:
        """How much there is to hear."""
        return sum(len(event.data) for event in self.events if isinstance(event, Audio))


class Feed:
    """The readers of all calls of a worker."""

    def __init__(self) -> None:
        self._batches: queue.Queue[Batch] = queue.Queue(WAITING)
        self._readers: dict[tuple[str, int], tuple[Consumer, threading.Thread]] = {}  # by call and stream
        self._closing = threading.Event()

    def add(self, call: str, reader: int, consumer: Consumer, leg: int = 0) -> None:
        """Read a stream of a call, as its reader number `reader`."""
        arguments = call, reader, leg, consumer
        thread = threading.Thread(target=self._read, args=arguments, name=f"call {call}/{leg}", daemon=True)
        self._readers[call, leg] = consumer, thread
        thread.start()

    def hurry(self, call: str, leg: int, idle_s: float) -> None:
        """A stream of a call is said to have ended: wait no longer for more of it."""
        if reader := self._readers.get((call, leg)):
            reader[0].patience = replace(reader[0].patience, idle_s=idle_s)

    def stop(self, call: str, leg: int) -> None:
        """End the reading of one stream; its last batch will say so."""
        if reader := self._readers.get((call, leg)):
            reader[0].stop()

    def drop(self, call: str) -> None:
        """Read a call no longer; batches of it that wait are still given out."""
        for place in [place for place in self._readers if place[0] == call]:
            self._readers.pop(place)[0].stop()

    def close(self) -> None:
        """End every reader and wait for it."""
        self._closing.set()
        for consumer, _ in self._readers.values():
            consumer.stop()
        for _, thread in self._readers.values():
            thread.join(5.0)
        self._readers.clear()

    def take(self, wait_s: float, most_bytes: int) -> list[Batch]:
        """What comes within `wait_s`, or as soon as it is `most_bytes` of audio."""
        found: list[Batch] = []
        size, ends_s = 0, time.monotonic() + wait_s
        while size < most_bytes:
            try:
                found.append(self._batches.get(timeout=max(0.0, ends_s - time.monotonic())))
            except queue.Empty:
                break
            size += found[-1].audio_bytes
        return found

    def _read(self, call: str, reader: int, leg: int, consumer: Consumer) -> None:
        try:
            for events in consumer.batches():
                ended = events[-1].reason if isinstance(events[-1], CallEnded) else ""
                self._put(Batch(call, reader, leg, events, consumer.position, ended))
        except Exception as error:  # a call that fails must not take the others with it
            self._put(Batch(call, reader, leg, [], consumer.position, "failed", error))

    def _put(self, batch: Batch) -> None:
        while not self._closing.is_set():
            try:
                self._batches.put(batch, timeout=0.2)
            except queue.Full:
                continue
            return
