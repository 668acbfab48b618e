"""Whose API key a request carries: the keys of the usage plans of an API, as API Gateway knows them.

OpenAI's clients send `Authorization: Bearer KEY`, API Gateway's own convention is `x-api-key: KEY`. An authoriser that
knows both names the key, and the gateway counts the request against that key's usage plan. This module needs neither
Powertools nor the core, so that the authoriser starts fast.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from cloud.clients import client

KEPT_S = (
    60.0  # seconds for which the list of keys is used as it is: a key that was taken back opens no longer than that
)
GLANCE_S = 5.0  # seconds between two looks on account of keys that are not in it
MOST_CHARACTERS = 128  # of an API key (API Gateway quotas)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who holds a key."""

    id: str  # of the key
    name: str  # of the key


@dataclass(slots=True)
class Callers:
    """The holders of keys of one stage of one API."""

    _known: dict[str, Caller] = field(
        default_factory=dict
    )  # by the key's digest: a look-up takes no longer for a near miss
    _read_s: float | None = None  # time.monotonic()

    def of(self, key: str, api_id: str, stage: str) -> Caller | None:
        """The holder of a key, if it belongs to an enabled key of a usage plan of the stage."""
        if len(key) > MOST_CHARACTERS:
            return None
        self._refresh(api_id, stage, KEPT_S)
        digest = sha256(key.encode()).hexdigest()
        if digest not in self._known:
            self._refresh(api_id, stage, GLANCE_S)  # it may have been made a moment ago
        return self._known.get(digest)

    def _refresh(self, api_id: str, stage: str, oldest_s: float) -> None:
        now_s = time.monotonic()
        if self._read_s is not None and now_s - self._read_s < oldest_s:
            return
        ids = set(_key_ids(api_id, stage))
        keys = [key for key in _all("get_api_keys", includeValues=True) if key["id"] in ids and key["enabled"]]
        self._known = {
            sha256(key["value"].encode()).hexdigest(): Caller(key["id"], key.get("name", "")) for key in keys
        }
        self._read_s = now_s


def key_in(headers: Mapping[str, str] | None) -> str:
    """The API key of a request; empty where there is none."""
    found = {name.lower(): value for name, value in (headers or {}).items()}
    scheme, _, value = found.get("authorization", "").strip().partition(" ")
    return value.strip() if scheme.lower() == "bearer" else found.get("x-api-key", "").strip()


def decision(event: Mapping[str, Any], callers: Callers) -> dict[str, Any]:
    """What a REQUEST authoriser answers: a policy for this request, and the key whose usage plan it counts against.

    Refused is answered, not raised: a wrong key is no error of the function.
    """
    key, context = key_in(event.get("headers")), event["requestContext"]
    caller = callers.of(key, context["apiId"], context["stage"]) if key else None
    statement = {
        "Action": "execute-api:Invoke",
        "Effect": "Allow" if caller else "Deny",
        "Resource": event["methodArn"],
    }
    answer: dict[str, Any] = {
        "principalId": caller.id if caller else "nobody",
        "policyDocument": {"Version": "2012-10-17", "Statement": [statement]},
    }
    return answer | ({"usageIdentifierKey": key, "context": {"key_name": caller.name}} if caller else {})


def _key_ids(api_id: str, stage: str) -> Iterator[str]:
    """Ids of the keys in usage plans of the stage."""
    for plan in _all("get_usage_plans"):
        if any((at.get("apiId"), at.get("stage")) == (api_id, stage) for at in plan.get("apiStages", [])):
            yield from (key["id"] for key in _all("get_usage_plan_keys", usagePlanId=plan["id"]))


def _all(operation: str, **arguments: Any) -> Iterator[dict[str, Any]]:
    for page in client("apigateway").get_paginator(operation).paginate(**arguments):
        yield from page["items"]
