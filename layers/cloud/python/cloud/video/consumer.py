"""A call out of Kinesis Video Streams over any number of connections: nothing lost, nothing twice, until it ends.

    consumer = Consumer("stream", Start("PRODUCER_TIMESTAMP", timestamp_s=...), contact_id="...")
    for events in consumer.batches():        # waits for what comes, and gives all that came together
        ...                                  # here `consumer.position` is the checkpoint behind these events

The service ends connections without a word after 40 to 45 minutes, so they are renewed before; producers pause, so
the end of data is not the end of the call.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, Protocol

from speech.errors import Transient
from speech.media.acks import ERRORS
from speech.media.call_events import Audio, CallEvent, ContactChanged, FragmentDone, Position
from speech.media.events import ServiceError
from speech.media.kvs import CallReader

from cloud.video import endpoints
from cloud.video.getmedia import Connection, Silent, Start, resume

FRAGMENT_NOT_FOUND, KMS, DELETED = 4000, range(4500, 4507), 4507


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for what, in seconds."""

    rotate_s: float = 2100.0  # a connection is renewed after this time, at the end of a fragment
    overdue_s: float = 60.0  # and in the middle of one when none ends for this long
    silence_s: float = 10.0  # without a byte a connection is taken for dead
    idle_s: float = 300.0  # without audio the call is over
    retry_s: float = 0.5  # before the second attempt to connect, doubling
    longest_retry_s: float = 10.0


@dataclass(frozen=True, slots=True)
class Connected:
    """A connection was opened."""

    start: Start


@dataclass(frozen=True, slots=True)
class Disconnected:
    """A connection is over, and another will follow unless the call has ended."""

    reason: str


@dataclass(frozen=True, slots=True)
class CallEnded:
    """There will be no more; always the last event."""

    reason: Literal["contact", "idle", "deleted", "stopped"]


class Source(Protocol):
    """What a consumer needs of a connection; see `getmedia.Connection`."""

    def read(self) -> bytes:
        """What has come; b"" at the end."""
        ...

    def interrupt(self) -> None:
        """Make a read in another thread return."""
        ...

    def close(self) -> None:
        """End it."""
        ...


ConsumerEvent = CallEvent | Connected | Disconnected | CallEnded


@dataclass(slots=True)
class Consumer:
    """One call. `events` belongs to one thread; `stop` may be called from any."""

    stream: str  # name or ARN
    start: Start
    after: Position | None = None  # the checkpoint to go on from
    contact_id: str | None = None
    mime_type: str = ""
    patience: Patience = field(default_factory=Patience)
    connect: Callable[[str, Start, float], Source] = Connection.open
    clock: Callable[[], float] = time.monotonic
    _reader: CallReader = field(init=False)
    _stopped: threading.Event = field(init=False, default_factory=threading.Event)
    _source: Source | None = field(init=False, default=None)
    _fragment_kept: bool = field(init=False, default=True)
    _heard_s: float = field(init=False, default=0.0)  # when audio came last
    _attempts: int = field(init=False, default=0)  # to connect, since one has brought audio
    _ended: CallEnded | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._reader = CallReader(contact_id=self.contact_id, after=self.after, mime_type=self.mime_type)

    @property
    def position(self) -> Position:
        """How far the call was given out, exact between two batches: save it with what was made of them."""
        return self._reader.position

    def stop(self) -> None:
        """End `batches` soon."""
        self._stopped.set()
        if source := self._source:
            source.interrupt()

    def batches(self) -> Iterator[list[ConsumerEvent]]:
        """What comes, as it comes. Raises endpoints.NoStream or Forbidden, also for a key that may not be used."""
        self._heard_s = self.clock()
        while not self._ended:
            if source := self._open():
                self._source = source
                yield [Connected(self.start)]
                try:
                    yield from self._read(source)
                finally:
                    self._source = None
                    source.close()
        yield [self._ended]

    def events(self) -> Iterator[ConsumerEvent]:
        """The same one by one; `position` may then be ahead of them, `FragmentDone.position` is not."""
        for batch in self.batches():
            yield from batch

    def _open(self) -> Source | None:
        """A connection from where we are; None after a failed attempt, or when the call is over."""
        if not self._may_go_on():
            return None
        if self._attempts:
            wait_s = self.patience.retry_s * 2 ** min(self._attempts - 1, 16)
            if self._stopped.wait(min(wait_s, self.patience.longest_retry_s)):
                return None
        self._attempts += 1
        self.start = resume(self.position, self.start, fragment_kept=self._fragment_kept)
        try:
            source = self.connect(self.stream, self.start, self.patience.silence_s)
        except Transient:
            return None
        except endpoints.NoStream:
            if not self.position.heard_ms:
                raise
            self._ended = CallEnded("deleted")
            return None
        if self.start.kind == "NOW":
            # A later connection must not begin at its own now.
            self.start = Start("SERVER_TIMESTAMP", timestamp_s=time.time())
        return source

    def _read(self, source: Source) -> Iterator[list[ConsumerEvent]]:
        """What a connection brings, until it ends or is due to."""
        opened_s, reason = self.clock(), ""
        while not reason and self._may_go_on():
            try:
                data = source.read()
            except Transient as error:
                # After a silence there is nothing to wait for once more.
                self._attempts = 0 if isinstance(error, Silent) else self._attempts
                reason = str(error)
                break
            if events := self._noted(self._reader.receive(data)):
                yield events
            age_s = self.clock() - opened_s - self.patience.rotate_s
            if not data:
                reason = "the service has ended it"
            elif age_s > self.patience.overdue_s or (age_s > 0 and events and isinstance(events[-1], FragmentDone)):
                reason = "its time was over"
        yield [*self._noted(self._reader.finish()), Disconnected(reason or "the call is over")]

    def _noted(self, events: list[CallEvent]) -> list[ConsumerEvent]:
        """The same events; what they mean for the connection is remembered."""
        for event in events:
            match event:
                case Audio():
                    self._heard_s, self._fragment_kept, self._attempts = self.clock(), True, 0
                case ContactChanged():
                    self._ended = CallEnded("contact")
                case ServiceError():
                    self._failed(event)
        return [*events]

    def _failed(self, error: ServiceError) -> None:
        if error.id == FRAGMENT_NOT_FOUND:
            self._fragment_kept = False
        elif error.id == DELETED:
            self._ended = CallEnded("deleted")
        elif error.id and error.id in KMS:
            code = error.code or ERRORS[error.id]
            raise endpoints.Forbidden(f"GetMedia on {self.stream}: {code}; the role needs kms:Decrypt on its key")

    def _may_go_on(self) -> bool:
        if self._ended:
            return False
        if self._stopped.is_set():
            self._ended = CallEnded("stopped")
        elif self.clock() - self._heard_s > self.patience.idle_s:
            self._ended = CallEnded("idle")
        return self._ended is None
