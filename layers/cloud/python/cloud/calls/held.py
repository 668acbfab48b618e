"""A call in the hands of a worker, and the checkpoints from which another one would go on with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError
from speech.errors import BadSnapshot
from speech.media.call_events import Position

from cloud import storage
from cloud.calls.checkpoint import Checkpoint
from cloud.calls.leases import Lease
from cloud.calls.session import Session
from cloud.live.told import Told
from cloud.observability import logger

if TYPE_CHECKING:
    from speech.asr.recognizer import Recognizer


Standing = tuple[dict[int, Position], int]  # what was heard of its streams, and how many replies were


@dataclass(slots=True)
class Held:
    """A call in work."""

    lease: Lease
    session: Session
    renewed_s: float
    saved_s: float
    saves: int = 0
    saved: Standing | None = None  # where it stood at the last checkpoint of ours
    reading: set[int] = field(default_factory=set)  # its streams that are read, or were until they ended
    ended: dict[int, str] = field(default_factory=dict)  # why, by stream
    untold: list[Told] = field(default_factory=list)  # records that wait for trouble to be over
    rests_until_s: float = 0.0  # after trouble
    finished: bool = False  # all of it was heard, and its recognisers are used up

    @property
    def standing(self) -> Standing:
        """Where the call stands."""
        return dict(self.session.positions), len(self.session.replies)

    @property
    def reason(self) -> str:
        """Why the call is over; empty while it goes on."""
        return "" if self.reading - self.ended.keys() else self.ended[min(self.ended)]


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """Objects of a bucket, under a prefix; one counts only while a lease names it."""

    bucket: str
    prefix: str

    def session(self, lease: Lease, recognizer: Recognizer) -> Session:
        """Where the call was put down, or its beginning."""
        if lease.checkpoint:
            try:
                saved = Checkpoint.from_bytes(storage.read_bytes(self.bucket, lease.checkpoint))
                return Session.resume(lease.call, recognizer, saved)
            except (BadSnapshot, ClientError) as error:
                if isinstance(error, ClientError) and error.response["Error"]["Code"] not in storage.GONE:
                    raise
                # Made by another bundle or version, or deleted: what the stream keeps is heard again.
                logger.warning("call %s begins anew: %s", lease.call.id, error)
        return Session.begin(lease.call, recognizer)

    def save(self, held: Held) -> str:
        """Write a checkpoint of now; its key."""
        held.saves += 1
        key = f"{self.prefix}{held.lease.call.id}/{held.lease.generation}-{held.saves}.checkpoint"
        storage.write_bytes(self.bucket, key, held.session.checkpoint().to_bytes())
        held.saved = held.standing
        return key

    def delete(self, key: str | None) -> None:
        """Delete one, if there is one."""
        if key:
            storage.delete_all(self.bucket, [key])
