"""The authoriser of the REST API: keys of this stage's usage plans open it, in either header, and nothing else does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.functions.situations import Load, load_event

KEY = "0123456789abcdefghij"  # of events/api_keys
API, STAGE = "a1b2c3d4e5", "live"


@dataclass
class FakeGateway:
    """Keys and plans as API Gateway's control plane lists them, one a page."""

    keys: list[dict[str, Any]] = field(default_factory=list)
    plans: list[dict[str, Any]] = field(default_factory=list)
    asked: int = 0  # for the keys

    def holds(self, id: str, value: str, api: str = API, stage: str = STAGE, enabled: bool = True) -> None:
        """A key in a plan of its own."""
        self.keys.append({"id": id, "name": f"key {id}", "value": value, "enabled": enabled})
        self.plans.append({"id": f"plan-{id}", "apiStages": [{"apiId": api, "stage": stage}], "keys": [id]})

    def get_paginator(self, operation: str) -> Any:
        """Pages of one of the three lists."""
        self._operation = operation
        return self

    def paginate(self, includeValues: bool = False, usagePlanId: str = "") -> Iterator[dict[str, Any]]:
        lists = {
            "get_usage_plans": self.plans,
            "get_usage_plan_keys": [{"id": id} for p in self.plans if p["id"] == usagePlanId for id in p["keys"]],
            "get_api_keys": self.keys if includeValues else [],
        }
        self.asked += self._operation == "get_api_keys"
        return ({"items": [item]} for item in list(lists[self._operation]))


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch) -> FakeGateway:
    """The control plane, with one key of the stage."""
    fake = FakeGateway()
    fake.holds("first", KEY)
    monkeypatch.setattr("cloud.callers.client", lambda service: {"apigateway": fake}[service])
    return fake


@pytest.mark.parametrize("name", ["bearer", "x_api_key"])
def test_a_key_opens_in_either_header_and_names_its_plan(load: Load, gateway: FakeGateway, name: str) -> None:
    event = load_event(name, "api_keys")
    answer = load("api_keys").handler(event, None)
    [statement] = answer["policyDocument"]["Statement"]
    assert statement == {"Action": "execute-api:Invoke", "Effect": "Allow", "Resource": event["methodArn"]}
    assert (answer["principalId"], answer["usageIdentifierKey"]) == ("first", KEY)
    assert answer["context"] == {"key_name": "key first"}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        None,
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer " + KEY[:-1]},
        {"Authorization": "Basic " + KEY},
        {"authorization": "Bearer " + KEY.upper()},
        {"x-api-key": KEY + "\0"},
        {"x-api-key": "k" * 100_000},
        {"X-Other": KEY},
        {"Authorization": "Bearer another", "x-api-key": KEY},  # one says no: the other is not asked
    ],
)
def test_anything_else_is_denied_and_no_error(load: Load, gateway: FakeGateway, headers: dict[str, str] | None) -> None:
    answer = load("api_keys").handler(load_event("no_key", "api_keys") | {"headers": headers}, None)
    assert answer["policyDocument"]["Statement"][0]["Effect"] == "Deny"
    assert "usageIdentifierKey" not in answer


@pytest.mark.parametrize("other", [{"api": "another"}, {"stage": "test"}, {"enabled": False}])
def test_keys_of_other_apis_and_stages_and_disabled_ones_do_not_open(
    load: Load, gateway: FakeGateway, other: dict[str, Any]
) -> None:
    gateway.holds("second", "another-key-of-the-account", **other)
    event = load_event("no_key", "api_keys") | {"headers": {"x-api-key": "another-key-of-the-account"}}
    assert load("api_keys").handler(event, None)["principalId"] == "nobody"


def test_a_new_key_is_found_and_the_control_plane_is_not_asked_each_time(
    load: Load, gateway: FakeGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, event = load("api_keys"), load_event("bearer", "api_keys")
    new = event | {"headers": {"Authorization": "Bearer a-key-made-a-moment-ago"}}
    for _ in range(5):
        app.handler(event, None)
        app.handler(new, None)
    assert gateway.asked == 1  # wrong keys cannot make it ask more than every few seconds
    gateway.holds("second", "a-key-made-a-moment-ago")
    monkeypatch.setattr("cloud.callers.GLANCE_S", 0)
    assert app.handler(new, None)["principalId"] == "second"
