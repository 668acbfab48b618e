"""The services behind live streams, in memory: tables with conditions, API Gateway's connections, Secrets, Kinesis."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.functions.fake_aws import refusal

MOST_ITEM_BYTES = 400 * 1024
Item = dict[str, Any]


def item_bytes(item: Item) -> int:
    """Size of an item as DynamoDB counts it, or a little more."""
    return sum(len(name) + _bytes(value) + 3 for name, value in item.items())


def _bytes(attribute: Any) -> int:
    kind, value = next(iter(attribute.items()))
    if kind == "M":
        return item_bytes(value)
    if kind == "SS":
        return sum(map(len, value))
    return 1 if kind == "BOOL" else len(value.encode() if isinstance(value, str) else value)


@dataclass
class FakeDynamo:
    """Tables by name, items by key; conditions and updates in the part of DynamoDB's language that is used here."""

    tables: dict[str, dict[tuple[str, ...], Item]] = field(default_factory=dict)
    keys: dict[str, tuple[str, ...]] = field(
        default_factory=lambda: {"connections": ("id",), "streams": ("connection", "stream"), "records": ("id",)}
    )
    before_write: list[Callable[[], None]] = field(default_factory=list)  # each runs once: somebody who is quicker
    largest: int = 0  # bytes of the largest item written
    down: int = 0  # writes that will fail before it works again

    def get_item(self, TableName: str, Key: Item, ConsistentRead: bool) -> dict[str, Any]:
        assert ConsistentRead
        item = self._table(TableName).get(self._key(TableName, Key))
        return {"Item": copy.deepcopy(item)} if item else {}

    def put_item(self, TableName: str, Item: Item, ConditionExpression: str = "", **more: Any) -> dict[str, Any]:
        self._about_to_write()
        key = self._key(TableName, Item)
        self._check(self._table(TableName).get(key, {}), ConditionExpression, more)
        self.largest = max(self.largest, item_bytes(Item))
        if item_bytes(Item) > MOST_ITEM_BYTES:
            raise refusal("ValidationException")
        self._table(TableName)[key] = copy.deepcopy(Item)
        return {}

    def update_item(
        self, TableName: str, Key: Item, UpdateExpression: str, ConditionExpression: str = "", **more: Any
    ) -> dict[str, Any]:
        key, values = self._key(TableName, Key), more["ExpressionAttributeValues"]
        item = copy.deepcopy(self._table(TableName).get(key, {}))
        self._check(item, ConditionExpression, more)
        item |= Key
        for verb, clause in re.findall(r"(ADD|DELETE|SET) (.*?)(?= ADD | DELETE | SET |$)", UpdateExpression):
            for part in clause.split(", "):
                name, value = part.replace(" = ", " ").split()
                if verb == "SET":
                    item[name] = values[value]
                    continue
                held, these = set(item.get(name, {}).get("SS", ())), set(values[value]["SS"])
                held = held | these if verb == "ADD" else held - these
                item.pop(name, None)
                item |= {name: {"SS": sorted(held)}} if held else {}  # DynamoDB keeps no empty sets
        self._table(TableName)[key] = item
        return {"Attributes": copy.deepcopy(item)}

    def delete_item(self, TableName: str, Key: Item, ReturnValues: str = "") -> dict[str, Any]:
        item = self._table(TableName).pop(self._key(TableName, Key), None)
        return {"Attributes": item} if item and ReturnValues else {}

    def query(self, TableName: str, ExpressionAttributeValues: Item, **more: Any) -> dict[str, Any]:
        (wanted,) = ExpressionAttributeValues.values()
        names = self.keys[TableName]
        items = [i for i in self._table(TableName).values() if i[names[0]] == wanted]
        if "ProjectionExpression" in more:
            items = [{name: item[name] for name in names} for item in items]
        return {"Items": copy.deepcopy(items)}

    def scan(self, TableName: str, FilterExpression: str, **more: Any) -> dict[str, Any]:
        for name, meant in more.get("ExpressionAttributeNames", {}).items():
            FilterExpression = FilterExpression.replace(name, meant)
        values, items = more.get("ExpressionAttributeValues", {}), self._table(TableName).values()
        return {"Items": [copy.deepcopy(item) for item in items if _holds(item, FilterExpression, values)]}

    def _about_to_write(self) -> None:
        if self.before_write:
            self.before_write.pop(0)()
        if self.down:
            self.down -= 1
            raise refusal("InternalServerError")

    def _check(self, item: Item, condition: str, more: dict[str, Any]) -> None:
        if condition and not _holds(item, condition, more.get("ExpressionAttributeValues", {})):
            raise refusal("ConditionalCheckFailedException")

    def _table(self, name: str) -> dict[tuple[str, ...], Item]:
        return self.tables.setdefault(name, {})

    def _key(self, table: str, item: Item) -> tuple[str, ...]:
        return tuple(item[name]["S"] for name in self.keys[table])


