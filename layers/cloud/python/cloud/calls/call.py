"""A call as it is handed from one worker to the next."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from cloud.video.getmedia import Start


@dataclass(frozen=True, slots=True)
class Call:
    """Which stream carries a call, and where in it the call begins."""

    id: str  # the same for every event about this call
    stream: str  # name or ARN of the video stream
    start: Start
    contact_id: str | None = None  # of Amazon Connect, whose streams carry one call after another
    mime_type: str = ""  # of the tracks, where it is known from elsewhere, as by Chime's events

    def to_json(self) -> str:
        """For a table item or a message."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Call:
        """The inverse of `to_json`."""
        record = json.loads(text)
        return cls(**(record | {"start": Start(**record["start"])}))
