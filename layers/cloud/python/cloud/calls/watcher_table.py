"""Who watches which call: an item for each WebSocket and call, forgotten when the WebSocket is."""

from __future__ import annotations

from uuid import uuid4

from cloud.clients import client

KEPT_S = 3 * 3600  # longer than a WebSocket lasts
MOST_WATCHERS = 100  # of a call: each costs a request for each event

Watches = dict[str, str]  # connections, and a name for what each began by `watch`, which ends with `leave`


class TooMany(Exception):
    """The call has as many watchers as it may."""


class WatcherTable:
    """The items, by call and connection."""

    def __init__(self, name: str) -> None:
        self._name = name

    def watch(self, call_id: str, connection: str, now_s: float) -> None:
        """A connection watches a call from now on. Raises TooMany; to ask again changes nothing."""
        held = self.of(call_id)
        if connection not in held and len(held) >= MOST_WATCHERS:
            raise TooMany(f"call {call_id} has {MOST_WATCHERS} watchers already")
        item = {
            **self._key(call_id, connection),
            # Who has left and comes again between two looks is a newcomer all the same.
            "watch": {"S": held.get(connection) or uuid4().hex},
            "expires_at": {"N": str(int(now_s) + KEPT_S)},
        }
        client("dynamodb").put_item(TableName=self._name, Item=item)

    def leave(self, call_id: str, connection: str) -> None:
        """A connection watches a call no longer; one that never did is no matter."""
        client("dynamodb").delete_item(TableName=self._name, Key=self._key(call_id, connection))

    def of(self, call_id: str) -> Watches:
        """The connections that watch a call."""
        answer = client("dynamodb").query(
            TableName=self._name,
            KeyConditionExpression="#call = :call",
            ExpressionAttributeNames={"#call": "call"},
            ExpressionAttributeValues={":call": {"S": call_id}},
            Limit=2 * MOST_WATCHERS,
            ConsistentRead=True,  # or somebody might seem to have left and come again
        )
        return {item["connection"]["S"]: item.get("watch", {}).get("S", "") for item in answer["Items"]}

    @staticmethod
    def _key(call_id: str, connection: str) -> dict[str, dict[str, str]]:
        return {"call": {"S": call_id}, "connection": {"S": connection}}
