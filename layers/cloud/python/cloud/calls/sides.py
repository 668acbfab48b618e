"""Who is heard where in a call's recording: which tracks of which video streams are its left side and its right."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from speech.media.call_events import Position

from cloud.replies.dialogue import caller

if TYPE_CHECKING:
    from cloud.calls.session import Session

LEFT, RIGHT = 0, 1
REPLY_TRACK = 1  # number of the one track of a stream of replies
LOWEST_RATE, HIGHEST_RATE = 8_000, 48_000  # Hz, of a recording


@dataclass(frozen=True, slots=True)
class Side:
    """A video stream and what of it is heard; times in ms since 1970 by the producer's clock."""

    stream: str
    lanes: dict[int, tuple[int, float]]  # by track number: LEFT or RIGHT, and when its last block begins
    from_ms: int
    to_ms: int
    last: str | None = None  # number of its last whole fragment, once it was heard
    contact_id: str | None = None
    mime_type: str = ""
    is_replies: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What to record."""

    call: str
    origin_ms: int  # zero of the call's clock, and of the recording's
    rate: int  # Hz
    sides: tuple[Side, ...]
    warnings: tuple[str, ...] = ()


def plan(session: Session, replies: str) -> Plan | None:
    """Of a call that is over; None where nothing was heard. `replies`: video stream that was spoken into, or ""."""
    origin_ms = session.origin_ms
    places = _placed(session)
    if origin_ms is None or not places:
        return None
    sides = []
    for number, leg in enumerate(session.call.legs):
        position = session.positions.get(number, Position())
        lanes = {
            track: (lane, float(position.heard_ms.get(track, origin_ms)))
            for (of, track), lane in places.items()
            if of == number
        }
        if lanes:
            to_ms = round(max(last_ms for _, last_ms in lanes.values()))
            mime_type = session.mime_types.get(number) or leg.mime_type
            sides.append(Side(leg.stream, lanes, origin_ms, to_ms, position.fragment, session.contact_id, mime_type))
    if replies and RIGHT not in places.values():
        end_ms = origin_ms + math.ceil(max(track.end_ms or 0.0 for track in session.tracks.values()))
        lane = {REPLY_TRACK: (RIGHT, float(end_ms))}
        sides.append(Side(replies, lane, origin_ms, end_ms, contact_id=session.call.id, is_replies=True))
    rates = [session.tracks[place].sound.rate for place in places]
    rate = min(max(*rates, LOWEST_RATE), HIGHEST_RATE)
    left_out = sorted(number for _, number in session.tracks.keys() - places.keys())
    warnings = tuple(f"track {number} is not in the recording, which has two sides" for number in left_out)
    return Plan(session.call.id, origin_ms, rate, tuple(sides), warnings)


def _placed(session: Session) -> dict[tuple[int, int], int]:
    """The caller's track, and one other."""
    left = caller(session)
    found = {place: LEFT for place, track in session.tracks.items() if track is left}
    others = [(track.channel, place) for place, track in session.tracks.items() if track is not left]
    return found | ({min(others)[1]: RIGHT} if others else {})
