"""What the world is told of a call: the worker's records with their call, wall-clock times and how late they are.

Whoever listens may hear something twice, after another worker has taken over. Numbered records: one of a channel has
come before when its `number` is not above the last. Partials have no number: one is old when its `heard_s` is not above
the last one's of that channel, or when its segment has had its final.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from cloud.calls.call import Call
from cloud.live.told import Told

Event = dict[str, Any]
SOUND, ENDED = "reply_audio", "reply_end"
STARTED, COMPLETED, FAILED = "call_started", "call_completed", "call_failed"


def events(call: Call, records: Iterable[Told], now_s: float) -> list[Event]:
    """Records of a call whose clock has begun, as they are published at `now_s`."""
    began_s = (call.began_ms or 0) / 1000
    return [_event(call.id, began_s, record, now_s) for record in records]


def _event(call_id: str, began_s: float, record: Told, now_s: float) -> Event:
    event: Event = {"call": call_id, **record, "told_at": iso(now_s)}
    words = record.get("words") or []
    start_s = record.get("start_s", words[0]["start_s"] if words else None)
    end_s = record.get("end_s", words[-1]["end_s"] if words else None)
    times = {"start_at": start_s, "end_at": end_s, "at": record.get("at_s")}
    event |= {name: iso(began_s + at_s) for name, at_s in times.items() if at_s is not None}
    # Of a partial since the last sound that it could know of; of anything else since the end of what was said.
    since_s = record.get("heard_s", record.get("end_s", record.get("at_s")))
    if since_s is not None:
        event["latency_ms"] = round(1000 * (now_s - began_s - since_s))
    return event


def replies(call: Call, records: Iterable[Told], now_s: float) -> list[Event]:
    """What is told of spoken replies (`cloud.replies.records`), as it is published at `now_s`."""
    began_s, found = (call.began_ms or 0) / 1000, list[Event]()
    for record in records:
        event: Event = {"call": call.id, **record, "told_at": iso(now_s)}
        left_at_s = event.pop("left_at_s", None)
        if record["type"] == ENDED:
            event |= _heard(event.pop("words"), left_at_s, began_s)
        elif left_at_s is not None:
            late_ms = round(1000 * (left_at_s - began_s - record["turn_end_s"]))
            event |= {"at": iso(left_at_s), "latency_ms": late_ms}  # since the caller's last word
        found.append(event)
    return found


def _heard(words: list[list[Any]], left_at_s: float | None, began_s: float) -> Event:
    """When what was heard of a reply began and ended; nothing of an unheard one."""
    if left_at_s is None or not words:
        return {}
    start_s, end_s = left_at_s - began_s, left_at_s - began_s + words[-1][2]
    times: Event = {"start_s": round(start_s, 3), "end_s": round(end_s, 3)}
    return times | {"start_at": iso(left_at_s), "end_at": iso(began_s + end_s)}


def notice(call: Call, kind: str, now_s: float, **more: Any) -> Event:
    """That a call was taken up, or is over."""
    began = {"began_at": iso(call.began_ms / 1000)} if call.began_ms is not None else {}
    streams = [leg.stream for leg in call.legs]
    return {"call": call.id, "type": kind, "streams": streams, **began, "told_at": iso(now_s), **more}


def latest(waiting: list[Event]) -> list[Event]:
    """Without those partials that a later event of the same call, channel and segment replaces."""
    last = {_segment(event): at for at, event in enumerate(waiting) if event["type"] in ("partial", "final")}
    return [e for at, e in enumerate(waiting) if e["type"] != "partial" or last[_segment(e)] == at]


def _segment(event: Event) -> tuple[Any, ...]:
    return event["call"], event["channel"], event["segment"]


def iso(at_s: float) -> str:
    """A time in seconds since 1970 as text, to the millisecond."""
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
