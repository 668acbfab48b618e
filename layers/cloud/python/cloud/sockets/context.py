"""What one message does to one context: the context before it and the message give the context after it.

A context is what is to be said and who says it; what has been said is a `Said`. No service is called here, so a
message can be worked out again when another process was quicker to write.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from speech.tts.sentences import Splitter

from cloud.sockets.envelope import FINISH, TEXT, Refused, Step
from cloud.sockets.order import Line, Place
from cloud.sockets.speech_messages import Open, Voice
from cloud.sockets.stream import LONGEST_S

MOST_TEXT_BYTES = 24_000  # UTF-8, of a context
HOLD_S = 10.0  # for so long a process may speak before it must say that it is still there
CALLED = "called"  # owner of the hold of a process that was called and has not begun
PREFIX = "context#"  # of the names of contexts where they stand among streams


@dataclass(frozen=True, slots=True)
class Entry:
    """A message that is to be spoken: its turn has come."""

    kind: str  # text, flush or finish
    sequence: int | None  # None: it came with `open`
    text: str = ""


@dataclass(frozen=True, slots=True)
class Hold:
    """Who speaks. One at a time does, so that no work is done twice; if two did, they would say the same."""

    owner: str
    until_s: float  # seconds since 1970


@dataclass(frozen=True, slots=True)
class Context:
    """One context as the table holds it."""

    connection: str
    name: str
    opening: Open
    opened_s: float  # when its connection was opened, seconds since 1970
    line: Line = field(default_factory=Line)
    entries: tuple[Entry, ...] = ()  # to be spoken
    first: int = 0  # how many entries came before them
    tail: str = ""  # what was given to the speech before these entries and is no whole clause yet
    text_bytes: int = 0  # of all text so far, that in the line included
    hold: Hold | None = None
    cancel: tuple[float | None] | None = None  # (played_s,): it is to be silent
    over: Mapping[str, Any] | None = None  # the last record, once it is over
    said: int = 0  # revision of what was said when somebody spoke last
    revision: int = 0

    @property
    def voice(self) -> Voice:
        """How it speaks."""
        return self.opening.voice

    def opened(self, voice: str) -> dict[str, Any]:
        """The answer to `open`."""
        kept = {"encoding": self.voice.encoding, "rate": self.voice.rate}
        return {"type": "opened", "context": self.name, "number": 0, "received": 0, "voice": voice, **kept}

    def held(self, now_s: float) -> bool:
        """Whether some process speaks, or is about to because another one called it."""
        return self.hold is not None and self.hold.until_s > now_s

    def speaking(self, now_s: float) -> bool:
        """Whether some process speaks at this moment."""
        return self.hold is not None and self.held(now_s) and self.hold.owner != CALLED

    def wants_speaker(self, now_s: float) -> bool:
        """Whether nobody speaks and somebody should: entries complete a clause or end one, or a speaker has died."""
        if self.over or self.cancel or self.held(now_s):
            return False
        if self.hold is not None or any(entry.kind != TEXT for entry in self.entries):
            return True
        return bool(Splitter.resumed(self.tail, 0).receive("".join(entry.text for entry in self.entries)))


def begun(opening: Open, connection: str, opened_s: float) -> Context:
    """A new context. Raises Refused where it has too much to say."""
    size = len(opening.text.encode())
    _check_size(size, opening.name)
    entries = [Entry(TEXT, None, opening.text)] if opening.text else []
    entries += [Entry(FINISH, None)] if opening.finish else []
    return Context(connection, opening.name, sealed(opening), opened_s, entries=tuple(entries), text_bytes=size)


def sealed(opening: Open) -> Open:
    """An opening that is only to be compared with its repeat: a digest of its text instead of the text."""
    return replace(opening, text=hashlib.sha256(opening.text.encode()).hexdigest()[:16] if opening.text else "")


def after(context: Context, step: Step, now_s: float) -> tuple[Context, list[dict[str, Any]]]:
    """The context after a message, the very same one where nothing changed, and what to tell at once.

    Raises Refused where the message cannot be taken; the context stays as it is then.
    """
    if now_s - context.opened_s >= LONGEST_S:
        text = f"a connection lasts {LONGEST_S // 3600} hours: open another"
        raise Refused("connection_expired", text, context=context.name, sequence=step.sequence)
    if context.over is not None:
        return context, _told_again(context, step)
    _check_finished(context, step)
    place = context.line.place(step)
    if place is Place.REPEAT:
        return context, []
    size = context.text_bytes + len(step.data)
    _check_size(size, context.name, sequence=step.sequence)
    if place is Place.NEXT:
        line, ready = context.line.take(step, now_s)
        entries = [Entry(one.kind, one.sequence, one.data.decode()) for one in ready if one.data or one.kind != TEXT]
        return written(context, line=line, entries=(*context.entries, *entries), text_bytes=size), []
    line, told = context.line.keep(step, now_s), list[dict[str, Any]]()
    if line.lost(now_s):
        told = [line.missing(step)]
        line = replace(line, reported=line.next)
    return written(context, line=line, text_bytes=size), told


def absorbed(context: Context, entries: int, tail: str) -> Context:
    """Without the entries that the speech has taken in, of all so far; to be `written`."""
    gone = max(0, entries - context.first)
    return replace(context, entries=context.entries[gone:], first=context.first + gone, tail=tail)


def written(context: Context, **changes: Any) -> Context:
    """With changes, as the next revision."""
    return replace(context, revision=context.revision + 1, **changes)


def _told_again(context: Context, step: Step) -> list[dict[str, Any]]:
    """Where a context is over: its end once more for who sends its last message again, a refusal for new ones."""
    if step.sequence >= context.line.next:
        raise Refused("context_ended", "the context is over: open another", **step.named, sequence=step.sequence)
    return [{**context.over, "repeat": True}] if step.kind == FINISH and context.over else []


def _check_finished(context: Context, step: Step) -> None:
    finished = any(entry.kind == FINISH for entry in context.entries) or context.opening.finish
    if finished and step.sequence >= context.line.next:
        raise Refused("context_ended", "the context was finished: open another", **step.named, sequence=step.sequence)


def _check_size(size: int, name: str, **details: Any) -> None:
    if size > MOST_TEXT_BYTES:
        text = f"a context takes {MOST_TEXT_BYTES} bytes of text, this would be {size}: open another for the rest"
        raise Refused("text_too_long", f"{text}, or post it to /v1/speech-jobs", context=name, **details)
