"""The AWS services that the functions use, in memory: buckets, a job table, queues and an event bus that behave."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import re
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError


def refusal(code: str, operation: str = "Fake") -> ClientError:
    """What botocore raises when a service says no."""
    return ClientError({"Error": {"Code": code, "Message": code}}, operation)


@dataclass
class FakeS3:
    """Objects by (bucket, key); conditions on reads and writes as S3 checks them."""

    objects: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    uploads: dict[str, dict[int, bytes]] = field(default_factory=dict)
    reads: list[str] = field(default_factory=list)  # ranges asked for
    down: int = 0  # reads that will fail before it works again

    def put(self, bucket: str, key: str, body: bytes, etag: str = "") -> str:
        """An upload; the etag it got."""
        tag = etag or hashlib.md5(body).hexdigest()
        self.objects[bucket, key] = {"Body": body, "ETag": f'"{tag}"', "Metadata": {}}
        return tag

    def head_object(self, Bucket: str, Key: str) -> dict[str, Any]:
        found = self._find(Bucket, Key, "404")
        return {"ETag": found["ETag"], "ContentLength": len(found["Body"]), "Metadata": found["Metadata"]}

    def get_object(self, Bucket: str, Key: str, IfMatch: str = "", Range: str = "") -> dict[str, Any]:
        found = self._find(Bucket, Key, "NoSuchKey")
        if self.down:
            self.down -= 1
            raise refusal("InternalError")
        if IfMatch and IfMatch != found["ETag"]:
            raise refusal("PreconditionFailed")
        body = found["Body"]
        if Range:
            self.reads.append(Range)
            first, last = re.fullmatch(r"bytes=(\d+)-(\d+)", Range).groups()  # type: ignore[union-attr]
            body = body[int(first) : int(last) + 1]
        return {"Body": io.BytesIO(body), "ContentLength": len(body)}

    def put_object(self, Bucket: str, Key: str, Body: bytes, **more: Any) -> dict[str, Any]:
        held = self.objects.get((Bucket, Key))
        if more.get("IfNoneMatch") == "*" and held:
            raise refusal("PreconditionFailed")
        if "IfMatch" in more and (not held or held["ETag"] != more["IfMatch"]):
            raise refusal("PreconditionFailed")
        self.put(Bucket, Key, Body)
        self.objects[Bucket, Key]["Metadata"] = more.get("Metadata", {})
        return {}

    def delete_object(self, Bucket: str, Key: str) -> dict[str, Any]:
        self.objects.pop((Bucket, Key), None)
        return {}

    def create_multipart_upload(self, Bucket: str, Key: str, ContentType: str = "") -> dict[str, Any]:
        self.uploads[Key] = {}
        return {"UploadId": Key}

    def upload_part(self, Bucket: str, Key: str, UploadId: str, PartNumber: int, Body: bytes) -> dict[str, Any]:
        self.uploads[UploadId][PartNumber] = Body
        return {"ETag": f'"{PartNumber}"'}

    def complete_multipart_upload(self, Bucket: str, Key: str, UploadId: str, MultipartUpload: Any) -> dict[str, Any]:
        parts = self.uploads.pop(UploadId)
        numbers = [part["PartNumber"] for part in MultipartUpload["Parts"]]
        assert numbers == sorted(numbers), "S3 refuses parts out of order"
        self.put(Bucket, Key, b"".join(parts[number] for number in numbers))
        return {}

    def abort_multipart_upload(self, Bucket: str, Key: str, UploadId: str) -> dict[str, Any]:
        self.uploads.pop(UploadId)
        return {}

    def _find(self, bucket: str, key: str, code: str) -> dict[str, Any]:
        if (bucket, key) not in self.objects:
            raise refusal(code)
        return self.objects[bucket, key]


@dataclass
class FakeTable:
    """Items by id; conditions and updates in the part of DynamoDB's language that a job needs."""

    items: dict[str, dict[str, Any]] = field(default_factory=dict)

    def get_item(self, TableName: str, Key: dict[str, Any], ConsistentRead: bool) -> dict[str, Any]:
        item = self.items.get(Key["id"]["S"])
        return {"Item": dict(item)} if item else {}

    def put_item(self, TableName: str, Item: dict[str, Any], ConditionExpression: str, **more: Any) -> dict[str, Any]:
        self._check(Item["id"]["S"], ConditionExpression, more)
        self.items[Item["id"]["S"]] = dict(Item)
        return {}

    def update_item(
        self, TableName: str, Key: dict[str, Any], UpdateExpression: str, ConditionExpression: str, **more: Any
    ) -> dict[str, Any]:
        names, values = more["ExpressionAttributeNames"], more["ExpressionAttributeValues"]
        used = set(re.findall(r"#\w+", f"{UpdateExpression} {ConditionExpression}"))
        assert used == set(names), f"DynamoDB refuses names that are not both defined and used: {used ^ set(names)}"
        self._check(Key["id"]["S"], ConditionExpression, more)
        item = self.items[Key["id"]["S"]]
        sets, _, drops = UpdateExpression.removeprefix("SET ").partition(" REMOVE ")
        for part in sets.split(", "):
            name, value = part.split(" = ")
            item[names[name]] = values[value]
        for name in drops.split(", ") if drops else []:
            item.pop(names[name], None)
        return {"Attributes": dict(item)}

    def _check(self, key: str, condition: str, more: dict[str, Any]) -> None:
        item = self.items.get(key, {})
        names = more.get("ExpressionAttributeNames", {})

        def value(word: str) -> Any:
            attribute = more["ExpressionAttributeValues"].get(word) or item.get(names.get(word, word))
            kind, text = next(iter(attribute.items())) if attribute else ("", None)
            return float(text) if kind == "N" else text

        def compare(match: re.Match[str]) -> str:
            left, sign, right = value(match[1]), match[2], value(match[3])
            return str(left is not None and (left == right if sign == "=" else left < right))

        python = re.sub(r"attribute_not_exists\((\w+)\)", lambda m: str(m[1] not in item), condition)
        python = re.sub(r"([#:]?\w+) (=|<) ([#:]?\w+)", compare, python)
        if not eval(python.replace("AND", "and").replace("OR", "or")):
            raise refusal("ConditionalCheckFailedException")


