"""What happens at the door: a connection is opened, sends messages, and is closed.

State is written before anything is told, on the condition that nobody else wrote meanwhile; whoever loses that race
reads again and works anew. So any number of processes may handle the messages of one stream at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.metrics import MetricUnit

from cloud.observability import logger, metrics
from cloud.sockets import watching
from cloud.sockets.client_side import ClientSide, Gone
from cloud.sockets.connection_table import Connection, ConnectionTable, Full, NotOpen
from cloud.sockets.envelope import FINISH, FLUSH, TEXT, Refused, Step
from cloud.sockets.invocation import Invocation
from cloud.sockets.messages import Start, parse
from cloud.sockets.speech_messages import Cancel, Open
from cloud.sockets.stream import Stream, after, begun, same_start
from cloud.sockets.stream_table import Conflict, StreamTable
from cloud.sockets.talk import Talk
from cloud.sockets.watching import Watch

if TYPE_CHECKING:
    from speech.asr.recognizer import Recognizer

MOST_ATTEMPTS = 100  # each lost race means that another message of the stream was written
SETTLE_S = 60  # a connection so young may be in the table before API Gateway can find it


@dataclass(frozen=True, slots=True)
class Desk:
    """Everything that a connection needs; times are seconds since 1970."""

    recognizer: Recognizer
    connections: ConnectionTable
    streams: StreamTable
    clients: ClientSide
    talk: Talk
    watchers: str  # table of who watches live calls

    def admit(self, connection: Connection) -> dict[str, Any]:
        """A handshake, answered with an HTTP status."""
        try:
            self.open(connection)
        except Refused as refused:
            logger.info("refused: %s", refused, extra={"code": refused.code})
            return {"statusCode": 429, "body": str(refused)}
        return {"statusCode": 200}

    def open(self, connection: Connection) -> None:
        """A handshake. Raises Refused (`too_many_connections`) where the token's subject has enough open."""
        try:
            self.connections.open(connection)
        except Full as full:
            for held in full.held:
                self._drop_if_gone(held, connection)
            try:
                self.connections.open(connection)
            except Full as still:
                raise Refused("too_many_connections", f"{still} for this token's subject: close one") from None
        metrics.add_metric("Connections", MetricUnit.Count, 1)

    def close(self, connection_id: str) -> None:
        """A connection has ended: nothing of it is kept."""
        metrics.add_metric("Closed", MetricUnit.Count, 1)
        self.connections.close(connection_id)
        self.streams.forget(connection_id)

    def message(self, connection_id: str, body: str, invocation: Invocation) -> None:
        """One message, from reading it to telling what came of it; what nobody foresaw is told and raised."""
        metrics.add_metric("Messages", MetricUnit.Count, 1)
        with self._refusing(connection_id, invocation):
            message = parse(body)
            logger.append_keys(stream=message.name)
            match message:
                case Start():
                    self._tell(connection_id, [self._start(connection_id, message)])
                case Open():
                    self.talk.open(connection_id, message, invocation)
                case Cancel():
                    self.talk.cancel(connection_id, message, invocation)
                case Watch():
                    told = watching.answer(self.watchers, self.connections, connection_id, message, invocation.now_s)
                    self._tell(connection_id, [told])
                case Step(kind=kind) if kind in (TEXT, FLUSH, FINISH):
                    self.talk.step(connection_id, message, invocation)
                case Step():
                    self._tell(connection_id, self._step(connection_id, message, invocation.now_s))

    def speak(self, connection_id: str, context: str, invocation: Invocation) -> None:
        """Speaks on where another process ran out of time."""
        with self._refusing(connection_id, invocation):
            self.talk.go_on(connection_id, context, invocation)

    @contextmanager
    def _refusing(self, connection_id: str, invocation: Invocation) -> Iterator[None]:
        """Tells what was wrong with a message; a client that has gone is forgotten."""
        try:
            try:
                yield
            except Refused as refused:
                logger.info("refused: %s", refused, extra={"code": refused.code})
                metrics.add_metric("Refused", MetricUnit.Count, 1)
                self._tell(connection_id, [refused.record()])
            except Gone:
                raise
            except Exception:
                trouble = Refused("internal_error", "the message may be sent again", request=invocation.request_id)
                self._tell(connection_id, [trouble.record()])
                raise
        except Gone:
            logger.info("the client has gone")
            self.close(connection_id)

    def _start(self, connection_id: str, message: Start) -> dict[str, Any]:
        name, session = message.name, begun(message, self.recognizer)
        try:
            opened_s = self.connections.add_stream(connection_id, name)
        except Full:
            raise Refused("too_many_streams", "stop a stream before starting another", stream=name) from None
        except NotOpen:
            raise Refused("not_connected", "this connection is closed: open another", stream=name) from None
        stream = Stream(connection_id, name, message.format, opened_s, session=session)
        if not self.streams.create(stream):
            held = self.streams.read(connection_id, name)
            if held is None or held.done or not same_start(held, message, self.recognizer):
                if held is not None and held.done:
                    self.connections.drop_stream(connection_id, name)
                raise Refused("stream_exists", f"there is a stream {name!r} already: choose another", stream=name)
            return {**stream.started(), "repeat": True}
        metrics.add_metric("Streams", MetricUnit.Count, 1)
        return stream.started()

    def _step(self, connection_id: str, step: Step, now_s: float) -> list[dict[str, Any]]:
        told = self._from_memory(connection_id, step, now_s)
        for _ in range(MOST_ATTEMPTS):
            if told is not None:
                return told
            before = self.streams.read(connection_id, step.name)
            if before is None:
                text = f"there is no stream {step.name!r}: wait for `started` before sending audio"
                raise Refused("unknown_stream", text, stream=step.name, sequence=step.sequence)
            changed, told = after(before, step, self.recognizer, now_s)
            if changed is not before:
                told = self._written(changed, told)
        raise Refused("busy", "too many messages at once: send it again", stream=step.name, sequence=step.sequence)

    def _from_memory(self, connection_id: str, step: Step, now_s: float) -> list[dict[str, Any]] | None:
        """What is told if the stream is as this process left it; None where only the table can say."""
        before = self.streams.recall(connection_id, step.name)
        if before is None:
            return None
        try:
            changed, told = after(before, step, self.recognizer, now_s)
        except Refused:
            return None
        return None if changed is before else self._written(changed, told)

    def _written(self, changed: Stream, told: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
        """What may be told now that the stream is written; None where another process was quicker."""
        try:
            self.streams.write(changed)
        except Conflict:
            metrics.add_metric("Conflicts", MetricUnit.Count, 1)
            return None
        if changed.done:
            self.connections.drop_stream(changed.connection, changed.name)
        return told

    def _tell(self, connection_id: str, records: list[dict[str, Any]]) -> None:
        for record in records:
            self.clients.send(connection_id, record)

    def _drop_if_gone(self, held: str, newcomer: Connection) -> None:
        """Makes room where API Gateway's notice of a connection's end was lost."""
        known = self.connections.find(held)
        if known is None:
            self.connections.release(newcomer.subject, held)
            return
        if newcomer.opened_s - known.opened_s < SETTLE_S:
            return
        try:
            self.clients.active_s(held)
        except Gone:
            self.close(held)
