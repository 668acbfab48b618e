"""A worker: takes calls, recognises all of them together, and can die at any moment without losing a word of one.

    worker = Worker(settings, recognizer, leases, sink, owner="task-7")
    while not told_to_stop:
        worker.turn()
    worker.hand_over()           # the next worker goes on at once; without it, when the leases have run out

What a dead worker told after its last checkpoint is told again by the next one, with the same numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from cloud.calls.feed import Batch, Feed
from cloud.calls.held import Checkpoints, Held
from cloud.calls.intake import Intake
from cloud.calls.leases import LeaseTable, LostLease, NotFree
from cloud.calls.session import step
from cloud.calls.sink import Beginning, Greeting, Recording, Replies, Settling, Sink
from cloud.live.told import Told
from cloud.notices import NotDelivered
from cloud.observability import logger
from cloud.video.consumer import Patience

if TYPE_CHECKING:
    from speech.asr.recognizer import Recognizer

TROUBLE = (ClientError, BotoCoreError, NotDelivered)  # of a service; it is tried again
AGAIN_S = 1.0  # after trouble
ENDING_S = 5.0  # without audio, once an event has said that a stream has ended


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


@dataclass(slots=True)
class Worker:
    """Use from one thread."""

    settings: WorkerSettings
    recognizer: Recognizer
    leases: LeaseTable
    sink: Sink
    owner: str
    clock: Callable[[], float] = time.time
    intake: Intake | None = None  # where new calls are heard of at once; the table tells of them as well, but later
    replies: Replies | None = None  # who answers callers
    held: dict[str, Held] = field(default_factory=dict)
    feed: Feed = field(default_factory=Feed)
    _looked_s: float = 0.0
    _kept: Checkpoints = field(init=False)

    def __post_init__(self) -> None:
        self._kept = Checkpoints(self.settings.bucket, self.settings.prefix)

    def turn(self) -> None:
        """Take calls if that is due, hear what has come, tell what follows, save and renew what is due."""
        try:
            self.look()
        except TROUBLE:
            logger.exception("no calls are taken this time")
        for batch in self.feed.take(self.settings.wait_s, self.settings.turn_bytes):
            held = self.held.get(batch.call)
            if held and held.lease.generation == batch.reader:
                self._take(held, batch)
        for call, records in step([held.session for held in self.held.values()]).items():
            self._attempt(self.held[call], self._tell, records)
        for held in list(self.held.values()):
            if self.clock() >= held.rests_until_s:
                self._attempt(held, self._keep)
        if self.replies:
            self.replies.flush()
        if isinstance(self.sink, Greeting):
            for held in self.held.values():
                if not held.untold:
                    self.sink.greet(held.session)

    def look(self) -> None:
        """Take calls that nobody holds, as far as there is room: those of messages, and now and then of the table."""
        room, now_s = self.settings.most_calls - len(self.held), self.clock()
        if self.intake:
            for note in self.intake.take(max(0, room)):
                if room <= 0:
                    self.intake.put_back(note)
                elif self._acquire(note.call, now_s) or self.leases.read(note.call):
                    self.intake.done(note)
                    room = self.settings.most_calls - len(self.held)
                # Of one that is not in the table the message comes again, and at last is a dead letter.
        if room <= 0 or now_s - self._looked_s < self.settings.look_s:
            return
        self._looked_s = now_s
        for call_id in self.leases.free(room, now_s):
            # One of our own was not renewed in time: renewing it will tell whether it is still ours.
            self._acquire(call_id, now_s)

    def hand_over(self) -> None:
        """Save every call and let go of it, for another worker to go on at once."""
        if self.replies:
            self.replies.put_down()
        for held in list(self.held.values()):
            self._attempt(held, self._hand_over)
        self.held.clear()
        self.feed.close()
        if self.intake:
            self.intake.close()

    def _hand_over(self, held: Held) -> None:
        with self._saving(held) as key:
            self.leases.hand_over(held.lease, key)
        if self.intake:
            self.intake.send(held.lease.call.id)

    def _attempt(self, held: Held, work: Callable[..., None], *arguments: Any) -> None:
        """Trouble with one call must not take the others with it."""
        try:
            work(held, *arguments)
        except LostLease as lost:
            logger.warning("%s: another worker goes on with it", lost)
            self._forget(held)
        except TROUBLE:
            logger.exception("call %s: to be tried again", held.lease.call.id)
            held.rests_until_s = self.clock() + AGAIN_S

    def _acquire(self, call_id: str, now_s: float) -> bool:
        """Whether the call is ours now, and was not before."""
        if call_id in self.held:
            return False
        try:
            lease = self.leases.acquire(call_id, self.owner, now_s)
        except NotFree:
            return False
        held = Held(lease, self._kept.session(lease, self.recognizer), now_s, now_s)
        self.held[call_id] = held
        self._read(held)
        if self.replies:
            self.replies.begin(lease, held.session)
        if lease.generation == 1 and isinstance(self.sink, Beginning):
            self.sink.began(lease.call)
        logger.info("call %s taken as its holder number %d", call_id, lease.generation)
        return True

    def _read(self, held: Held) -> None:
        """Read the streams of a call that have become known, and no longer wait for those that have ended."""
        call = held.session.call = held.lease.call
        for number, leg in enumerate(call.legs):
            if number not in held.reading:
                held.reading.add(number)
                consumer = held.session.consumer(self.settings.patience, number)
                self.feed.add(call.id, held.lease.generation, consumer, number)
            if leg.last is not None and number not in held.ended:
                self.feed.hurry(call.id, number, min(ENDING_S, self.settings.patience.idle_s))
                if held.session.is_behind(number, leg.last):
                    self.feed.stop(call.id, number)

    def _take(self, held: Held, batch: Batch) -> None:
        held.session.take(batch.events, batch.position, batch.leg)
        if batch.ended:
            held.ended[batch.leg] = batch.ended
        if batch.error:
            held.session.trouble = str(batch.error)
            logger.error("call %s failed: %s", batch.call, batch.error)

    def _tell(self, held: Held, records: list[Told]) -> None:
        held.untold += records
        if not held.untold:
            return
        if held.lease.call.began_ms is None and held.session.origin_ms is not None:
            held.lease = self.leases.pin(held.lease, held.session.origin_ms)
            held.session.call = held.lease.call
        told, held.untold = held.untold, []
        self.sink.tell(held.lease.call, told)
        if self.replies:
            self.replies.hear(held.lease.call.id, held.session, told)

    def _keep(self, held: Held) -> None:
        """What is due for a call whose audio has all been heard. Raises LostLease."""
        self._tell(held, [])
        now_s = self.clock()
        if held.reason:
            self._end(held, now_s)
        elif now_s - held.saved_s >= self.settings.checkpoint_s:
            with self._saving(held) as key:
                self._renew(held, now_s, key)
            held.saved_s = now_s
        elif now_s - held.renewed_s >= self.settings.renew_s:
            self._renew(held, now_s)

    def _renew(self, held: Held, now_s: float, checkpoint: str | None = None) -> None:
        held.lease = self.leases.renew(held.lease, now_s, checkpoint)
        held.renewed_s = now_s
        self._read(held)

    @contextmanager
    def _saving(self, held: Held) -> Iterator[str | None]:
        """Key of a checkpoint of now; None while it cannot be had, or where nothing was heard since the last one.

        It counts only once the lease names it; of the last one and this, what counts no longer is deleted.
        """
        before, key = held.lease.checkpoint, self._saved(held)
        try:
            yield key
        except LostLease:
            self._kept.delete(key)
            raise
        if key:
            self._kept.delete(before)

    def _saved(self, held: Held) -> str | None:
        if held.finished or (held.lease.checkpoint and held.saved == held.standing):
            return None
        try:
            # What lies before a checkpoint is never told again, so that all of it must have arrived.
            self._tell(held, [])
            self._settle()
            return self._kept.save(held)
        except TROUBLE:
            logger.exception("call %s: no checkpoint this time", held.lease.call.id)
            return None

    def _settle(self) -> None:
        if isinstance(self.sink, Settling):
            self.sink.settle()

    def _end(self, held: Held, now_s: float) -> None:
        """The streams of a call are over: tell the rest, then let nobody take the call again.

        Until it is recorded it stays ours; whoever takes it then hears its last seconds again, and records it anew.
        """
        call = held.lease.call
        held.finished = True
        self._tell(held, held.session.finish())
        silent = not self.replies or self.replies.over(call.id)
        if not silent or (isinstance(self.sink, Recording) and not self.sink.recorded(call, held.session)):
            if now_s - held.renewed_s >= self.settings.renew_s:
                held.lease, held.renewed_s = self.leases.renew(held.lease, now_s), now_s
            return
        self._settle()
        self.sink.ended(held.lease.call, held.session.transcript(), held.reason)
        why = f"{held.reason}: {held.session.trouble}" if held.session.trouble else held.reason
        self.leases.end(held.lease, why, now_s)
        self._kept.delete(held.lease.checkpoint)
        logger.info("call %s has ended: %s", call.id, held.reason)
        self._forget(held)

    def _forget(self, held: Held) -> None:
        self.held.pop(held.lease.call.id, None)
        self.feed.drop(held.lease.call.id)
        if isinstance(self.sink, Recording):
            self.sink.forget(held.lease.call)
        if self.replies:
            self.replies.end(held.lease.call.id)
