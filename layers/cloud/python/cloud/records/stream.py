"""What records do to one live stream: the stream before them and the records give the stream after and its results.

Kinesis gives the records of a partition key in order, but may give them again; a shard's end and a split change
nothing about that, since sequence numbers go on rising for a key. What was taken is passed over by its number.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from speech.audio import pcm
from speech.errors import BadInput, BadSnapshot

from cloud.live.session import Session
from cloud.live.told import settled
from cloud.records.frames import Frame, parse

if TYPE_CHECKING:
    from speech.asr.recognizer import Recognizer

FILLED_S = 2.0  # a shorter gap is heard as silence; at a longer one the words before it are made final
MOST_RESULT_BYTES = 48 * 1024  # of results before they are written and sent: a snapshot has to fit beside them
Results = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Record:
    """One Kinesis record."""

    sequence: int  # Kinesis's sequence number
    data: bytes


@dataclass(frozen=True, slots=True)
class Stream:
    """One live stream as the table holds it."""

    name: str  # the partition key
    first: int = 0  # sequence number of its first record: with the name, this stream and no later one of the name
    taken_from: int = 0  # of the first record of the last write
    taken: int = -1  # of the last record that was taken
    position: int = 0  # samples per channel that were received
    session: bytes = b""  # snapshot; empty before the first audio and after the end
    number: int = 0  # of the next result
    results: tuple[dict[str, Any], ...] = ()  # of the last write: told again if its telling is in doubt
    done: bool = False
    revision: int = 0  # rises with each write


def after(stream: Stream, records: Sequence[Record], recognizer: Recognizer) -> tuple[Stream, list[Record]]:
    """The stream after the first of some new records, its `results` theirs; and the records that are left over."""
    hearing, left = _Hearing(stream, recognizer), list(records)
    while left and hearing.bytes <= MOST_RESULT_BYTES:
        hearing.take(left.pop(0))
    return hearing.written(records[0].sequence), left


def rested(stream: Stream, recognizer: Recognizer) -> Stream:
    """The stream after a long pause of its producer: what was heard is made final, and audio may go on after it."""
    hearing = _Hearing(stream, recognizer)
    hearing.rest()
    return hearing.written(stream.taken_from)


class _Hearing:
    """Takes records one after the other."""

    def __init__(self, stream: Stream, recognizer: Recognizer) -> None:
        self._stream, self._recognizer = stream, recognizer
        self._session: Session | None = None
        self._results: Results = []
        self.bytes = 0  # of results so far
        if stream.session:
            try:
                self._session = Session.resume(recognizer, stream.session)
            except BadSnapshot as bad:  # a new model was deployed: the words of the open segment are lost
                self._tell([{"type": "error", "code": "state_lost", "message": str(bad)}])

    def take(self, record: Record) -> None:
        """One record: what is wrong with it is a result too."""
        try:
            frame = parse(record.data)
            if self._stream.taken < 0 or (self._stream.done and frame.position == 0):
                self._begin(record.sequence)
            self._frame(frame)
        except BadInput as bad:
            self._tell([{"type": "error", "code": "bad_record", "message": str(bad), "record": str(record.sequence)}])
        self._stream = replace(self._stream, taken=record.sequence)

    def rest(self) -> None:
        """The producer has paused."""
        if self._session is not None:
            self._tell(self._session.finalize())

    def written(self, taken_from: int) -> Stream:
        """The stream as it is to be written."""
        return replace(
            self._stream,
            taken_from=taken_from,
            session=b"" if self._session is None else self._session.snapshot(),
            results=tuple(self._results),
            revision=self._stream.revision + 1,
        )

    def _begin(self, sequence: int) -> None:
        """A stream of this name begins, perhaps after one that has ended."""
        self._stream = Stream(self._stream.name, first=sequence, revision=self._stream.revision)
        self._session = None

    def _frame(self, frame: Frame) -> None:
        behind = self._stream.position - frame.position
        if behind < 0 and not self._stream.done:
            self._gap(frame, -behind)
            behind = 0
        audio = frame.audio[behind * frame.format.frame_bytes :] if behind >= 0 else frame.audio
        if self._stream.done:
            if audio:
                raise BadInput("the stream has ended: begin another with position 0")
            return
        if audio:
            session = self._of(frame)
            self._tell(session.receive(audio))
            self._stream = replace(self._stream, position=session.frames)
        if frame.last:
            self._end(frame)

    def _gap(self, frame: Frame, missing: int) -> None:
        seconds = round(missing / frame.format.rate, 3)
        at_s = round(self._stream.position / frame.format.rate, 3)
        session = self._of(frame)
        if missing <= FILLED_S * frame.format.rate:
            silence = np.zeros(missing * frame.format.channels, np.float32)
            told = session.receive(pcm.encode(silence, frame.format.encoding))
        else:
            told = session.finalize()
            session.frames += missing
        self._tell([*told, {"type": "gap", "at_s": at_s, "missing_s": seconds}])
        self._stream = replace(self._stream, position=session.frames)

    def _of(self, frame: Frame) -> Session:
        if self._session is None:
            self._session = Session.begin(self._recognizer, frame.format)
            self._session.frames = self._stream.position
        if self._session.format != frame.format:
            raise BadInput(f"the stream is {self._session.format}, a record of it {frame.format}")
        return self._session

    def _end(self, frame: Frame) -> None:
        told = [] if self._session is None else self._session.finalize()
        audio_s = round(self._stream.position / frame.format.rate, 3)
        self._tell([*told, {"type": "done", "audio_s": audio_s}])
        self._session, self._stream = None, replace(self._stream, done=True)

    def _tell(self, told: Results) -> None:
        about = {"stream": self._stream.name, "session": str(self._stream.first)}
        for record in settled(told):
            self._results.append({**record, **about, "number": self._stream.number})
            self._stream = replace(self._stream, number=self._stream.number + 1)
            self.bytes += len(json.dumps(record))
