"""Puts the messages of a stream or context in order: what is next is taken, what is early waits, what is late is old.

API Gateway hands each message to a Lambda invocation of its own and does not order them, so message 8 may be here
before 7. The line is part of the stream's item, and bounded: beyond its limits a message is refused and its sender
told which one is missing. Nothing is skipped on its own account.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from cloud.sockets.envelope import AUDIO, FINALIZE, FINISH, FLUSH, STOP, TEXT, Refused, Step

MOST_WAITING = 16  # messages
MOST_WAITING_BYTES = 96 * 1024  # of audio or text: with a snapshot of 256 KiB it has to fit an item of 400 KB
FURTHEST = 64  # messages ahead of the next one: anything beyond is a wrong number rather than an early message
PATIENCE_S = 2.0  # an early message that waits for longer has lost the one before it
_KINDS = {AUDIO: b"a", FINALIZE: b"f", STOP: b"s", TEXT: b"t", FLUSH: b"l", FINISH: b"e"}
_LAST = (STOP, FINISH)


class Place(Enum):
    """Where a message belongs."""

    NEXT = "its turn has come"
    EARLY = "it waits for another"
    REPEAT = "it was here before"


@dataclass(frozen=True, slots=True)
class Line:
    """Of one stream or context: the number of the next message, and those that came before their time."""

    next: int = 0
    waiting: Mapping[int, bytes] = field(default_factory=dict)  # sequence -> one letter of the kind, then its data
    since_s: float = 0.0  # when the first of those that wait came, seconds since 1970
    reported: int = -1  # the missing message that was reported last

    def place(self, step: Step) -> Place:
        """Where a message belongs. Raises Refused where it cannot be taken in."""
        if step.sequence < self.next or step.sequence in self.waiting:
            return Place.REPEAT
        if step.sequence == self.next:
            return Place.NEXT
        if step.sequence - self.next > FURTHEST:
            raise self._refused("sequence_gap", f"message {step.sequence} is too far ahead", step)
        size = sum(map(len, self.waiting.values())) + len(step.data)
        if len(self.waiting) >= MOST_WAITING or size > MOST_WAITING_BYTES:
            raise self._refused("too_many_waiting", f"message {step.sequence} found no room to wait", step)
        return Place.EARLY

    def keep(self, step: Step, now_s: float) -> Line:
        """With an early message in it."""
        waiting = {**self.waiting, step.sequence: _KINDS[step.kind] + step.data}
        return replace(self, waiting=waiting, since_s=self.since_s if self.waiting else now_s)

    def take(self, step: Step, now_s: float) -> tuple[Line, list[Step]]:
        """The next message and all that waited for nothing else, in order."""
        ready, waiting = [step], dict(self.waiting)
        while (number := step.sequence + len(ready)) in waiting and ready[-1].kind not in _LAST:
            ready.append(_step(step.name, number, waiting.pop(number)))
        return Line(step.sequence + len(ready), waiting, now_s, self.reported), ready

    def lost(self, now_s: float) -> bool:
        """Whether it is time to report the next message as missing; once for each is enough."""
        if not self.waiting or self.reported == self.next:
            return False
        ended = any(packed[:1] not in (_KINDS[AUDIO], _KINDS[TEXT]) for packed in self.waiting.values())
        return ended or len(self.waiting) > MOST_WAITING // 2 or now_s - self.since_s > PATIENCE_S

    def missing(self, step: Step) -> dict[str, object]:
        """The report of it, to whom this message belongs."""
        text = f"message {self.next} has not arrived and {len(self.waiting)} wait for it: send it again"
        return Refused("missing_message", text, **step.named, expected=self.next).record()

    def _refused(self, code: str, what: str, step: Step) -> Refused:
        text = f"{what}: message {self.next} is missing; send from there again"
        return Refused(code, text, **step.named, sequence=step.sequence, expected=self.next)


def _step(name: str, sequence: int, packed: bytes) -> Step:
    kind = next(kind for kind, letter in _KINDS.items() if letter == packed[:1])
    return Step(name, sequence, kind, packed[1:])
