"""The job table: one item per upload, and who works on it, so that repeated events still make one transcript.

A message about a recording *claims* its job. The claim holds until the invocation's time is over, and everything the
claimant writes is conditional on it, so that a replay, a duplicate or a straggler finds out and stops. The states are
those of Amazon Transcribe: QUEUED (waits for an invocation), IN_PROGRESS (claimed), COMPLETED, FAILED; before them
AWAITING_UPLOAD, where the API has given out a form for an upload.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from botocore.exceptions import ClientError

from cloud.clients import client
from cloud.recordings import Recording

DAY_S = 86_400
BY_STATUS = "by-status"  # index of the table: status, then created_at

# The same upload again: left off by an invocation, lost by a dead one, or brought back from the dead letters.
_OPEN = (
    "sequencer = :sequencer AND (#status = :queued OR (#status = :progress AND lease_until < :now_s)"
    " OR (#status = :failed AND may_retry = :yes))"
)


class Duplicate(Exception):
    """Another message has done, or is doing, what this one asks for: it can be deleted."""


class Busy(Exception):
    """This very message was delivered twice and its first delivery is still at work: look again later."""

    def __init__(self, wait_s: int) -> None:
        super().__init__(f"an earlier delivery of this message is at work for up to {wait_s} s")
        self.wait_s = wait_s


class LostClaim(Duplicate):
    """The job is no longer ours: its time ran out, or the same content was uploaded anew."""


@dataclass(frozen=True, slots=True)
class Job:
    """A claimed job: `item` is what the table knows about it."""

    recording: Recording
    owner: str  # id of the message that holds the claim
    item: dict[str, Any]

    @property
    def checkpoint(self) -> str | None:
        """Key of the checkpoint that an earlier invocation left in the output bucket."""
        return self.item.get("checkpoint")

    @property
    def converted(self) -> str | None:
        """Key of the decoded audio in the output bucket, where the recording itself needs a decoder."""
        return self.item.get("converted")


class JobTable:
    """The states of jobs; `now_s` is given to each call, in seconds since 1970."""

    def __init__(self, name: str, retention_days: int) -> None:
        self._name = name
        self._retention_s = retention_days * DAY_S

    def claim(self, recording: Recording, owner: str, lease_until_s: float, now_s: float) -> Job:
        """Takes the job of a recording, or raises `Duplicate` or `Busy`."""
        lease = {"owner": owner, "lease_until": int(lease_until_s) + 1}
        try:
            item = self._create(recording, lease, now_s)
        except ClientError as error:
            _only_condition(error)
            item = self._reopen(recording, lease, now_s)
        return Job(recording, owner, item)

    def hand_over(self, job: Job, now_s: float, **found: Any) -> None:
        """Lets go of a job for a later invocation, with what this one `found` (its checkpoint, its converted audio)."""
        self._update(job, now_s, {"status": "QUEUED", **found}, drop=("owner", "lease_until"))

    def note(self, job: Job, now_s: float, **found: Any) -> None:
        """Something about a job that is being worked on, for who asks meanwhile."""
        self._update(job, now_s, found)

    def complete(self, job: Job, now_s: float, **found: Any) -> None:
        """The transcript is written."""
        self._update(job, now_s, {"status": "COMPLETED", "completed_at": _iso(now_s), **found}, drop=("reason",))

    def fail(self, job: Job, now_s: float, reason: str, *, may_retry: bool) -> None:
        """There will be no transcript; `may_retry` where the message ends as a dead letter that can be brought back."""
        found = {"status": "FAILED", "reason": reason, "completed_at": _iso(now_s), "may_retry": may_retry}
        self._update(job, now_s, found)

    def read(self, job_id: str) -> dict[str, Any]:
        """What the table knows about a job; an empty one where it knows nothing."""
        answer = client("dynamodb").get_item(TableName=self._name, Key={"id": {"S": job_id}}, ConsistentRead=True)
        return {name: from_attribute(value) for name, value in answer.get("Item", {}).items()}

    def expect(self, job_id: str, bucket: str, key: str, now_s: float, status: str = "AWAITING_UPLOAD") -> None:
        """Notes that a recording may come; its first event finds an earlier sequencer here and takes the job over."""
        item = {
            "id": job_id,
            "bucket": bucket,
            "key": key,
            "sequencer": "",
            "status": status,
            "created_at": _iso(now_s),
            "updated_at": _iso(now_s),
            "expires_at": int(now_s) + DAY_S,
        }
        client("dynamodb").put_item(
            TableName=self._name,
            Item={name: to_attribute(value) for name, value in item.items()},
            ConditionExpression="attribute_not_exists(id)",
        )

    def in_state(self, status: str, until: str) -> Iterator[dict[str, Any]]:
        """Jobs in a state that were created at the time `until` or before, newest first; read as they are taken."""
        return newest_first(self._name, BY_STATUS, status, until)

    def _create(self, recording: Recording, lease: dict[str, Any], now_s: float) -> dict[str, Any]:
        item = {
            "id": recording.job_id,
            "bucket": recording.bucket,
            "key": recording.key,
            "etag": recording.etag,
            "version_id": recording.version_id,
            "sequencer": recording.sequencer,
            "size": recording.size,
            "status": "IN_PROGRESS",
            "created_at": _iso(now_s),
            "updated_at": _iso(now_s),
            "expires_at": int(now_s) + self._retention_s,
            **lease,
        }
        client("dynamodb").put_item(
            TableName=self._name,
            Item={name: to_attribute(value) for name, value in item.items()},
            ConditionExpression="attribute_not_exists(id) OR sequencer < :sequencer",
            ExpressionAttributeValues={":sequencer": {"S": recording.sequencer}},
        )
        return item

    def _reopen(self, recording: Recording, lease: dict[str, Any], now_s: float) -> dict[str, Any]:
        states = {":queued": "QUEUED", ":progress": "IN_PROGRESS", ":failed": "FAILED", ":yes": True}
        values = {":sequencer": recording.sequencer, ":now_s": int(now_s), **states}
        found = {"status": "IN_PROGRESS", **lease}
        try:
            drop = ("reason", "may_retry")
            return self._write(recording.job_id, now_s, found, drop=drop, condition=_OPEN, values=values)
        except ClientError as error:
            _only_condition(error)
        item = self.read(recording.job_id)
        if item.get("status") == "IN_PROGRESS" and item.get("owner") == lease["owner"]:
            raise Busy(max(1, int(item["lease_until"]) - int(now_s)))
        raise Duplicate(f"job {recording.job_id} is {item.get('status', 'gone')}")

    def _update(self, job: Job, now_s: float, found: dict[str, Any], drop: tuple[str, ...] = ()) -> None:
        ours = "#status = :progress AND #owner = :mine AND sequencer = :sequencer"
        values = {":progress": "IN_PROGRESS", ":mine": job.owner, ":sequencer": job.recording.sequencer}
        try:
            self._write(job.recording.job_id, now_s, found, drop=drop, condition=ours, values=values)
        except ClientError as error:
            _only_condition(error)
            raise LostClaim(f"job {job.recording.job_id} is no longer held by message {job.owner}") from error

    def _write(
        self,
        job_id: str,
        now_s: float,
        found: dict[str, Any],
        *,
        drop: tuple[str, ...],
        condition: str,
        values: dict[str, Any],
    ) -> dict[str, Any]:
        found = {**found, "updated_at": _iso(now_s), "expires_at": int(now_s) + self._retention_s}
        sets = "SET " + ", ".join(f"#{name} = :set_{name}" for name in found)
        drops = " REMOVE " + ", ".join(f"#{name}" for name in drop) if drop else ""
        values = {**values, **{f":set_{name}": value for name, value in found.items()}}
        answer = client("dynamodb").update_item(
            TableName=self._name,
            Key={"id": {"S": job_id}},
            UpdateExpression=sets + drops,
            ConditionExpression=condition,
            ExpressionAttributeNames={word: word[1:] for word in re.findall(r"#\w+", f"{sets}{drops} {condition}")},
            ExpressionAttributeValues={name: to_attribute(value) for name, value in values.items()},
            ReturnValues="ALL_NEW",
        )
        return {name: from_attribute(value) for name, value in answer["Attributes"].items()}


def to_attribute(value: Any) -> dict[str, Any]:
    """A Python value as DynamoDB types it: text, numbers, truth and lists of them are all a job needs."""
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, int | float):
        return {"N": str(Decimal(str(value)))}
    if isinstance(value, list | tuple):
        return {"L": [to_attribute(part) for part in value]}
    return {"S": str(value)}


def newest_first(table: str, index: str, status: str, until: str) -> Iterator[dict[str, Any]]:
    """Items of a table in a state, out of an index by status and created_at; read as they are taken."""
    pages = (
        client("dynamodb")
        .get_paginator("query")
        .paginate(
            TableName=table,
            IndexName=index,
            KeyConditionExpression="#status = :status AND created_at <= :until",
            ExpressionAttributeNames={"#status": "status"},
            ExpressionAttributeValues={":status": {"S": status}, ":until": {"S": until}},
            ScanIndexForward=False,
            PaginationConfig={"PageSize": 100},
        )
    )
    for page in pages:
        yield from ({name: from_attribute(value) for name, value in item.items()} for item in page["Items"])


def from_attribute(attribute: dict[str, Any]) -> Any:
    """The inverse of `to_attribute`; numbers come back as int where they are whole."""
    kind, value = next(iter(attribute.items()))
    if kind == "N":
        number = Decimal(value)
        return int(number) if number == number.to_integral_value() else float(number)
    return [from_attribute(part) for part in value] if kind == "L" else value


def _only_condition(error: ClientError) -> None:
    if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
        raise error


def _iso(now_s: float) -> str:
    return datetime.fromtimestamp(now_s, UTC).isoformat(timespec="milliseconds")
