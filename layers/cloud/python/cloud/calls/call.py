"""A call as it is handed from one worker to the next."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

from cloud.video.getmedia import Start

MOST_LEGS = 2  # the two sides of a telephone call


@dataclass(frozen=True, slots=True)
class Leg:
    """One video stream of a call, and where in it the call begins."""

    stream: str  # name or ARN
    start: Start
    mime_type: str = ""  # of its tracks, where it is known from elsewhere, as by Chime's events
    speaker: str = ""  # who is heard; "": the tracks say
    last: str | None = None  # once it has ended: number of its last fragment, "" where nobody has said


@dataclass(frozen=True, slots=True)
class Call:
    """Which stream carries a call, and where in it the call begins.

    At Amazon Connect one stream carries both sides, as two tracks. At Chime each side has a stream: the second one is
    in `more`, in the order in which they were heard of.
    """

    id: str  # the same for every event about this call
    stream: str  # name or ARN of the video stream
    start: Start
    contact_id: str | None = None  # of Amazon Connect, whose streams carry one call after another
    mime_type: str = ""  # of the tracks, where it is known from elsewhere, as by Chime's events
    speaker: str = ""  # who is heard on the stream; "": its tracks say
    last: str | None = None  # as `Leg.last`
    more: tuple[Leg, ...] = ()
    began_ms: int | None = None  # zero of its clock: ms since 1970 by the producers' clock; None: nothing was heard

    @property
    def legs(self) -> tuple[Leg, ...]:
        """All its streams."""
        return Leg(self.stream, self.start, self.mime_type, self.speaker, self.last), *self.more

    def with_leg(self, leg: Leg) -> Call:
        """With one more stream, unless it is one of the call's already or the call has both its sides."""
        known = any(held.stream == leg.stream for held in self.legs)
        return self if known or len(self.legs) == MOST_LEGS else replace(self, more=(*self.more, leg))

    def with_end(self, stream: str, last: str) -> Call:
        """With a stream that has ended; "" as `stream` is all of them."""
        more = tuple(replace(leg, last=last) if stream in ("", leg.stream) else leg for leg in self.more)
        return replace(self, last=last if stream in ("", self.stream) else self.last, more=more)

    def to_json(self) -> str:
        """For a table item or a message."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Call:
        """The inverse of `to_json`."""
        record = json.loads(text)
        more = tuple(Leg(**_started(leg)) for leg in record.pop("more", ()))
        return cls(**_started(record), more=more)


def _started(record: dict[str, Any]) -> dict[str, Any]:
    return record | {"start": Start(**record["start"])}
