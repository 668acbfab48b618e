"""Streams in DynamoDB: one item each, written only by whoever saw its latest revision."""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import Any

from botocore.exceptions import ClientError

from cloud.clients import client
from cloud.live.audio_format import AudioFormat
from cloud.sockets.order import Line
from cloud.sockets.stream import LONGEST_S, Stream

GRACE_S = 600  # seconds after the end of its connection before the table drops an item by itself
REMEMBERED = 32  # streams that a process keeps as it wrote them: the next message of one may well come to it again
MOST_TOLD_BYTES = 24 * 1024  # of records kept for repeats; more come only where many finals do at once


class Conflict(Exception):
    """Another process wrote the stream since it was read, or it is gone: read again."""


class StreamTable:
    """The items of all streams, by connection and name."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._written: OrderedDict[tuple[str, str], Stream] = OrderedDict()

    def recall(self, connection: str, name: str) -> Stream | None:
        """The stream as this process wrote it last, which spares a read; good for nothing but another write."""
        return self._written.get((connection, name))

    def read(self, connection: str, name: str) -> Stream | None:
        """The stream as it stands now."""
        key = {"connection": {"S": connection}, "stream": {"S": name}}
        answer = client("dynamodb").get_item(TableName=self._name, Key=key, ConsistentRead=True)
        return from_item(answer["Item"]) if answer.get("Item") else None

    def create(self, stream: Stream) -> bool:
        """Writes a new stream; False where there is one of this name on the connection."""
        try:
            client("dynamodb").put_item(
                TableName=self._name,
                Item=to_item(stream),
                ConditionExpression="attribute_not_exists(revision)",
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
            return False
        return True

    def write(self, stream: Stream) -> None:
        """Writes a stream over its last revision. Raises Conflict if that is not what the table holds."""
        self._written.pop((stream.connection, stream.name), None)
        try:
            client("dynamodb").put_item(
                TableName=self._name,
                Item=to_item(stream),
                ConditionExpression="revision = :seen",
                ExpressionAttributeValues={":seen": {"N": str(stream.revision - 1)}},
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
            raise Conflict(f"stream {stream.name} was written by another process") from error
        self._written[stream.connection, stream.name] = stream
        if len(self._written) > REMEMBERED:
            self._written.popitem(last=False)

    def forget(self, connection: str) -> None:
        """Deletes all streams of a connection."""
        dynamodb, start = client("dynamodb"), dict[str, Any]()
        while True:
            answer = dynamodb.query(
                TableName=self._name,
                KeyConditionExpression="#connection = :connection",
                ExpressionAttributeNames={"#connection": "connection", "#stream": "stream"},
                ExpressionAttributeValues={":connection": {"S": connection}},
                ProjectionExpression="#connection, #stream",
                **start,
            )
            for key in answer["Items"]:
                dynamodb.delete_item(TableName=self._name, Key=key)
            if not answer.get("LastEvaluatedKey"):
                return
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


def to_item(stream: Stream) -> dict[str, Any]:
    """A stream as DynamoDB holds it."""
    line, told = stream.line, json.dumps(stream.told, ensure_ascii=False)
    fits = len(told.encode()) <= MOST_TOLD_BYTES
    return {
        "connection": {"S": stream.connection},
        "stream": {"S": stream.name},
        "revision": {"N": str(stream.revision)},
        "format": {"S": f"{stream.format.encoding} {stream.format.rate} {stream.format.channels}"},
        "opened_s": {"N": str(stream.opened_s)},
        "expires_at": {"N": str(int(stream.opened_s) + LONGEST_S + GRACE_S)},
        "next": {"N": str(line.next)},
        "waiting": {"M": {str(sequence): {"B": packed} for sequence, packed in line.waiting.items()}},
        "since_s": {"N": str(line.since_s)},
        "reported": {"N": str(line.reported)},
        "session": {"B": stream.session},
        "number": {"N": str(stream.number)},
        "told": {"S": told if fits else "[]"},
        "told_from": {"N": str(stream.told_from)},
        "done": {"BOOL": stream.done},
    }


def from_item(item: dict[str, Any]) -> Stream:
    """The inverse of `to_item`."""
    encoding, rate, channels = item["format"]["S"].split()
    line = Line(
        next=int(item["next"]["N"]),
        waiting={int(sequence): packed["B"] for sequence, packed in item["waiting"]["M"].items()},
        since_s=float(item["since_s"]["N"]),
        reported=int(item["reported"]["N"]),
    )
    return Stream(
        connection=item["connection"]["S"],
        name=item["stream"]["S"],
        format=AudioFormat(encoding, int(rate), int(channels)),
        opened_s=float(item["opened_s"]["N"]),
        line=line,
        session=item["session"]["B"],
        number=int(item["number"]["N"]),
        told=tuple(json.loads(item["told"]["S"])),
        told_from=int(item["told_from"]["N"]),
        done=item["done"]["BOOL"],
        revision=int(item["revision"]["N"]),
    )
