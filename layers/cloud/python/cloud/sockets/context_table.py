"""Contexts in DynamoDB, among the streams: two items each, written only by whoever saw the latest revision.

The small one is the `Context`, which every message writes; the large one is its `Said`, which only the speaker does.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import astuple
from typing import Any

from botocore.exceptions import ClientError

from cloud.clients import client
from cloud.sockets.context import PREFIX, Context, Entry, Hold
from cloud.sockets.order import Line
from cloud.sockets.said import Said
from cloud.sockets.speech_messages import Open, Voice
from cloud.sockets.stream import LONGEST_S
from cloud.sockets.stream_table import GRACE_S, Conflict

SAID = "said#"  # of the names of the large items
REMEMBERED = 32  # contexts that a process keeps as it wrote them


class ContextTable:
    """The items of all contexts, in the table of the streams."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._written: OrderedDict[tuple[str, str], Context] = OrderedDict()

    def recall(self, connection: str, name: str) -> Context | None:
        """The context as this process wrote it last, which spares a read; good for nothing but another write."""
        return self._written.get((connection, name))

    def read(self, connection: str, name: str) -> Context | None:
        """The context as it stands now."""
        item = self._read(connection, PREFIX + name)
        return context_of(item) if item else None

    def write(self, context: Context) -> None:
        """Writes a context over its last revision. Raises Conflict if that is not what the table holds."""
        self._written.pop((context.connection, context.name), None)
        self._write(context_item(context), context.revision)
        self._written[context.connection, context.name] = context
        if len(self._written) > REMEMBERED:
            self._written.popitem(last=False)

    def read_said(self, context: Context) -> Said:
        """What a context has said so far."""
        item = self._read(context.connection, SAID + context.name)
        return said_of(item) if item else Said(context.connection, context.name, context.opened_s)

    def write_said(self, said: Said) -> None:
        """Writes over the last revision. Raises Conflict if another process has spoken meanwhile."""
        self._write(said_item(said), said.revision)

    def _read(self, connection: str, stream: str) -> dict[str, Any] | None:
        key = {"connection": {"S": connection}, "stream": {"S": stream}}
        answer = client("dynamodb").get_item(TableName=self._name, Key=key, ConsistentRead=True)
        item: dict[str, Any] | None = answer.get("Item")
        return item

    def _write(self, item: dict[str, Any], revision: int) -> None:
        condition: dict[str, Any] = {"ConditionExpression": "attribute_not_exists(revision)"}
        if revision > 1:
            condition = {
                "ConditionExpression": "revision = :seen",
                "ExpressionAttributeValues": {":seen": {"N": str(revision - 1)}},
            }
        try:
            client("dynamodb").put_item(TableName=self._name, Item=item, **condition)
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
            raise Conflict(f"{item['stream']['S']} was written by another process") from error


def context_item(context: Context) -> dict[str, Any]:
    """A context as DynamoDB holds it."""
    line = context.line
    state = {
        "opening": [*astuple(context.opening)],
        "entries": [astuple(entry) for entry in context.entries],
        "first": context.first,
        "tail": context.tail,
        "text_bytes": context.text_bytes,
        "hold": context.hold and astuple(context.hold),
        "cancel": context.cancel,
        "over": context.over,
        "said": context.said,
        "line": [line.next, line.since_s, line.reported],
    }
    return {
        **_head(context.connection, PREFIX + context.name, context.opened_s, context.revision),
        "state": {"S": json.dumps(state, ensure_ascii=False)},
        "waiting": {"M": {str(sequence): {"B": packed} for sequence, packed in line.waiting.items()}},
    }


def context_of(item: dict[str, Any]) -> Context:
    """The inverse of `context_item`."""
    state = json.loads(item["state"]["S"])
    name, voice, text, finish = state["opening"]
    following, since_s, reported = state["line"]
    waiting = {int(sequence): packed["B"] for sequence, packed in item["waiting"]["M"].items()}
    return Context(
        connection=item["connection"]["S"],
        name=name,
        opening=Open(name, Voice(*voice), text, finish),
        opened_s=float(item["opened_s"]["N"]),
        line=Line(following, waiting, since_s, reported),
        entries=tuple(Entry(*entry) for entry in state["entries"]),
        first=state["first"],
        tail=state["tail"],
        text_bytes=state["text_bytes"],
        hold=Hold(*state["hold"]) if state["hold"] else None,
        cancel=(state["cancel"][0],) if state["cancel"] else None,
        over=state["over"],
        said=state["said"],
        revision=int(item["revision"]["N"]),
    )


def said_item(said: Said) -> dict[str, Any]:
    """What has been said, as DynamoDB holds it."""
    return {
        **_head(said.connection, SAID + said.name, said.opened_s, said.revision),
        "entries": {"N": str(said.entries)},
        "number": {"N": str(said.number)},
        "frames": {"N": str(said.frames)},
        "text": {"S": said.text},
        "words": {"B": said.words},
        "owing": {"S": json.dumps(said.owing)},
        "snapshot": {"B": said.snapshot},
    }


def said_of(item: dict[str, Any]) -> Said:
    """The inverse of `said_item`."""
    owing = json.loads(item["owing"]["S"])
    return Said(
        connection=item["connection"]["S"],
        name=item["stream"]["S"].removeprefix(SAID),
        opened_s=float(item["opened_s"]["N"]),
        entries=int(item["entries"]["N"]),
        number=int(item["number"]["N"]),
        frames=int(item["frames"]["N"]),
        text=item["text"]["S"],
        words=item["words"]["B"],
        owing=(owing[0], owing[1]) if owing else None,
        snapshot=item["snapshot"]["B"],
        revision=int(item["revision"]["N"]),
    )


def _head(connection: str, stream: str, opened_s: float, revision: int) -> dict[str, Any]:
    return {
        "connection": {"S": connection},
        "stream": {"S": stream},
        "revision": {"N": str(revision)},
        "opened_s": {"N": str(opened_s)},
        "expires_at": {"N": str(int(opened_s) + LONGEST_S + GRACE_S)},
    }
