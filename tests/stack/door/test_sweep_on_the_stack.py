"""The schedule that looks after connections, among some that are at work: it disturbs none and ends what is too old."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from tests.functions.situations import ROOT
from tests.functions.socket.door import audio, end
from tests.stack.door.door import Door
from tests.stack.door.wire import start, wire
from tests.tiny.sound import say


def aged(door: Door, subject: str, age_s: float) -> None:
    """The connections of a token's subject were opened some time ago."""
    table = {"TableName": door.name("ConnectionTable")}
    client = door.stack.client("dynamodb")
    for item in client.scan(**table)["Items"]:
        if item.get("subject", {}).get("S") == subject:
            opened = {":opened": {"N": str(time.time() - age_s)}}
            update = "SET opened_s = :opened"
            client.update_item(
                Key={"id": item["id"]}, UpdateExpression=update, ExpressionAttributeValues=opened, **table
            )


def swept(door: Door) -> dict[str, Any]:
    """What the sweep says."""
    event = (ROOT / "events/socket/sweep.json").read_bytes()
    answer = door.stack.client("lambda").invoke(FunctionName=door.name("SocketFunction"), Payload=event)
    said: dict[str, Any] = json.loads(answer["Payload"].read())
    return said


def test_connections_at_work_are_left_alone_and_old_ones_told_and_ended(door: Door) -> None:
    with wire(door.stack, "young") as young, wire(door.stack, "old") as old:
        for line in (young, old):
            line.send(start("a", 8000))
            line.until("started")
        aged(door, "young", 3600)
        assert swept(door) == {"ended": 0}
        young.send(audio(0, say("cat dog", 8000)), end(1))
        young.until("done")
        assert young.words("a") == ["cat", "dog"]
        aged(door, "old", 7200)
        assert swept(door) == {"ended": 1}
        assert old.until("error")["code"] == "connection_expired"
        with pytest.raises(ConnectionClosed):
            old.until("done")