@dataclass
class FakeQueues:
    """What was sent, and which messages were asked to come back when."""

    sent: list[tuple[str, str]] = field(default_factory=list)  # (queue, body)
    waits: list[tuple[str, int]] = field(default_factory=list)  # (receipt, seconds)
    down: bool = False

    def send_message(self, QueueUrl: str, MessageBody: str, DelaySeconds: int = 0) -> dict[str, Any]:
        if self.down:
            raise refusal("ServiceUnavailable")
        self.sent.append((QueueUrl.rsplit("/", 1)[1], MessageBody))
        return {}

    def change_message_visibility(self, QueueUrl: str, ReceiptHandle: str, VisibilityTimeout: int) -> dict[str, Any]:
        self.waits.append((ReceiptHandle, VisibilityTimeout))
        return {}


@dataclass
class FakeBus:
    """Events that were put."""

    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)  # (detail-type, detail)

    def put_events(self, Entries: list[dict[str, Any]]) -> dict[str, Any]:
        self.events += [(entry["DetailType"], json.loads(entry["Detail"])) for entry in Entries]
        return {"FailedEntryCount": 0}


@dataclass
class FakeAws:
    """All of them; `client` stands in for `boto3.client`."""

    s3: FakeS3 = field(default_factory=FakeS3)
    dynamodb: FakeTable = field(default_factory=FakeTable)
    sqs: FakeQueues = field(default_factory=FakeQueues)
    events: FakeBus = field(default_factory=FakeBus)
    ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def client(self, service: str, **_: Any) -> Any:
        return getattr(self, service)

    @property
    def job(self) -> dict[str, Any]:
        """The only job, as plain values."""
        from cloud.jobs import from_attribute

        (item,) = self.dynamodb.items.values()
        return {name: from_attribute(value) for name, value in item.items()}
