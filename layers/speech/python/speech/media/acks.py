"""Incremental parser of what PutMedia answers while the upload goes on: JSON objects, one a line, cut anywhere.

{"EventType":"PERSISTED","FragmentTimecode":1000,"FragmentNumber":"9134..."}
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from speech.errors import BadMedia
from speech.media.limits import Limits

Kind = Literal["BUFFERING", "RECEIVED", "PERSISTED", "IDLE", "ERROR"]

# Names by ErrorId, from the documentation of PutMedia and GetMedia and AWS's producer SDK.
ERRORS = {
    3002: "STREAM_WRITE_ERROR",
    4000: "STREAM_READ_ERROR",
    4001: "MAX_FRAGMENT_SIZE_REACHED",
    4002: "MAX_FRAGMENT_DURATION_REACHED",
    4003: "MAX_CONNECTION_DURATION_REACHED",
    4004: "FRAGMENT_TIMECODE_LESSER_THAN_PREVIOUS",
    4005: "MORE_THAN_ALLOWED_TRACKS_FOUND",
    4006: "INVALID_MKV_DATA",
    4007: "INVALID_PRODUCER_TIMESTAMP",
    4008: "STREAM_NOT_ACTIVE",
    4009: "FRAGMENT_METADATA_LIMIT_REACHED",
    4010: "TRACK_NUMBER_MISMATCH",
    4011: "FRAMES_MISSING_FOR_TRACK",
    4012: "MORE_THAN_ALLOWED_TRACKS_FOUND",
    4500: "KMS_KEY_ACCESS_DENIED",
    4501: "KMS_KEY_DISABLED",
    4502: "KMS_KEY_VALIDATION_ERROR",
    4503: "KMS_KEY_UNAVAILABLE",
    4504: "KMS_KEY_INVALID_USAGE",
    4505: "KMS_KEY_INVALID_STATE",
    4506: "KMS_KEY_NOT_FOUND",
    4507: "STREAM_DELETED",
    5000: "INTERNAL_ERROR",
    5001: "ARCHIVAL_ERROR",
}


@dataclass(frozen=True, slots=True)
class Ack:
    """One acknowledgement."""

    kind: Kind
    timecode_ms: int | None  # of the fragment's start; None for IDLE
    fragment: str | None  # its number; None until RECEIVED


@dataclass(frozen=True, slots=True)
class AckError(Ack):
    """The service refuses a fragment, or ends the connection."""

    error: str  # the name: as sent, or after its id
    id: int | None

    @property
    def retry(self) -> bool:
        """Whether the same media may be taken in a new connection: its end was due, or the service was at fault."""
        return self.id in (4000, 4003, 5000, 5001)


class AckParser:
    """Bytes of the answer in by `receive`, acknowledgements out."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._most = (limits or Limits()).ack_bytes
        self._line = bytearray()

    def receive(self, data: bytes | bytearray | memoryview) -> list[Ack]:
        """Acknowledgements that are complete with these bytes; BadMedia for a line that is none."""
        *ends, rest = bytes(data).split(b"\n")
        acks = []
        for end in ends:
            self._append(end)
            line, self._line = bytes(self._line), bytearray()
            if line.strip():
                acks.append(_ack(line))
        self._append(rest)
        return acks

    def finish(self) -> list[Ack]:
        """The answer has ended: its last line, if that has no newline."""
        return self.receive(b"\n")

    def _append(self, data: bytes) -> None:
        if len(self._line) + len(data) > self._most:
            raise BadMedia(f"an acknowledgement of more than {self._most} bytes without a newline")
        self._line += data


def _ack(line: bytes) -> Ack:
    """One line."""
    shown = line[:120].decode("utf-8", "replace")
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise BadMedia(f"an acknowledgement that is no JSON: {shown!r}") from None
    kind = found.get("EventType") if isinstance(found, dict) else None
    if kind not in ("BUFFERING", "RECEIVED", "PERSISTED", "IDLE", "ERROR"):
        raise BadMedia(f"an acknowledgement without a known EventType: {shown!r}")
    timecode, number = _integer(found.get("FragmentTimecode")), found.get("FragmentNumber")
    fragment = None if number is None else str(number)
    if kind != "ERROR":
        return Ack(kind, timecode, fragment)
    error_id = _integer(found.get("ErrorId"))
    code = found.get("ErrorCode") or ERRORS.get(error_id or 0, "UNKNOWN_ERROR")
    return AckError("ERROR", timecode, fragment, str(code), error_id)


def _integer(value: Any) -> int | None:
    """A whole number, also one that was sent as a string."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    text = str(value) if isinstance(value, str) or abs(value) < 1 << 63 else ""
    return int(text) if text.lstrip("-").isdecimal() and text.isascii() and len(text) < 20 else None
