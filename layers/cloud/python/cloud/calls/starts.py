"""How a call is heard of: Amazon Connect's contact flow, Chime's and Connect's events, or a plain request.

    {"stream": "name or ARN", "id": "...", "start": "now", "contact_id": "...", "mime_type": "audio/L16;rate=8000"}

`start` is "now", "earliest", {"timestamp_s": 1700000000.25} by the producer's clock, or {"fragment": "..."}: behind it.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from speech.errors import BadInput

from cloud.calls.call import Call, Leg
from cloud.video.getmedia import Start

CHIME, CONNECT = "Chime VoiceConnector Streaming Status", "Amazon Connect Contact Event"
ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")
ARN = r"arn:[a-z-]+:kinesisvideo:[a-z0-9-]+:[0-9]{12}:stream/[A-Za-z0-9_.-]+/[0-9]+"
STREAM = re.compile(rf"[A-Za-z0-9_.-]{{1,256}}|{ARN}")
FRAGMENT = re.compile(r"[0-9]{1,128}")
KNOWN = ("stream", "id", "start", "contact_id", "mime_type")


class BadStart(BadInput):
    """What was sent names no call; the text says which field is wrong and what was expected."""

    code = "bad_call"


@dataclass(frozen=True, slots=True)
class Begun:
    """A call, or one of its two streams, has begun."""

    call: Call

    def change(self, known: Call) -> Call:
        """The call with this stream, where it is known already."""
        return known.with_leg(Leg(self.call.stream, self.call.start, self.call.mime_type, self.call.speaker))


@dataclass(frozen=True, slots=True)
class Ended:
    """A call, or one of its streams, is over."""

    call_id: str
    stream: str = ""  # "": all of them
    last: str = ""  # number of its last fragment

    def change(self, known: Call) -> Call:
        """The call with that noted."""
        return known.with_end(self.stream, self.last)


@dataclass(frozen=True, slots=True)
class Nothing:
    """An event that is of no matter here."""

    why: str


def parse(event: Mapping[str, Any]) -> Begun | Ended | Nothing:
    """What an event says. Raises BadStart."""
    if "Details" in event:
        return Begun(_contact_flow(event))
    kind = event.get("detail-type")
    if kind == CHIME:
        return _chime(event)
    if kind == CONNECT:
        return _contact_event(event)
    if kind is not None:
        raise BadStart(f"detail-type {kind!r}: expected {CHIME!r} or {CONNECT!r}")
    return Begun(plain(event))


def plain(request: Mapping[str, Any]) -> Call:
    """The call of a plain request. Raises BadStart."""
    if unknown := sorted(set(request) - set(KNOWN)):
        raise BadStart(f"unknown field {unknown[0]!r}: expected {', '.join(KNOWN)}")
    stream = _text(request, "stream", STREAM, "the name or ARN of a video stream")
    call_id = _text(request, "id", ID, "1 to 64 of A-Z a-z 0-9 _ . -") if "id" in request else uuid.uuid4().hex
    contact = _text(request, "contact_id", ID, "a contact's id") if "contact_id" in request else None
    mime_type = str(request.get("mime_type", ""))[:200]
    return Call(call_id, stream, _start(request.get("start", "now")), contact, mime_type)


def _start(given: Any) -> Start:
    expected = 'start must be "now", "earliest", {"timestamp_s": seconds} or {"fragment": "number"}'
    match given:
        case "now":
            return Start("NOW")
        case "earliest":
            return Start("EARLIEST")
        case {"timestamp_s": int() | float() as at_s, **rest} if not rest and 0 < at_s < 1e11:
            return Start("PRODUCER_TIMESTAMP", timestamp_s=float(at_s))
        case {"fragment": str() as number, **rest} if not rest and FRAGMENT.fullmatch(number):
            return Start("FRAGMENT_NUMBER", fragment=number)
    raise BadStart(f"{expected}; got {_shown(given)}")


def _contact_flow(event: Mapping[str, Any]) -> Call:
    """Amazon Connect invokes a Lambda in a contact flow, behind the block that starts media streaming."""
    contact = _in(event, "Details", "ContactData")
    call_id = _text(contact, "ContactId", ID, "a contact's id")
    try:
        audio = _in(contact, "MediaStreams", "Customer", "Audio")
    except BadStart as missing:
        raise BadStart(f"{missing}: the flow must start media streaming before it calls this function") from None
    stream = _text(audio, "StreamARN", STREAM, "the ARN of a video stream")
    # StartFragmentNumber would lose the first words: reading begins behind that fragment.
    started = audio.get("StartTimestamp")
    if not (isinstance(started, str | int) and re.fullmatch(r"[0-9]{11,14}", str(started))):
        raise BadStart(f"StartTimestamp must be milliseconds since 1970; got {_shown(started)}")
    return Call(call_id, stream, Start("PRODUCER_TIMESTAMP", timestamp_s=int(started) / 1000), contact_id=call_id)


def _contact_event(event: Mapping[str, Any]) -> Ended | Nothing:
    detail = _in(event, "detail")
    kind = detail.get("eventType")
    if kind != "DISCONNECTED":
        return Nothing(f"contact event {_shown(kind)}")
    return Ended(_text(detail, "contactId", ID, "a contact's id"))


def _chime(event: Mapping[str, Any]) -> Begun | Ended | Nothing:
    """A Voice Connector streams each side of a call by itself, and tells of each."""
    detail = _in(event, "detail")
    call_id = _text(detail, "transactionId", ID, "the call's id")
    status = detail.get("streamingStatus")
    if status == "FAILED":
        return Nothing("Chime could not stream the call")
    stream = _text(detail, "streamArn", STREAM, "the ARN of a video stream")
    if status == "ENDED":
        return Ended(call_id, stream, str(detail.get("endFragmentNumber", "")))
    if status != "STARTED":
        raise BadStart(f"streamingStatus {_shown(status)}: expected STARTED, ENDED or FAILED")
    start = Start("PRODUCER_TIMESTAMP", timestamp_s=_seconds(detail, "startTime"))
    caller = detail.get("isCaller")
    if not isinstance(caller, bool):
        speaker = ""
    else:
        # Whoever calls in is the customer; on the way out it is the one who is called.
        speaker = "customer" if caller == (detail.get("direction") != "Outbound") else "agent"
    return Begun(Call(call_id, stream, start, mime_type=str(detail.get("mediaType", "")), speaker=speaker))


def _in(record: Any, *names: str) -> Mapping[str, Any]:
    for at, name in enumerate(names):
        if not isinstance(record, Mapping) or not isinstance(record.get(name), Mapping):
            raise BadStart(f"there is no {'.'.join(names[: at + 1])}")
        record = record[name]
    found: Mapping[str, Any] = record
    return found


def _text(record: Mapping[str, Any], name: str, pattern: re.Pattern[str], what: str) -> str:
    value = record.get(name)
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise BadStart(f"{name} must be {what}; got {_shown(value)}")
    return value


def _seconds(record: Mapping[str, Any], name: str) -> float:
    value = record.get(name)
    try:
        return datetime.fromisoformat(str(value)).timestamp()
    except ValueError:
        raise BadStart(f"{name} must be a time as 2026-01-31T12:00:00.250Z; got {_shown(value)}") from None


def _shown(value: Any) -> str:
    return repr(value)[:60]
