"""Who watches which call: an item for each WebSocket and call, forgotten when the WebSocket is."""

from __future__ import annotations

from cloud.clients import client

KEPT_S = 3 * 3600  # longer than a WebSocket lasts
MOST_WATCHERS = 100  # of a call: each costs a request for each event


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
        item = self._key(call_id, connection) | {"expires_at": {"N": str(int(now_s) + KEPT_S)}}
        client("dynamodb").put_item(TableName=self._name, Item=item)

    def leave(self, call_id: str, connection: str) -> None:
        """A connection watches a call no longer; one that never did is no matter."""
        client("dynamodb").delete_item(TableName=self._name, Key=self._key(call_id, connection))

    def of(self, call_id: str) -> list[str]:
        """The connections that watch a call."""
        answer = client("dynamodb").query(
            TableName=self._name,
            KeyConditionExpression="#call = :call",
            ExpressionAttributeNames={"#call": "call"},
            ExpressionAttributeValues={":call": {"S": call_id}},
            Limit=2 * MOST_WATCHERS,
        )
        return [item["connection"]["S"] for item in answer["Items"]]

    @staticmethod
    def _key(call_id: str, connection: str) -> dict[str, dict[str, str]]:
        return {"call": {"S": call_id}, "connection": {"S": connection}}