def _holds(item: Item, condition: str, values: Item) -> bool:
    def plain(word: str) -> Any:
        attribute = values.get(word) or item.get(word)
        kind, value = next(iter(attribute.items())) if attribute else ("", None)
        return float(value) if kind == "N" else value

    python = re.sub(r"attribute_not_exists\((\w+)\)", lambda m: str(m[1] not in item), condition)
    python = re.sub(r"attribute_exists\((\w+)\)", lambda m: str(m[1] in item), python)
    python = re.sub(r"contains\((\w+), (:\w+)\)", lambda m: str(plain(m[2]) in (plain(m[1]) or ())), python)
    python = re.sub(r"size\((\w+)\) < (:\w+)", lambda m: str(len(plain(m[1]) or ()) < plain(m[2])), python)
    python = re.sub(r"size\((\w+)\) > (:\w+)", lambda m: str(len(plain(m[1]) or ()) > plain(m[2])), python)
    python = re.sub(r"(\w+) < (:\w+)", lambda m: str(m[1] in item and plain(m[1]) < plain(m[2])), python)
    python = re.sub(r"(\w+) = (:\w+)", lambda m: str(plain(m[1]) == plain(m[2])), python)
    return bool(eval(python.replace("AND", "and").replace("OR", "or")))


@dataclass
class FakeConnections:
    """API Gateway's connections: what was sent to each, and when its client sent something last."""

    sent: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    active_s: dict[str, float | None] = field(default_factory=dict)  # of those that are there; None: it is not told
    hung_up: list[str] = field(default_factory=list)
    down: int = 0  # posts that will fail before it works again
    during: dict[int, Callable[[], None]] = field(default_factory=dict)  # what happens while post number n is made
    posts: int = 0

    def post_to_connection(self, ConnectionId: str, Data: bytes) -> dict[str, Any]:
        self._find(ConnectionId)
        if self.down:
            self.down -= 1
            raise refusal("InternalServerError")
        assert len(Data) <= 32 * 1024, "one frame"
        self.posts += 1
        if self.posts in self.during:
            self.during.pop(self.posts)()
        self.sent.setdefault(ConnectionId, []).append(json.loads(Data))
        return {}

    def get_connection(self, ConnectionId: str) -> dict[str, Any]:
        last = self._find(ConnectionId)
        return {} if last is None else {"LastActiveAt": last}

    def delete_connection(self, ConnectionId: str) -> dict[str, Any]:
        self._find(ConnectionId)
        del self.active_s[ConnectionId]
        self.hung_up.append(ConnectionId)
        return {}

    def _find(self, connection: str) -> float | None:
        if connection not in self.active_s:
            raise refusal("GoneException")
        return self.active_s[connection]


@dataclass
class FakeSecrets:
    """One secret."""

    value: str = "s" * 64

    def get_secret_value(self, SecretId: str) -> dict[str, Any]:
        return {"SecretString": self.value}


@dataclass
class FakeBus:
    """Events that were put; `down` makes that many of the next requests fail."""

    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)  # (detail-type, detail)
    down: int = 0

    def put_events(self, Entries: list[dict[str, Any]]) -> dict[str, Any]:
        assert len(Entries) <= 10
        if self.down:
            self.down -= 1
            return {"FailedEntryCount": len(Entries)}
        self.events += [(entry["DetailType"], json.loads(entry["Detail"])) for entry in Entries]
        return {"FailedEntryCount": 0}


@dataclass
class FakeKinesis:
    """Records that were put, by stream; `refuse` makes that many of the next ones fail."""

    put: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)  # (stream, partition key, record)
    refuse: int = 0

    def put_records(self, StreamName: str, Records: list[dict[str, Any]]) -> dict[str, Any]:
        answers = []
        for record in Records:
            if self.refuse:
                self.refuse -= 1
                answers.append({"ErrorCode": "ProvisionedThroughputExceededException"})
                continue
            self.put.append((StreamName, record["PartitionKey"], json.loads(record["Data"])))
            answers.append({"SequenceNumber": str(len(self.put))})
        return {"FailedRecordCount": sum("ErrorCode" in a for a in answers), "Records": answers}


@dataclass
class FakeFunctions:
    """Lambda: events that functions were called with and have not handled yet."""

    called: list[dict[str, Any]] = field(default_factory=list)
    down: int = 0  # calls that will fail before it works again

    def invoke(self, FunctionName: str, InvocationType: str, Payload: bytes) -> dict[str, Any]:
        assert InvocationType == "Event"
        if self.down:
            self.down -= 1
            raise refusal("ServiceException")
        self.called.append(json.loads(Payload))
        return {"StatusCode": 202}


@dataclass
class FakeLive:
    """All of them; `client` stands in for `boto3.client`."""

    dynamodb: FakeDynamo = field(default_factory=FakeDynamo)
    apigatewaymanagementapi: FakeConnections = field(default_factory=FakeConnections)
    secretsmanager: FakeSecrets = field(default_factory=FakeSecrets)
    kinesis: FakeKinesis = field(default_factory=FakeKinesis)
    events: FakeBus = field(default_factory=FakeBus)
    functions: FakeFunctions = field(default_factory=FakeFunctions)

    def client(self, service: str, **_: Any) -> Any:
        return getattr(self, "functions" if service == "lambda" else service)
