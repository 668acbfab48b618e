"""A worker: takes calls, recognises all of them together, and can die at any moment without losing a word of one.

    worker = Worker(settings, recognizer, leases, sink, owner="task-7")
    while not told_to_stop:
        worker.turn()
    worker.hand_over()           # the next worker goes on at once; without it, when the leases have run out

What a dead worker told after its last checkpoint is told again by the next one, with the same numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from botocore.exceptions import ClientError
from speech.errors import BadSnapshot
from speech.text.transcript import Transcript

from cloud import storage
from cloud.calls.call import Call
from cloud.calls.checkpoint import Checkpoint
from cloud.calls.feed import Batch, Feed
from cloud.calls.leases import Lease, LeaseTable, LostLease, NotFree
from cloud.calls.session import Session, step
from cloud.live.told import Told
from cloud.observability import logger
from cloud.video.consumer import Patience

if TYPE_CHECKING:
    from speech.asr.recognizer import Recognizer


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """How a worker works."""

    bucket: str  # of checkpoints
    prefix: str
    most_calls: int = 30
    renew_s: float = 5.0  # a third of the lease, or less
    checkpoint_s: float = 10.0
    look_s: float = 2.0  # between two looks for calls that nobody holds
    turn_bytes: int = 1 << 20  # of audio at once: some seconds of work, so that leases can be renewed between
    wait_s: float = 0.02  # for audio to come together: one run of the network serves all that came
    patience: Patience = field(default_factory=Patience)


class Sink(Protocol):
    """Where results go. Both may be called again with the same: what was told has (call, channel, number)."""

    def tell(self, call: Call, records: list[Told]) -> None:
        """Records of a call, in order for each channel; those that are no partials are numbered."""
        ...

    def ended(self, call: Call, transcript: Transcript, reason: str) -> None:
        """The call is over."""
        ...


@dataclass(slots=True)
class Held:
    """A call in work."""

    lease: Lease
    session: Session
    renewed_s: float
    saved_s: float
    saves: int = 0
    ended: str = ""


@dataclass(slots=True)
class Worker:
    """Use from one thread."""

    settings: WorkerSettings
    recognizer: Recognizer
    leases: LeaseTable
    sink: Sink
    owner: str
    clock: Callable[[], float] = time.time
    held: dict[str, Held] = field(default_factory=dict)
    feed: Feed = field(default_factory=Feed)
    _looked_s: float = 0.0

    def turn(self) -> None:
        """Take calls if that is due, hear what has come, tell what follows, save and renew what is due."""
        self.look()
        for batch in self.feed.take(self.settings.wait_s, self.settings.turn_bytes):
            held = self.held.get(batch.call)
            if held and held.lease.generation == batch.reader:
                self._take(held, batch)
        told = step([held.session for held in self.held.values()])
        for call, records in told.items():
            self.sink.tell(self.held[call].lease.call, records)
        for held in list(self.held.values()):
            try:
                self._keep(held)
            except LostLease as lost:
                logger.warning("%s: another worker goes on with it", lost)
                self._forget(held)

    def look(self) -> None:
        """Take calls that nobody holds, as far as there is room."""
        now_s, room = self.clock(), self.settings.most_calls - len(self.held)
        if room <= 0 or now_s - self._looked_s < self.settings.look_s:
            return
        self._looked_s = now_s
        for call_id in self.leases.free(room, now_s):
            if call_id in self.held:
                continue  # our own, which was not renewed in time: renewing it will tell whether it is still ours
            try:
                self._begin(self.leases.acquire(call_id, self.owner, now_s))
            except NotFree:
                continue

    def hand_over(self) -> None:
        """Save every call and let go of it, for another worker to go on at once."""
        for held in list(self.held.values()):
            try:
                self.leases.hand_over(held.lease, self._save(held))
            except LostLease as lost:
                logger.warning("%s: another worker goes on with it", lost)
        self.held.clear()
        self.feed.close()

    def _begin(self, lease: Lease) -> None:
        call, now_s, session = lease.call, self.clock(), self._session(lease)
        self.held[call.id] = Held(lease, session, now_s, now_s)
        self.feed.add(call.id, lease.generation, session.consumer(self.settings.patience))
        logger.info("call %s taken as its holder number %d", call.id, lease.generation)

    def _session(self, lease: Lease) -> Session:
        """Where the call was put down, or its beginning."""
        if lease.checkpoint:
            try:
                saved = Checkpoint.from_bytes(storage.read_bytes(self.settings.bucket, lease.checkpoint))
                return Session.resume(lease.call, self.recognizer, saved)
            except (BadSnapshot, ClientError) as error:
                if isinstance(error, ClientError) and error.response["Error"]["Code"] not in storage.GONE:
                    raise
                # Made by another bundle or version, or deleted: what the stream keeps is heard again.
                logger.warning("call %s begins anew: %s", lease.call.id, error)
        return Session.begin(lease.call, self.recognizer)

    def _take(self, held: Held, batch: Batch) -> None:
        held.session.take(batch.events, batch.position)
        held.ended = batch.ended
        if batch.error:
            logger.error("call %s failed: %s", batch.call, batch.error)

    def _keep(self, held: Held) -> None:
        """What is due for a call whose audio has all been heard. Raises LostLease."""
        now_s = self.clock()
        if held.ended:
            self._end(held, now_s)
        elif now_s - held.saved_s >= self.settings.checkpoint_s:
            before, key = held.lease.checkpoint, self._save(held)
            held.lease = self.leases.renew(held.lease, now_s, key)
            held.saved_s = held.renewed_s = now_s
            if before:
                storage.delete_all(self.settings.bucket, [before])
        elif now_s - held.renewed_s >= self.settings.renew_s:
            held.lease = self.leases.renew(held.lease, now_s)
            held.renewed_s = now_s

    def _save(self, held: Held) -> str:
        """Write a checkpoint; its key. It counts only once the lease names it."""
        held.saves += 1
        key = f"{self.settings.prefix}{held.lease.call.id}/{held.lease.generation}-{held.saves}.checkpoint"
        storage.write_bytes(self.settings.bucket, key, held.session.checkpoint().to_bytes())
        return key

    def _end(self, held: Held, now_s: float) -> None:
        """The stream of a call is over: tell the rest, then let nobody take the call again."""
        call = held.lease.call
        if records := held.session.finish():
            self.sink.tell(call, records)
        self.sink.ended(call, held.session.transcript(), held.ended)
        self.leases.end(held.lease, held.ended, now_s)
        if held.lease.checkpoint:
            storage.delete_all(self.settings.bucket, [held.lease.checkpoint])
        self._forget(held)

    def _forget(self, held: Held) -> None:
        del self.held[held.lease.call.id]
        self.feed.drop(held.lease.call.id)
