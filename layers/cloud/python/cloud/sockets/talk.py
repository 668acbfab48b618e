"""Messages of contexts: opened, spoken to, cancelled. Whoever finds that something can be spoken speaks it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit
from speech.errors import BadInput

from cloud.observability import metrics
from cloud.sockets.connection_table import Full, NotOpen
from cloud.sockets.context import HOLD_S, PREFIX, Context, Hold, after, begun, sealed, written
from cloud.sockets.envelope import Refused, Step, shown
from cloud.sockets.invocation import Invocation
from cloud.sockets.mouth import stream
from cloud.sockets.speech_messages import Cancel, Open
from cloud.sockets.stream_table import Conflict
from cloud.sockets.turn import Speakers, Turn

MOST_ATTEMPTS = 100  # each lost race means that another message of the context was written


@dataclass(frozen=True, slots=True)
class Talk:
    """Every method may speak, and so take as long as its invocation lets it."""

    speakers: Speakers

    def open(self, connection: str, opening: Open, invocation: Invocation) -> None:
        """A new context, perhaps with all that it has to say. Raises Refused."""
        context = begun(opening, connection, 0.0)
        voice = self._checked(context, opening)
        context = written(context, opened_s=self._place(connection, opening.name))
        if context.wants_speaker(invocation.now_s):
            context = replace(context, hold=Hold(invocation.me, invocation.now_s + HOLD_S))
        if self._written(context):
            metrics.add_metric("Contexts", MetricUnit.Count, 1)
            self._tell(connection, context.opened(voice))
            self._speak(context, invocation)
            return
        self._check_same(connection, opening)
        self._tell(connection, context.opened(voice) | {"repeat": True})
        self.go_on(connection, opening.name, invocation)

    def step(self, connection: str, step: Step, invocation: Invocation) -> None:
        """Text, flush or finish. Raises Refused."""
        for attempt in range(MOST_ATTEMPTS):
            before = None if attempt else self.speakers.contexts.recall(connection, step.name)
            certain = before is None
            before = before or self.speakers.contexts.read(connection, step.name)
            if before is None:
                raise _unknown(step.name, sequence=step.sequence)
            try:
                changed, told = _after(before, step, invocation)
            except Refused:
                if certain:
                    raise
                continue
            if changed is before:
                if certain:
                    self._tell(connection, *told)
                    return
            elif self._written(changed):
                self._tell(connection, *told)
                self._speak(changed, invocation)
                return
        raise Refused("busy", "too many messages at once: send it again", **step.named, sequence=step.sequence)

    def cancel(self, connection: str, message: Cancel, invocation: Invocation) -> None:
        """Silence at once: whoever speaks is told to stop; where nobody does, or all was said, it is settled here."""
        contexts = self.speakers.contexts
        for _ in range(MOST_ATTEMPTS):
            context = contexts.read(connection, message.name)
            if context is None:
                raise _unknown(message.name)
            if context.over is not None and context.over["type"] != "done":
                self._tell(connection, {**context.over, "repeat": True})
                return
            try:
                if not context.speaking(invocation.now_s):
                    self.speakers.silence(context, contexts.read_said(context), message.played_s)
                elif context.cancel is None:
                    contexts.write(written(context, cancel=(message.played_s,)))
            except Conflict:
                continue
            return
        raise Refused("busy", "too many messages at once: send it again", context=message.name)

    def go_on(self, connection: str, name: str, invocation: Invocation) -> None:
        """Speaks where another process stopped; nothing happens where there is nothing to say, or somebody does."""
        for _ in range(MOST_ATTEMPTS):
            context = self.speakers.contexts.read(connection, name)
            if context is None or context.speaking(invocation.now_s):
                return
            called = context.over is None and context.hold is not None
            if not called and not context.wants_speaker(invocation.now_s):
                return
            context = written(context, hold=Hold(invocation.me, invocation.now_s + HOLD_S))
            if self._written(context):
                self._speak(context, invocation)
                return

    def _speak(self, context: Context, invocation: Invocation) -> None:
        if context.hold is not None and context.hold.owner == invocation.me:
            Turn(self.speakers, context, invocation).run()

    def _checked(self, context: Context, opening: Open) -> str:
        """The name of the voice that speaks. Raises Refused where it cannot as it should."""
        voices = self.speakers.voices()
        voice = opening.voice.voice or voices.voices[0]
        if voice not in voices.voices:
            known = ", ".join(voices.voices)
            text = f"voice {shown(voice)} is not known; expected one of {known}"
            raise Refused("bad_voice", text, context=opening.name)
        try:
            stream(voices, context)
        except BadInput as bad:
            raise Refused("bad_format", str(bad), context=opening.name) from None
        return voice

    def _place(self, connection: str, name: str) -> float:
        """Takes one of the connection's places: when the connection was opened."""
        try:
            return self.speakers.connections.add_stream(connection, PREFIX + name)
        except Full:
            raise Refused("too_many_streams", "end a stream or context before opening another", context=name) from None
        except NotOpen:
            raise Refused("not_connected", "this connection is closed: open another", context=name) from None

    def _check_same(self, connection: str, opening: Open) -> None:
        """Raises Refused unless the context of this name was opened by the same message."""
        held = self.speakers.contexts.read(connection, opening.name)
        if held is None or held.over is not None or held.opening != sealed(opening):
            if held is not None and held.over is not None:
                self.speakers.connections.drop_stream(connection, PREFIX + opening.name)
            text = f"there is a context {opening.name!r} already: choose another name"
            raise Refused("context_exists", text, context=opening.name)

    def _written(self, context: Context) -> bool:
        try:
            self.speakers.contexts.write(context)
        except Conflict:
            metrics.add_metric("Conflicts", MetricUnit.Count, 1)
            return False
        return True

    def _tell(self, connection: str, *records: dict[str, Any]) -> None:
        for record in records:
            self.speakers.clients.send(connection, record)


def _after(before: Context, step: Step, invocation: Invocation) -> tuple[Context, list[dict[str, Any]]]:
    """The context after a message, with the hold of this process where somebody should speak now."""
    changed, told = after(before, step, invocation.now_s)
    if changed.wants_speaker(invocation.now_s):
        changed = written(before) if changed is before else changed
        changed = replace(changed, hold=Hold(invocation.me, invocation.now_s + HOLD_S))
    return changed, told


def _unknown(name: str, **details: Any) -> Refused:
    text = f"there is no context {name!r}: wait for `opened` before sending text"
    return Refused("unknown_context", text, context=name, **details)
