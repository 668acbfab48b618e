"""Live streams of the records door in DynamoDB: one item each, and a small one with what of its results was sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError

from cloud.clients import client
from cloud.records.stream import Stream

RESTING_BYTES = 1024  # of a session at most, when nothing of it is open
KEPT_S = 172_800  # after its last record: longer than Kinesis keeps one, so that nothing is taken twice


class Conflict(Exception):
    """Another invocation wrote the stream since it was read: its records come again."""


class RecordTable:
    """The items, by partition key."""

    def __init__(self, name: str) -> None:
        self._name = name

    def read(self, name: str) -> Stream:
        """A stream as it stands; one that was never heard of is at its beginning."""
        item = self._get(f"stream#{name}")
        return from_item(name, item) if item else Stream(name)

    def write(self, stream: Stream, now_s: float) -> None:
        """Snapshot, results and sequence number in one conditional write. Raises Conflict."""
        try:
            client("dynamodb").put_item(
                TableName=self._name,
                Item=to_item(stream, now_s),
                ConditionExpression="attribute_not_exists(id) OR revision = :seen",
                ExpressionAttributeValues={":seen": {"N": str(stream.revision - 1)}},
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
            raise Conflict(f"stream {stream.name} was written by another invocation") from error

    def idle(self, before_s: float) -> Iterator[str]:
        """Names of the streams that have words open and were written last before a time."""
        start = dict[str, Any]()
        while True:
            answer = client("dynamodb").scan(
                TableName=self._name,
                FilterExpression="written_s < :before AND size(#session) > :resting",
                ProjectionExpression="id",
                ExpressionAttributeNames={"#session": "session"},
                ExpressionAttributeValues={":before": {"N": str(before_s)}, ":resting": {"N": str(RESTING_BYTES)}},
                ConsistentRead=True,
                **start,
            )
            yield from (item["id"]["S"].removeprefix("stream#") for item in answer["Items"])
            if not answer.get("LastEvaluatedKey"):
                return
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}

    def sent(self, name: str) -> int:
        """The revision whose results were sent last; -1 for none."""
        return int(self._get(f"sent#{name}").get("revision", {"N": "-1"})["N"])

    def note_sent(self, stream: Stream, now_s: float) -> None:
        """The results of this revision were sent."""
        item = {
            "id": {"S": f"sent#{stream.name}"},
            "revision": {"N": str(stream.revision)},
            "expires_at": {"N": str(int(now_s) + KEPT_S)},
        }
        client("dynamodb").put_item(TableName=self._name, Item=item)

    def _get(self, key: str) -> dict[str, Any]:
        answer = client("dynamodb").get_item(TableName=self._name, Key={"id": {"S": key}}, ConsistentRead=True)
        item: dict[str, Any] = answer.get("Item", {})
        return item


def to_item(stream: Stream, now_s: float) -> dict[str, Any]:
    """A stream as DynamoDB holds it. Sequence numbers have up to 56 digits, more than DynamoDB's numbers: text."""
    return {
        "id": {"S": f"stream#{stream.name}"},
        "first": {"S": str(stream.first)},
        "taken_from": {"S": str(stream.taken_from)},
        "taken": {"S": str(stream.taken)},
        "position": {"N": str(stream.position)},
        "session": {"B": stream.session},
        "number": {"N": str(stream.number)},
        "results": {"S": json.dumps(stream.results, ensure_ascii=False)},
        "done": {"BOOL": stream.done},
        "revision": {"N": str(stream.revision)},
        "written_s": {"N": str(now_s)},
        "expires_at": {"N": str(int(now_s) + KEPT_S)},
    }


def from_item(name: str, item: dict[str, Any]) -> Stream:
    """The inverse of `to_item`."""
    return Stream(
        name=name,
        first=int(item["first"]["S"]),
        taken_from=int(item["taken_from"]["S"]),
        taken=int(item["taken"]["S"]),
        position=int(item["position"]["N"]),
        session=item["session"]["B"],
        number=int(item["number"]["N"]),
        results=tuple(json.loads(item["results"]["S"])),
        done=item["done"]["BOOL"],
        revision=int(item["revision"]["N"]),
    )
