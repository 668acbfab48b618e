"""Who works on which call: one table item a call, held by one worker at a time under a lease that must be renewed.

A worker that dies stops renewing; after the lease has run out another one takes the call from its last checkpoint.
Every write of a holder is conditional on its lease, so that one that was only slow finds out and stops.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from botocore.exceptions import ClientError

from cloud.calls.call import Call
from cloud.calls.told import iso
from cloud.clients import client
from cloud.jobs import DAY_S, from_attribute, newest_first, to_attribute

INDEX = "by-status"  # status, lease_until_s: those that nobody holds are at its beginning
NEWEST = "by-created"  # status, created_at
OPEN, ENDED = "OPEN", "ENDED"


class NotFree(Exception):
    """Another worker holds the call, or it has ended."""


class LostLease(Exception):
    """The call is no longer ours: the lease ran out and another worker has taken it, or somebody has ended it."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on a call until it runs out."""

    call: Call
    owner: str
    generation: int  # counts the holders
    until_s: float  # seconds since 1970
    checkpoint: str | None  # key of the object from which to go on
    conversation: str | None = None  # what was said in reply by holders before, as they noted it


class LeaseTable:
    """The calls; `now_s` is given to each method, in seconds since 1970."""

    def __init__(self, name: str, lease_s: float, retention_days: int = 7) -> None:
        """`lease_s`: how long a lease holds; renew it several times within that."""
        self._name, self._lease_s, self._retention_s = name, lease_s, retention_days * DAY_S

    def add(self, call: Call, now_s: float, queued_s: float = 0.0) -> bool:
        """A call has begun; False when that was known: events about it come more than once.

        `queued_s`: how long it is left to those that hear of it by a message, before `free` tells of it as well.
        """
        item = {
            "id": call.id,
            "call": call.to_json(),
            "status": OPEN,
            "lease_until_s": now_s + queued_s if queued_s else 0,
            "generation": 0,
            "created_at": iso(now_s),
            "expires_at": int(now_s) + self._retention_s,
        }
        try:
            client("dynamodb").put_item(
                TableName=self._name,
                Item={name: to_attribute(value) for name, value in item.items()},
                ConditionExpression="attribute_not_exists(id)",
            )
        except ClientError as error:
            _only_condition(error)
            return False
        return True

    def free(self, most: int, now_s: float) -> list[str]:
        """Ids of calls that nobody holds, longest-waiting first: new ones, ones handed over, ones of dead workers."""
        answer = client("dynamodb").query(
            TableName=self._name,
            IndexName=INDEX,
            KeyConditionExpression="#status = :open AND #lease_until_s < :now_s",
            ExpressionAttributeNames={"#status": "status", "#lease_until_s": "lease_until_s"},
            ExpressionAttributeValues={":open": to_attribute(OPEN), ":now_s": to_attribute(now_s)},
            ProjectionExpression="id",
            Limit=most,
        )
        return [str(from_attribute(item["id"])) for item in answer["Items"]]

    def acquire(self, call_id: str, owner: str, now_s: float) -> Lease:
        """Take a call. Raises NotFree."""
        until_s = now_s + self._lease_s
        try:
            item = self._write(
                call_id,
                "SET #owner = :owner, #lease_until_s = :until_s, #generation = #generation + :one",
                "#status = :open AND (#lease_until_s < :now_s OR attribute_not_exists(#owner))",
                {":owner": owner, ":until_s": until_s, ":one": 1, ":open": OPEN, ":now_s": now_s},
            )
        except ClientError as error:
            _only_condition(error)
            raise NotFree(f"call {call_id} is held by another worker, has ended, or is not known") from error
        call = Call.from_json(item["call"])
        return Lease(call, owner, item["generation"], until_s, item.get("checkpoint"), item.get("conversation"))

    def renew(self, lease: Lease, now_s: float, checkpoint: str | None = None) -> Lease:
        """Hold a call longer, with a new checkpoint where there is one. Raises LostLease."""
        checkpoint = checkpoint or lease.checkpoint
        values: dict[str, Any] = {":until_s": now_s + self._lease_s}
        sets = "SET #lease_until_s = :until_s"
        if checkpoint:
            sets, values = f"{sets}, #checkpoint = :checkpoint", values | {":checkpoint": checkpoint}
        call = Call.from_json(self._as_holder(lease, sets, values)["call"])
        return replace(lease, call=call, until_s=now_s + self._lease_s, checkpoint=checkpoint)

    def pin(self, lease: Lease, began_ms: int) -> Lease:
        """Settle the zero of a call's clock before anything is told in it, for all its holders. Raises LostLease."""

        def pinned(call: Call) -> Call:
            return call if call.began_ms is not None else replace(call, began_ms=began_ms)

        changed = self._change(lease.call.id, pinned, lease)
        if changed is None:
            raise LostLease(f"call {lease.call.id} is no longer held by {lease.owner}")
        return replace(lease, call=changed)

    def change(self, call_id: str, how: Callable[[Call], Call]) -> Call | None:
        """What is known about an open call has changed, as by an event; its holder sees that at the next renewal.

        The call as it is now; None where it has ended or is not known.
        """
        return self._change(call_id, how, None)

    def note(self, lease: Lease, conversation: str) -> None:
        """Keep what was said in reply, for the next holder; from any thread. Raises LostLease."""
        self._as_holder(lease, "SET #conversation = :conversation", {":conversation": conversation})

    def hand_over(self, lease: Lease, checkpoint: str | None) -> None:
        """Let go of a call for whoever takes it next, at once. Raises LostLease."""
        values: dict[str, Any] = {":none": 0}
        sets = "SET #lease_until_s = :none"
        if checkpoint:
            sets, values = f"{sets}, #checkpoint = :checkpoint", values | {":checkpoint": checkpoint}
        self._as_holder(lease, f"{sets} REMOVE #owner", values)

    def end(self, lease: Lease, reason: str, now_s: float) -> None:
        """The call is over and all of it is done. Raises LostLease."""
        values = {":ended": ENDED, ":reason": reason, ":now_s": now_s}
        sets = "SET #status = :ended, #reason = :reason, #ended_s = :now_s REMOVE #owner, #checkpoint"
        self._as_holder(lease, sets, values)

    def in_state(self, status: str, until: str) -> Iterator[dict[str, Any]]:
        """Calls that are OPEN or ENDED and were added at the time `until` or before, newest first; for `listing`."""
        return newest_first(self._name, NEWEST, status, until)

    def read(self, call_id: str) -> dict[str, Any]:
        """What the table knows about a call; an empty one where it knows nothing."""
        answer = client("dynamodb").get_item(TableName=self._name, Key={"id": {"S": call_id}}, ConsistentRead=True)
        return {name: from_attribute(value) for name, value in answer.get("Item", {}).items()}

    def _change(self, call_id: str, how: Callable[[Call], Call], lease: Lease | None) -> Call | None:
        """Written on the condition that nobody else changed it meanwhile, and that it is still held under `lease`."""
        while True:
            item = self.read(call_id)
            held = lease is None or (item.get("owner"), item.get("generation")) == (lease.owner, lease.generation)
            if item.get("status") != OPEN or not held:
                return None
            before = Call.from_json(item["call"])
            after = how(before)
            if after == before:
                return before
            values = {":after": after.to_json(), ":before": item["call"], ":open": OPEN}
            condition = "#status = :open AND #call = :before"
            if lease:
                condition += " AND #owner = :mine AND #generation = :generation"
                values |= {":mine": lease.owner, ":generation": lease.generation}
            try:
                self._write(call_id, "SET #call = :after", condition, values)
            except ClientError as error:
                _only_condition(error)
                continue
            return after

    def _as_holder(self, lease: Lease, change: str, values: dict[str, Any]) -> dict[str, Any]:
        condition = "#status = :open AND #owner = :mine AND #generation = :generation"
        values = values | {":open": OPEN, ":mine": lease.owner, ":generation": lease.generation}
        try:
            return self._write(lease.call.id, change, condition, values)
        except ClientError as error:
            _only_condition(error)
            raise LostLease(f"call {lease.call.id} is no longer held by {lease.owner}") from error

    def _write(self, call_id: str, change: str, condition: str, values: dict[str, Any]) -> dict[str, Any]:
        answer = client("dynamodb").update_item(
            TableName=self._name,
            Key={"id": {"S": call_id}},
            UpdateExpression=change,
            ConditionExpression=condition,
            ExpressionAttributeNames={word: word[1:] for word in re.findall(r"#\w+", f"{change} {condition}")},
            ExpressionAttributeValues={name: to_attribute(value) for name, value in values.items()},
            ReturnValues="ALL_NEW",
        )
        return {name: from_attribute(value) for name, value in answer["Attributes"].items()}


def _only_condition(error: ClientError) -> None:
    if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
        raise error
