"""The WebSocket door as API Gateway sees it, with AWS in memory and a real recogniser of tones."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from cloud.sockets.invocation import Invocation
from speech.audio import pcm

from tests.functions.fake_live import FakeLive
from tests.functions.situations import Context, load_event

RATE = 8000
CHUNK = RATE // 5  # 200 ms


class Moment(Invocation):
    """An invocation at a time that a test chooses."""

    def __init__(self, now_s: float) -> None:
        super().__init__(Context())
        self.at_s = now_s

    @property
    def now_s(self) -> float:
        return self.at_s


@dataclass
class Door:
    """`app` is functions/socket; connections are those of events/socket unless a test names others."""

    app: ModuleType
    aws: FakeLive

    def open(self, connection: str = "one", subject: str = "alice", calls: str = "") -> int:
        """A handshake: the HTTP status that the client sees."""
        event = load_event("connect", "socket")
        event["requestContext"] |= {"connectionId": connection, "authorizer": {"principalId": subject, "calls": calls}}
        status = int(self.app.handler(event, Context())["statusCode"])
        if status == 200:
            self.aws.apigatewaymanagementapi.active_s[connection] = 0.0
        return status

    def send(self, message: Any, connection: str = "one", remaining_s: float = 29) -> list[dict[str, Any]]:
        """A message (text as it is, anything else as JSON): what the client hears because of it.

        `remaining_s`: how long its invocation may still work.
        """
        event = load_event("start", "socket")
        event["requestContext"]["connectionId"] = connection
        event["body"] = message if isinstance(message, str) else json.dumps(message)
        before = len(self.heard(connection))
        assert self.app.handler(event, Context(remaining_s)) == {"statusCode": 200}
        return self.heard(connection)[before:]

    def at(self, now_s: float, message: Any, connection: str = "one") -> list[dict[str, Any]]:
        """A message that comes at some time, seconds since 1970."""
        before = len(self.heard(connection))
        self.app.desk.message(connection, json.dumps(message), Moment(now_s))
        return self.heard(connection)[before:]

    def opened_s(self, connection: str = "one") -> float:
        """When a connection was opened."""
        (item,) = [item for item in self.items("connections") if item["id"]["S"] == connection]
        return float(item["opened_s"]["N"])

    def close(self, connection: str = "one") -> None:
        """The client hangs up."""
        event = load_event("disconnect", "socket")
        event["requestContext"]["connectionId"] = connection
        self.aws.apigatewaymanagementapi.active_s.pop(connection, None)
        self.app.handler(event, Context())

    def heard(self, connection: str = "one") -> list[dict[str, Any]]:
        """Everything that was sent to a client."""
        return self.aws.apigatewaymanagementapi.sent.get(connection, [])

    def items(self, table: str) -> list[dict[str, Any]]:
        """What a table holds."""
        return list(self.aws.dynamodb.tables.get(table, {}).values())


def start(stream: str = "a", **values: Any) -> dict[str, Any]:
    """A start."""
    return {"type": "start", "stream": stream, "rate": RATE} | values


def audio(sequence: int, samples: np.ndarray, stream: str = "a", encoding: str = "pcm_s16le") -> dict[str, Any]:
    """An audio message of samples (n,) or (n, channels)."""
    data = b64encode(pcm.encode(samples, encoding)).decode()
    return {"type": "audio", "stream": stream, "sequence": sequence, "audio": data}


def end(sequence: int, stream: str = "a", kind: str = "stop") -> dict[str, Any]:
    """A stop, or a finalize."""
    return {"type": kind, "stream": stream, "sequence": sequence}


def spoken(samples: np.ndarray, stream: str = "a", **values: Any) -> Iterator[dict[str, Any]]:
    """All messages of a recording, from the start to the stop, 200 ms each."""
    yield start(stream, **values)
    encoding = values.get("encoding", "pcm_s16le")
    count = 0
    for count, at in enumerate(range(0, len(samples), CHUNK), 1):
        yield audio(count - 1, samples[at : at + CHUNK], stream, encoding)
    yield end(count, stream)


def transcript(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was said, of all records that a client got: in order of number, repeats once, partials left out."""
    numbered = {r["number"]: {k: v for k, v in r.items() if k != "repeat"} for r in records if "number" in r}
    told = [numbered[number] for number in sorted(numbered)]
    return [
        {k: v for k, v in record.items() if k not in ("number", "received")}
        for record in told
        if record["type"] in ("final", "turn_end", "done", "finalized")
    ]
