"""Who may watch a live call: whose token names it, or all of them; anybody may stop."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.functions.socket.door import Door

WATCHERS = "watchers"


@pytest.fixture
def watching(door: Door) -> Door:
    """A door where live calls are deployed."""
    door.aws.dynamodb.keys[WATCHERS] = ("call", "connection")
    door.app.desk = replace(door.app.desk, watchers=WATCHERS)
    return door


def watch(door: Door, call: str, kind: str = "watch", connection: str = "two") -> dict[str, Any]:
    (record,) = door.send({"type": kind, "call": call}, connection)
    return record


@pytest.mark.parametrize(("calls", "call", "may"), [
    ("", "desk-1", False),
    ("desk-1", "desk-1", True),
    ("desk-1", "desk-11", False),
    ("desk-1,desk-2", "desk-2", True),
    ("*", "desk-3", True),
])  # fmt: skip
def test_a_token_shows_the_calls_that_it_was_minted_for(watching: Door, calls: str, call: str, may: bool) -> None:
    assert watching.open("two", calls=calls) == 200
    told = watch(watching, call)
    seen = [item["call"]["S"] for item in watching.items(WATCHERS)]
    if may:
        assert told == {"type": "watching", "call": call}
        assert seen == [call]
    else:
        assert (told["type"], told["code"], told["call"]) == ("error", "not_allowed", call)
        assert f'"calls": ["{call}"]' in told["message"]
        assert seen == []


def test_anybody_may_stop_watching(watching: Door) -> None:
    assert watching.open("two", calls="desk-1") == 200
    watch(watching, "desk-1")
    assert watch(watching, "desk-1", "unwatch") == {"type": "unwatched", "call": "desk-1"}
    assert watching.items(WATCHERS) == []
    assert watch(watching, "another", "unwatch")["type"] == "unwatched"


def test_to_ask_again_changes_nothing_and_to_leave_and_come_again_does(watching: Door) -> None:
    """What a watch is called tells the worker whether its watcher was there all the time."""

    def name() -> str:
        watch(watching, "desk-1")
        (item,) = watching.items(WATCHERS)
        return str(item["watch"]["S"])

    assert watching.open("two", calls="desk-1") == 200
    first = name()
    assert name() == first
    watch(watching, "desk-1", "unwatch")
    assert name() != first


def test_a_connection_that_is_not_open_watches_nothing(watching: Door) -> None:
    watching.aws.apigatewaymanagementapi.active_s["gone"] = 0.0
    assert watch(watching, "desk-1", connection="gone")["code"] == "not_allowed"


def test_where_there_are_no_calls_it_is_said(door: Door) -> None:
    assert door.open("two", calls="*") == 200
    assert watch(door, "desk-1")["code"] == "no_calls"
