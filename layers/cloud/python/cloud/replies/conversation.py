"""What was said in a call so far, by the caller and in reply; in the call's table item it outlives workers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import dropwhile, groupby
from typing import Literal

from cloud.live.told import Told

Who = Literal["caller", "reply"]
REMEMBERED = 40  # turns: what a responder is given, and what has to fit a table item
LONGEST = 4000  # characters of one turn
KEPT_BYTES = 24_000  # of replies for the transcript: those that may be in no checkpoint yet, and as many as find room


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that one side said."""

    who: Who
    text: str  # of a reply: the words that were heard
    interrupted: bool = False  # a reply: the caller broke in, and heard no more than this

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", self.text[-LONGEST:])


@dataclass(slots=True)
class Conversation:
    """Belongs to one call. Not safe to change from two threads at once."""

    turns: list[Turn] = field(default_factory=list)
    answered: int = -1  # number of the turn end, on the caller's channel, that was answered last
    segment: int = -1  # of the last of the caller's finals in `turns`
    speaking: bool = False  # an answer to it was begun, and nobody has written down how it ended
    rest: str = ""  # what of that answer is still to be said, where a worker had time to write that down
    begun: Told | None = None  # which answer it is: `reply`, `turn`, `turn_end_s`
    replies: list[Told] = field(default_factory=list)  # how the newest ones have ended, as `records.ended` tells it

    def add(self, who: Who, text: str, *, interrupted: bool = False) -> None:
        """One more turn; the oldest are forgotten."""
        self.turns.append(Turn(who, text.strip(), interrupted))
        del self.turns[:-REMEMBERED]

    def keep(self, reply: Told) -> None:
        """How one more reply has ended."""
        self.replies.append(reply)
        while len(self.replies) > 1 and len(json.dumps(self.replies, ensure_ascii=False).encode()) > KEPT_BYTES:
            del self.replies[0]

    def to_json(self) -> str:
        """For a table item."""
        return json.dumps(asdict(self), separators=(",", ":"), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Conversation:
        """The inverse of `to_json`."""
        record = json.loads(text)
        return cls(**(record | {"turns": [Turn(**turn) for turn in record["turns"]]}))


def alternating(turns: Sequence[Turn]) -> Iterator[tuple[Who, str]]:
    """The turns as chat models want them: the caller first, then in turn; what somebody said in a row is one turn."""
    from_caller = dropwhile(lambda turn: turn.who != "caller", turns)
    for who, together in groupby(from_caller, lambda turn: turn.who):
        yield who, " ".join(f"{turn.text} ..." if turn.interrupted else turn.text for turn in together)
