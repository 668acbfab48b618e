"""Puts the messages of one stream in order: what is next is taken, what is early waits, what is late was a repeat.

API Gateway hands each message to a Lambda invocation of its own and does not order them, so message 8 may be here
before 7. The line is part of the stream's item, and bounded: beyond its limits a message is refused and its sender
told which one is missing. Nothing is skipped on its own account.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from cloud.sockets.messages import AUDIO, FINALIZE, STOP, Refused, Step

MOST_WAITING = 16  # messages
MOST_WAITING_BYTES = 96 * 1024  # of audio: with a snapshot of 256 KiB it has to fit an item of 400 KB
FURTHEST = 64  # messages ahead of the next one: anything beyond is a wrong number rather than an early message
PATIENCE_S = 2.0  # an early message that waits for longer has lost the one before it
_KINDS = {AUDIO: b"a", FINALIZE: b"f", STOP: b"s"}


class Place(Enum):
    """Where a message belongs."""

    NEXT = "its turn has come"
    EARLY = "it waits for another"
    REPEAT = "it was here before"


@dataclass(frozen=True, slots=True)
class Line:
    """Of one stream: the number of the next message, and those that came before their time."""

    next: int = 0
    waiting: Mapping[int, bytes] = field(default_factory=dict)  # sequence -> one letter of the kind, then the audio
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
        size = sum(map(len, self.waiting.values())) + len(step.audio)
        if len(self.waiting) >= MOST_WAITING or size > MOST_WAITING_BYTES:
            raise self._refused("too_many_waiting", f"message {step.sequence} found no room to wait", step)
        return Place.EARLY

    def keep(self, step: Step, now_s: float) -> Line:
        """With an early message in it."""
        waiting = {**self.waiting, step.sequence: _KINDS[step.kind] + step.audio}
        return replace(self, waiting=waiting, since_s=self.since_s if self.waiting else now_s)

    def take(self, step: Step, now_s: float) -> tuple[Line, list[Step]]:
        """The next message and all that waited for nothing else, in order."""
        ready, waiting = [step], dict(self.waiting)
        while (number := step.sequence + len(ready)) in waiting and ready[-1].kind != STOP:
            ready.append(_step(step.stream, number, waiting.pop(number)))
        return Line(step.sequence + len(ready), waiting, now_s, self.reported), ready

    def lost(self, now_s: float) -> bool:
        """Whether it is time to report the next message as missing; once for each is enough."""
        if not self.waiting or self.reported == self.next:
            return False
        ended = any(packed[:1] != _KINDS[AUDIO] for packed in self.waiting.values())
        return ended or len(self.waiting) > MOST_WAITING // 2 or now_s - self.since_s > PATIENCE_S

    def missing(self, stream: str) -> dict[str, object]:
        """The report of it."""
        text = f"message {self.next} has not arrived and {len(self.waiting)} wait for it: send it again"
        return Refused("missing_message", text, stream=stream, expected=self.next).record()

    def _refused(self, code: str, what: str, step: Step) -> Refused:
        text = f"{what}: message {self.next} is missing; send from there again"
        return Refused(code, text, stream=step.stream, sequence=step.sequence, expected=self.next)


def _step(stream: str, sequence: int, packed: bytes) -> Step:
    kind = next(kind for kind, letter in _KINDS.items() if letter == packed[:1])
    return Step(stream, sequence, kind, packed[1:])
