"""`application/vnd.amazon.eventstream` as AWS services send it: messages with headers, a payload and checksums."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from typing import Any

from tests.stack.replies.model_server import Line

KIND = "application/vnd.amazon.eventstream"


def message(payload: bytes, **headers: str) -> bytes:
    """One message; `event_type` is the header `:event-type`."""
    head = b"".join(
        bytes([len(name) + 1])
        + b":"
        + name.replace("_", "-").encode()
        + b"\x07"
        + struct.pack(">H", len(value))
        + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    body = prelude + struct.pack(">I", zlib.crc32(prelude)) + head + payload
    return body + struct.pack(">I", zlib.crc32(body))


def event(name: str, record: dict[str, Any] | bytes) -> bytes:
    payload, kind = (
        (record, "application/octet-stream")
        if isinstance(record, bytes)
        else (json.dumps(record).encode(), "application/json")
    )
    return message(payload, message_type="event", event_type=name, content_type=kind)


def exception(name: str, text: str) -> bytes:
    payload = json.dumps({"message": text}).encode()
    return message(payload, message_type="exception", exception_type=name, content_type="application/json")


def sends(*messages: bytes, hangs: bool = False) -> Callable[[Line], None]:
    """An answer of these messages; with `hangs` its end never comes."""

    def act(line: Line) -> None:
        line.head(200, KIND)
        for one in messages:
            line.send(one)
        line.hang() if hangs else line.end()

    return act


def text(piece: str) -> bytes:
    """A piece of a Converse answer."""
    return event("contentBlockDelta", {"delta": {"text": piece}, "contentBlockIndex": 0})


def converse(*pieces: str) -> Callable[[Line], None]:
    """A whole ConverseStream."""
    reasoning = {"delta": {"reasoningContent": {"text": "hm"}}, "contentBlockIndex": 0}
    return sends(
        event("messageStart", {"role": "assistant"}),
        event("contentBlockDelta", reasoning),
        *map(text, pieces),
        event("contentBlockStop", {"contentBlockIndex": 0}),
        event("messageStop", {"stopReason": "end_turn"}),
        event(
            "metadata", {"usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}, "metrics": {"latencyMs": 3}}
        ),
    )
