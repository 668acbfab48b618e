"""A WebSocket client at the door: a token, a connection, messages out and records in."""

from __future__ import annotations

import json
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from cloud.tokens import mint
from speech.audio import pcm
from websockets.sync.client import ClientConnection, connect

from local.stack import Stack

PATIENCE_S = 60.0


def token(
    stack: Stack,
    purpose: str = "socket",
    subject: str = "alice",
    age_s: float = 0,
    key: bytes = b"",
    calls: tuple[str, ...] = (),
) -> str:
    """A token that was made `age_s` seconds ago and lasts a minute; signed by the stack unless a key is given."""
    secret = stack.client("secretsmanager").get_secret_value(SecretId=stack.outputs["TokenSecret"])["SecretString"]
    made_s, key = time.time() - age_s, key or secret.encode()
    return mint(key, purpose=purpose, subject=subject, now_s=made_s, lifetime_s=60, calls=calls)


@dataclass
class Wire:
    """One open connection."""

    socket: ClientConnection
    heard: list[dict[str, Any]] = field(default_factory=list)
    patience_s: float = PATIENCE_S  # longest wait for a record

    def send(self, *messages: Any) -> None:
        """Messages: text as it is, anything else as JSON."""
        for message in messages:
            self.socket.send(message if isinstance(message, str) else json.dumps(message))

    def until(self, kind: str, stream: str | None = None) -> dict[str, Any]:
        """Listens until a record of a kind comes (of one stream, if it is named): that record."""
        while True:
            record: dict[str, Any] = json.loads(self.socket.recv(timeout=self.patience_s))
            self.heard.append(record)
            if record["type"] == kind and stream in (None, record.get("stream", record.get("context"))):
                return record

    def finals(self, stream: str) -> list[dict[str, Any]]:
        """The finals of a stream so far, each once, in order."""
        numbered = {r["number"]: r for r in self.heard if r.get("stream") == stream and r["type"] == "final"}
        return [numbered[number] for number in sorted(numbered)]

    def words(self, stream: str) -> list[str]:
        """What was said in a stream so far."""
        return [word["text"] for final in self.finals(stream) for word in final["words"]]


@contextmanager
def wire(stack: Stack, subject: str = "alice", calls: tuple[str, ...] = ()) -> Iterator[Wire]:
    """A connection with a good token."""
    address = f"{stack.outputs['SocketUrl']}?token={token(stack, subject=subject, calls=calls)}"
    # No pings of its own: the emulator answers them in turn, and a queue of messages may keep it busy for a while.
    with connect(address, open_timeout=PATIENCE_S, ping_interval=None) as socket:
        yield Wire(socket)


def messages(samples: np.ndarray, stream: str, chunk_s: float, rate: int = 16000) -> list[dict[str, Any]]:
    """What a client sends of a recording after its start."""
    size = round(chunk_s * rate)
    pieces = [pcm.encode(samples[at : at + size], "pcm_s16le") for at in range(0, len(samples), size)]
    sent: list[dict[str, Any]] = [
        {"type": "audio", "stream": stream, "sequence": number, "audio": b64encode(piece).decode()}
        for number, piece in enumerate(pieces)
    ]
    return [*sent, {"type": "stop", "stream": stream, "sequence": len(pieces)}]


def start(stream: str, rate: int = 16000, **values: Any) -> dict[str, Any]:
    """A start."""
    return {"type": "start", "stream": stream, "rate": rate} | values
