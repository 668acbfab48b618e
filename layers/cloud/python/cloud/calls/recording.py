"""A call's recording, made when the call is over of what its video streams have kept: caller left, other side right.

While the call lasts nothing of it is held, so nothing is lost with a worker: whoever ends the call makes all of it. A
few seconds of sound are in memory at a time, however long the call was. The other side is the agent's track or, where
there is none, what was spoken in reply, out of the video stream of replies.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray
from speech.audio.files_write import FileWriter
from speech.errors import BadAudio, BadInput, Transient
from speech.media.call_events import Audio, AudioTrack, CallEvent
from speech.media.events import ServiceError
from speech.media.kvs import CallReader
from speech.media.sound import Sound
from speech.media.tape import Tape
from speech.media.timeline import is_above

from cloud.calls.sides import Plan, Side
from cloud.uploads import S3Writer
from cloud.video import archive
from cloud.video.archive import Kept

if TYPE_CHECKING:
    from collections.abc import Iterable

CONTENT_TYPE, ENCODING = "audio/flac", "flac"
LONGEST_FRAGMENT_MS = 15_000  # one that holds a moment begins no longer before it; the service allows 10 s
AGAIN_S = (0.5, 1.0, 2.0, 4.0)  # waits between attempts, also for the service to list the last fragment
MISSED_MS = 1500  # of the beginning, from which on it is said

Answer = TypeVar("Answer")


class Unrecorded(BadInput):
    """There can be no recording; the text says why."""


class Stopped(Exception):
    """Nobody wants the recording any more, here."""


def write(plan: Plan, bucket: str, key: str, stopped: threading.Event) -> tuple[str, ...]:
    """Make an object of the recording; what is missing in it, in words.

    Raises Unrecorded, or Transient when the service does not answer for some time; Stopped once `stopped` is set.
    """
    sources, warnings = _opened(plan, stopped)
    with S3Writer(bucket, key, content_type=CONTENT_TYPE) as file:
        writer = FileWriter(file, ENCODING, plan.rate, 2)
        for frames in _frames(sources, Tape(plan.rate, 2)):
            writer.receive(frames)
        writer.finish()
    lost = sum(source.lost for source in sources)
    return (*warnings, f"{lost} fragments could not be read for the recording") if lost else tuple(warnings)


def _opened(plan: Plan, stopped: threading.Event) -> tuple[list[_Source], list[str]]:
    """What can be read of the streams. Raises as `write` where that is not the call itself."""
    sources, warnings = list[_Source](), list(plan.warnings)
    for side in plan.sides:
        try:
            fragments = _listed(side, plan.origin_ms, stopped)
        except (BadInput, Transient) as error:
            if not side.is_replies:
                raise
            warnings.append(f"replies are not in the recording: {error}")
            continue
        sources.append(_Source(side, fragments, plan.origin_ms, stopped))
        if side.is_replies:
            continue
        if (missed_ms := fragments[0].at_ms - side.from_ms) > MISSED_MS:
            warnings.append(f"the recording lacks {missed_ms / 1000:.1f} s that {side.stream} had deleted before")
        if side.last and is_above(side.last, fragments[-1].number):
            warnings.append(f"{side.stream} does not list the end of the call, which the recording lacks")
    return sources, warnings


def _listed(side: Side, origin_ms: int, stopped: threading.Event) -> list[Kept]:
    """The fragments of a call, which are there; of replies there may be none."""
    if not _patiently(lambda: archive.retention_hours(side.stream), stopped):
        raise Unrecorded(f"the stream {side.stream} keeps nothing (its DataRetentionInHours is 0)")
    found = list[Kept]()
    for wait_s in (*AGAIN_S, None):
        from_ms = max(0, origin_ms - LONGEST_FRAGMENT_MS)
        found = _patiently(lambda at=from_ms: archive.listed(side.stream, at, side.to_ms), stopped)  # type: ignore[misc]
        if wait_s is None or not side.last or (found and not is_above(side.last, found[-1].number)):
            break
        _wait(wait_s, stopped)
    if not found and not side.is_replies:
        raise Unrecorded(f"the stream {side.stream} keeps nothing of that time any more")
    return found


def _frames(sources: list[_Source], tape: Tape) -> Iterator[NDArray[np.float32]]:
    """All frames; the source that is furthest behind is read first, so that little waits for it."""
    while waiting := [source for source in sources if source.until_ms < math.inf]:
        min(waiting, key=lambda source: source.until_ms).read(tape)
        until_ms = min(source.until_ms for source in sources)
        if until_ms < math.inf:
            yield from tape.take(max(0.0, until_ms))
    yield from tape.finish()


class _Source:
    """One stream's archive."""

    def __init__(self, side: Side, fragments: list[Kept], origin_ms: int, stopped: threading.Event) -> None:
        self._side, self._origin_ms, self._stopped = side, origin_ms, stopped
        self._pieces = deque(archive.pieces(fragments))
        self._reader = CallReader(contact_id=side.contact_id, mime_type=side.mime_type, reorder=archive.PIECE_FRAGMENTS)
        self._sounds: dict[int, Sound] = {}
        self.until_ms = -math.inf if fragments else math.inf  # of the call: before it, nothing more will come
        self.lost = 0  # fragments

    def read(self, tape: Tape) -> None:
        """Put the next piece on the tape."""
        piece = self._pieces.popleft()
        data = _patiently(lambda: archive.fetched(self._side.stream, piece), self._stopped)
        # What is out of order is so within the piece; behind its last fragment's start lies only what is still to come.
        self._take([*self._reader.receive(data), *self._reader.finish()], tape)
        over = self._reader.ended or not self._pieces
        self.until_ms = math.inf if over else max(self.until_ms, piece[-1].at_ms - self._origin_ms - 1)

    def _take(self, events: Iterable[CallEvent], tape: Tape) -> None:
        for event in events:
            match event:
                case AudioTrack():
                    self._declare(event)
                case Audio(track=number, at_ms=at_ms, data=data) if sound := self._sounds.get(number):
                    lane, last_ms = self._side.lanes[number]
                    if self._origin_ms <= at_ms <= last_ms:
                        tape.put(lane, at_ms - self._origin_ms, sound.hear(data), sound.rate)
                case ServiceError():
                    self.lost += 1

    def _declare(self, event: AudioTrack) -> None:
        self._sounds.pop(event.track.number, None)
        if event.format and event.track.number in self._side.lanes:
            try:
                self._sounds[event.track.number] = Sound(event.format)
            except BadAudio:
                return  # the transcript says so already


def _patiently(work: Callable[[], Answer], stopped: threading.Event) -> Answer:
    """Try several times. Raises Transient, Stopped, or what is lasting at once."""
    for wait_s in AGAIN_S:
        try:
            _wait(0.0, stopped)
            return work()
        except Transient:
            _wait(wait_s, stopped)
    return work()


def _wait(wait_s: float, stopped: threading.Event) -> None:
    if stopped.wait(wait_s):
        raise Stopped
