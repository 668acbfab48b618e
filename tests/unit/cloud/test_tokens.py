"""Tokens open one door for a while, and say by name why they do not open it."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode

import pytest
from cloud.tokens import ANY_CALL, BadToken, Claims, ExpiredToken, ForgedToken, WrongPurpose, mint, verify
from hypothesis import given
from hypothesis import strategies as st
from speech.errors import BadInput

KEY = b"k" * 32
NOW_S = 1_796_000_000.75


def token(key: bytes = KEY, purpose: str = "socket", lifetime_s: int = 60) -> str:
    return mint(key, purpose=purpose, subject="alice", now_s=NOW_S, lifetime_s=lifetime_s)


def test_a_token_says_what_was_put_in_until_its_time_is_over() -> None:
    issued_s = int(NOW_S)
    wanted = Claims("socket", "alice", issued_s, issued_s + 60)
    assert verify(KEY, token(), purpose="socket", now_s=NOW_S) == wanted
    assert verify(KEY, token(), purpose="socket", now_s=issued_s + 59.9) == wanted
    with pytest.raises(ExpiredToken, match="expired 0 seconds ago"):
        verify(KEY, token(), purpose="socket", now_s=issued_s + 60)


def test_a_token_from_a_clock_ahead_is_taken_within_reason() -> None:
    verify(KEY, token(), purpose="socket", now_s=int(NOW_S) - 30)
    with pytest.raises(ExpiredToken, match="becomes good in 31 seconds"):
        verify(KEY, token(), purpose="socket", now_s=int(NOW_S) - 31)


def test_a_token_of_another_key_or_for_another_door_opens_nothing() -> None:
    with pytest.raises(ForgedToken):
        verify(b"l" * 32, token(), purpose="socket", now_s=NOW_S)
    with pytest.raises(WrongPurpose, match="for 'upload', expected one for 'socket'"):
        verify(KEY, token(purpose="upload"), purpose="socket", now_s=NOW_S)


@given(st.data())
def test_no_character_of_a_token_can_be_changed(data: st.DataObject) -> None:
    whole = token()
    at = data.draw(st.integers(0, len(whole) - 1))
    other = data.draw(st.characters(codec="ascii").filter(lambda c: c != whole[at]))
    with pytest.raises(BadToken):
        verify(KEY, whole[:at] + other + whole[at + 1 :], purpose="socket", now_s=NOW_S)


def test_a_longer_life_cannot_be_written_into_a_token() -> None:
    version, claims, signature = token().split(".")
    record = json.loads(urlsafe_b64decode(claims + "=="))
    record["exp"] += 3600
    longer = urlsafe_b64encode(json.dumps(record).encode()).decode().rstrip("=")
    with pytest.raises(ForgedToken):
        verify(KEY, f"{version}.{longer}.{signature}", purpose="socket", now_s=NOW_S)


@given(st.text() | st.text("utABC012.-_=").map(lambda text: "ut1." + text))
def test_anything_else_is_no_token(text: str) -> None:
    with pytest.raises(BadToken):
        verify(KEY, text, purpose="socket", now_s=NOW_S)


def test_an_endless_token_is_not_even_looked_at() -> None:
    with pytest.raises(BadToken, match="2048 characters or fewer"):
        verify(KEY, token() + "A" * 100_000, purpose="socket", now_s=NOW_S)


def test_another_version_is_named() -> None:
    with pytest.raises(BadToken, match="version 'ut2', expected 'ut1'"):
        verify(KEY, token().replace("ut1", "ut2", 1), purpose="socket", now_s=NOW_S)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"lifetime_s": 0}, "lifetime is 1 to 3600 seconds; got 0"),
        ({"lifetime_s": 3601}, "got 3601"),
        ({"purpose": ""}, "purpose has 1 to 256 characters"),
        ({"subject": "x" * 257}, "subject has .* got 257"),
        ({"calls": ("a b",)}, "up to 10 calls by id"),
        ({"calls": ("a",) * 11}, "up to 10 calls by id"),
        ({"subject": "\u00e9" * 200, "calls": ("x" * 64,) * 10}, "characters, at most 2048 are read"),
    ],
)
def test_what_cannot_be_minted_is_named(wrong: dict[str, object], named: str) -> None:
    wanted: dict[str, object] = {"purpose": "socket", "subject": "alice", "now_s": NOW_S, "lifetime_s": 60}
    with pytest.raises(BadInput, match=named):
        mint(KEY, **(wanted | wrong))  # type: ignore[arg-type]


@pytest.mark.parametrize("calls", [(), ("desk-1", "desk-2"), (ANY_CALL,), ("x" * 64,) * 10])
def test_a_token_names_the_calls_that_may_be_watched_with_it(calls: tuple[str, ...]) -> None:
    made = mint(KEY, purpose="socket", subject="alice", now_s=NOW_S, lifetime_s=60, calls=calls)
    assert verify(KEY, made, purpose="socket", now_s=NOW_S).calls == calls


def test_a_key_that_could_be_guessed_signs_nothing() -> None:
    with pytest.raises(ValueError, match="32 bytes or more; got 5"):
        token(key=b"short")


def test_every_kind_of_refusal_has_a_name_of_its_own() -> None:
    kinds = (BadToken, ForgedToken, ExpiredToken, WrongPurpose)
    assert len({kind.code for kind in kinds}) == len(kinds)
