"""The authoriser: good tokens open the WebSocket, all others are denied, and the log names why."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from cloud.tokens import mint

from tests.functions.fake_live import FakeLive
from tests.functions.situations import Context, load_event
from tests.functions.socket.door import Door


@pytest.fixture
def asked(cold_start: Callable[[str], Door], live: FakeLive) -> Callable[[str | None], dict[str, Any]]:
    """What the authoriser answers for a token; None for a handshake without one."""
    app = cold_start("authorizer").app

    def ask(token: str | None) -> dict[str, Any]:
        event = load_event("token", "authorizer")
        event["queryStringParameters"] = None if token is None else {"token": token}
        answer: dict[str, Any] = app.handler(event, Context())
        (statement,) = answer["policyDocument"]["Statement"]
        assert statement["Resource"] == event["methodArn"]
        return answer | {"effect": statement["Effect"]}

    return ask


def token(key: str, purpose: str = "socket", age_s: float = 0.0, calls: tuple[str, ...] = ()) -> str:
    now_s = time.time() - age_s
    return mint(key.encode(), purpose=purpose, subject="alice", now_s=now_s, lifetime_s=60, calls=calls)


def test_a_good_token_opens_and_says_whose_it_is(asked: Callable[..., dict[str, Any]], live: FakeLive) -> None:
    answer = asked(token(live.secretsmanager.value))
    assert (answer["effect"], answer["principalId"]) == ("Allow", "alice")
    assert set(map(type, answer["context"].values())) == {str}, "API Gateway passes on text only"
    assert answer["context"]["calls"] == ""
    assert asked(token(live.secretsmanager.value, calls=("a", "b-1")))["context"]["calls"] == "a,b-1"


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (lambda: None, "token_malformed"),
        (lambda: "", "token_malformed"),
        (lambda: "x" * 100_000, "token_malformed"),
        (lambda: token("t" * 64), "token_forged"),
        (lambda: token("s" * 64, age_s=61), "token_expired"),
        (lambda: token("s" * 64, age_s=-120), "token_expired"),
        (lambda: token("s" * 64, purpose="upload"), "token_purpose"),
    ],
)
def test_any_other_is_denied_by_name(
    asked: Callable[..., dict[str, Any]], bad: Callable[[], str | None], code: str
) -> None:
    answer = asked(bad())  # made now: one made when tests are collected is old when it is their turn
    assert (answer["effect"], answer["context"]) == ("Deny", {"error": code})


def test_a_rotated_key_is_taken_up(
    asked: Callable[..., dict[str, Any]], live: FakeLive, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked(token("s" * 64))["effect"] == "Allow"
    live.secretsmanager.value = "n" * 64
    monkeypatch.setattr("cloud.keys.GLANCE_S", 0)
    assert asked(token("n" * 64))["effect"] == "Allow"
    assert asked(token("s" * 64))["context"] == {"error": "token_forged"}
