"""What one message does to one stream: the stream before it and the message give the stream after it and what is told.

No service is called here, so a message can be worked out again when another process was quicker to write.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from speech.errors import BadAudio, BadSnapshot, BadVocabulary

from cloud.live.audio_format import AudioFormat
from cloud.live.session import Session
from cloud.live.told import settled
from cloud.sockets.envelope import AUDIO, FINALIZE, STOP, Refused, Step
from cloud.sockets.order import Line, Place

if TYPE_CHECKING:
    from speech.asr.recognizer import Recognizer

    from cloud.sockets.messages import Start

LONGEST_S = 7200  # of a connection: API Gateway ends it then
Records = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Stream:
    """One stream as the table holds it."""

    connection: str
    name: str
    format: AudioFormat
    opened_s: float  # when its connection was opened, seconds since 1970
    line: Line = field(default_factory=Line)
    session: bytes = b""  # snapshot; empty after the end, and before the first audio where nothing was asked for
    number: int = 1  # of the next record that the client is told; 0 was `started`
    told: tuple[dict[str, Any], ...] = ()  # what the last messages taken gave
    told_from: int = 0  # the first of those messages
    done: bool = False
    revision: int = 0  # rises with each write, which is how one of two writers finds out that it was late

    def started(self) -> dict[str, Any]:
        """The answer to the start."""
        return {"type": "started", "stream": self.name, "number": 0, "received": 0}


def begun(start: Start, recognizer: Recognizer) -> bytes:
    """The session of a new stream that asks for words of its own. Raises Refused where one cannot be pronounced."""
    if start.options is None:
        return b""
    try:
        recognizer.hearings.of(start.options)
    except BadVocabulary as bad:
        raise Refused("bad_vocabulary", str(bad), stream=start.name) from None
    return Session.begin(recognizer, start.format, start.options).snapshot()


def same_start(stream: Stream, start: Start, recognizer: Recognizer) -> bool:
    """Whether the stream was started as this message asks, so that the message is a repeat."""
    options = Session.resume(recognizer, stream.session).options if stream.session else None
    return (stream.format, options) == (start.format, start.options)


def after(stream: Stream, step: Step, recognizer: Recognizer, now_s: float) -> tuple[Stream, Records]:
    """The stream after a message, the very same one where nothing changed, and what to tell the client.

    Raises Refused where the message cannot be taken; the stream stays as it is then.
    """
    if now_s - stream.opened_s >= LONGEST_S:
        text = f"a connection lasts {LONGEST_S // 3600} hours: open another"
        raise Refused("connection_expired", text, stream=stream.name, sequence=step.sequence)
    if stream.done and step.sequence >= stream.line.next:
        raise Refused("stream_ended", "the stream has ended: start another", stream=stream.name, sequence=step.sequence)
    place = stream.line.place(step)
    if place is Place.REPEAT:
        # Its first handler may have died between writing and telling; records are numbered, so telling twice is safe.
        again = stream.told if step.sequence >= stream.told_from and step.sequence < stream.line.next else ()
        return stream, [{**record, "repeat": True} for record in again]
    _check(stream, step)
    if place is Place.NEXT:
        return _taken(stream, step, recognizer, now_s)
    line = stream.line.keep(step, now_s)
    if not line.lost(now_s):
        return _written(stream, line=line), []
    return _written(stream, line=replace(line, reported=line.next)), [line.missing(step)]


def _check(stream: Stream, step: Step) -> None:
    try:
        stream.format.check(step.data)
    except BadAudio as bad:
        raise Refused("bad_audio", str(bad), stream=stream.name, sequence=step.sequence) from None


def _taken(stream: Stream, step: Step, recognizer: Recognizer, now_s: float) -> tuple[Stream, Records]:
    line, ready = stream.line.take(step, now_s)
    done = False
    try:
        session = _session(stream, recognizer)
        told = settled([record for one in ready for record in _heard(session, one)])
        done = ready[-1].kind == STOP
        snapshot = b"" if done else session.snapshot()
    except BadSnapshot as bad:  # foreign after a new model was deployed, or too large: there is no going on
        told, done, snapshot = [Refused("stream_lost", f"{bad}: start another stream").record()], True, b""
    told = [
        {**record, "stream": stream.name, "number": stream.number + at, "received": line.next}
        for at, record in enumerate(told)
    ]
    changed = _written(
        stream,
        line=replace(line, waiting={}) if done else line,
        session=snapshot,
        number=stream.number + len(told),
        told=tuple(told),
        told_from=step.sequence,
        done=done,
    )
    return changed, told


def _session(stream: Stream, recognizer: Recognizer) -> Session:
    if stream.session:
        return Session.resume(recognizer, stream.session)
    return Session.begin(recognizer, stream.format)


def _heard(session: Session, step: Step) -> Records:
    if step.kind == AUDIO:
        return session.receive(step.data)
    end = {"type": "finalized"} if step.kind == FINALIZE else {"type": "done", "audio_s": round(session.duration_s, 3)}
    return [*session.finalize(), {**end, "sequence": step.sequence}]


def _written(stream: Stream, **changes: Any) -> Stream:
    return replace(stream, revision=stream.revision + 1, **changes)
