"""Connections in DynamoDB: whose they are, since when, which streams are open on them, and how many one may hold.

One item a connection (`id` is the connection's), and one a token's subject (`id` is `subject#...`) with the connections
that it holds, so that a limit can be kept by one conditional write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from cloud.clients import client
from cloud.sockets.stream import LONGEST_S
from cloud.sockets.stream_table import GRACE_S
from cloud.tokens import ANY_CALL


class Full(Exception):
    """There is no room for one more; `held` are the connections of a subject that is full."""

    def __init__(self, held: tuple[str, ...] = ()) -> None:
        super().__init__(f"{len(held)} are open")
        self.held = held


class NotOpen(Exception):
    """The connection is not in the table: it was never opened, or has been closed."""


@dataclass(frozen=True, slots=True)
class Connection:
    """One connection."""

    id: str
    subject: str
    opened_s: float  # seconds since 1970
    calls: tuple[str, ...] = ()  # live calls that its token lets it watch

    @classmethod
    def admitted(cls, id: str, authorizer: Mapping[str, str], opened_s: float) -> Connection:
        """One that the authorizer function has let in, by what it has answered."""
        calls = authorizer.get("calls", "")
        return cls(id, authorizer["principalId"], opened_s, tuple(filter(None, calls.split(","))))

    def may_watch(self, call_id: str) -> bool:
        """Whether its token names a live call, or all of them."""
        return call_id in self.calls or ANY_CALL in self.calls


class ConnectionTable:
    """The items of all connections and subjects."""

    def __init__(self, name: str, per_subject: int, streams_each: int) -> None:
        self._name, self._per_subject, self._streams_each = name, per_subject, streams_each

    def open(self, connection: Connection) -> None:
        """Takes in a connection. Raises Full if its subject holds as many as it may."""
        expires = {"N": str(int(connection.opened_s) + LONGEST_S + GRACE_S)}
        try:
            self._update(
                _subject(connection.subject),
                "ADD holds :these SET expires_at = :expires",
                "attribute_not_exists(holds) OR size(holds) < :most OR contains(holds, :this)",
                {
                    ":these": {"SS": [connection.id]},
                    ":this": {"S": connection.id},
                    ":expires": expires,
                    ":most": {"N": str(self._per_subject)},
                },
            )
        except _Refusal:
            raise Full(tuple(self._item(_subject(connection.subject)).get("holds", {}).get("SS", ()))) from None
        item = {
            "id": {"S": connection.id},
            "subject": {"S": connection.subject},
            "opened_s": {"N": str(connection.opened_s)},
            "expires_at": expires,
            **({"calls": {"SS": list(connection.calls)}} if connection.calls else {}),
        }
        client("dynamodb").put_item(TableName=self._name, Item=item)

    def close(self, connection_id: str) -> None:
        """Forgets a connection; one that is not there is no matter."""
        answer = client("dynamodb").delete_item(
            TableName=self._name, Key={"id": {"S": connection_id}}, ReturnValues="ALL_OLD"
        )
        if subject := answer.get("Attributes", {}).get("subject", {}).get("S"):
            self.release(subject, connection_id)

    def release(self, subject: str, connection_id: str) -> None:
        """A subject no longer holds a connection."""
        self._drop(_subject(subject), "holds", connection_id)

    def add_stream(self, connection_id: str, name: str) -> float:
        """Opens a stream on a connection: when the connection was opened. Raises Full or NotOpen."""
        try:
            answer = self._update(
                connection_id,
                "ADD streams :these",
                "attribute_exists(opened_s) AND "
                "(attribute_not_exists(streams) OR size(streams) < :most OR contains(streams, :this))",
                {":these": {"SS": [name]}, ":this": {"S": name}, ":most": {"N": str(self._streams_each)}},
            )
        except _Refusal:
            if not self._item(connection_id):
                raise NotOpen(connection_id) from None
            raise Full from None
        return float(answer["Attributes"]["opened_s"]["N"])

    def drop_stream(self, connection_id: str, name: str) -> None:
        """A stream has ended."""
        self._drop(connection_id, "streams", name)

    def all(self) -> Iterator[Connection]:
        """Every connection that the table knows."""
        start = dict[str, Any]()
        while True:
            answer = client("dynamodb").scan(
                TableName=self._name, FilterExpression="attribute_exists(opened_s)", ConsistentRead=True, **start
            )
            for item in answer["Items"]:
                yield Connection(item["id"]["S"], item["subject"]["S"], float(item["opened_s"]["N"]))
            if not answer.get("LastEvaluatedKey"):
                return
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}

    def find(self, connection_id: str) -> Connection | None:
        """A connection by its id."""
        item = self._item(connection_id)
        if not item:
            return None
        calls = tuple(item.get("calls", {}).get("SS", ()))
        return Connection(connection_id, item["subject"]["S"], float(item["opened_s"]["N"]), calls)

    def _item(self, key: str) -> dict[str, Any]:
        answer = client("dynamodb").get_item(TableName=self._name, Key={"id": {"S": key}}, ConsistentRead=True)
        item: dict[str, Any] = answer.get("Item", {})
        return item

    def _drop(self, key: str, names: str, name: str) -> None:
        try:
            self._update(key, f"DELETE {names} :these", "attribute_exists(id)", {":these": {"SS": [name]}})
        except _Refusal:
            return  # the item itself is gone

    def _update(self, key: str, update: str, condition: str, values: dict[str, Any]) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = client("dynamodb").update_item(
                TableName=self._name,
                Key={"id": {"S": key}},
                UpdateExpression=update,
                ConditionExpression=condition,
                ExpressionAttributeValues=values,
                ReturnValues="ALL_NEW",
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
            raise _Refusal from error
        return answer


class _Refusal(Exception):
    """A condition did not hold."""


def _subject(subject: str) -> str:
    return f"subject#{subject}"
