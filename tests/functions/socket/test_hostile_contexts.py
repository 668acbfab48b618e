"""What a client should not send about contexts: refused by name, without harm, and nothing is changed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.functions.socket.door import Door
from tests.functions.socket.talking import TEXT, audio, cancel, end, in_one_piece, opening, text
from tests.functions.socket.test_hostile import FUZZ, JSON, refused


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"type": "open"}, "bad_context"),
        (opening(""), "bad_context"),
        (opening("said#c"), "bad_context"),
        (opening("context#c"), "bad_context"),
        (opening(7), "bad_context"),  # type: ignore[arg-type]
        (opening(stream="c"), "unknown_field"),
        (opening(lexicon=[]), "unknown_field"),
        (opening(voice="nobody"), "bad_voice"),
        (opening(voice="x" * 9000), "bad_voice"),
        (opening(voice=None), "bad_voice"),
        (opening(encoding="mp3"), "bad_format"),
        (opening(encoding="wav"), "bad_format"),
        (opening(encoding=["pcm_s16le"]), "bad_format"),
        (opening(rate=11025), "bad_format"),
        (opening(rate=24000.0), "bad_format"),
        (opening(rate=True), "bad_format"),
        (opening(speed=0), "bad_format"),
        (opening(speed=float("nan")), "bad_format"),
        (opening(speed=10**400), "bad_format"),
        (opening(speed="1"), "bad_format"),
        (opening(pitch=13), "bad_format"),
        (opening(volume=True), "bad_format"),
        (opening(volume=1e300), "bad_format"),
        (opening(timestamps=1), "bad_format"),
        (opening(finish="yes"), "bad_format"),
        (opening(text=["a"]), "bad_text"),
        (opening(text="a" * 24_001), "text_too_long"),
        (json.dumps(opening(text="é" * 12_001), ensure_ascii=False), "text_too_long"),
        (text(0, "a", "never-opened"), "unknown_context"),
        (end(0, "never-opened"), "unknown_context"),
        (cancel("never-opened"), "unknown_context"),
        ({"type": "text", "context": "b", "text": "a"}, "bad_sequence"),
        (text(-1, "a", "b"), "bad_sequence"),
        (text(10**20, "a", "b"), "bad_sequence"),
        (text(65, "a", "b"), "sequence_gap"),
        ({"type": "text", "context": "b", "sequence": 0}, "bad_text"),
        (text(0, None, "b"), "bad_text"),  # type: ignore[arg-type]
        (text(0, "a" * 24_001, "b"), "text_too_long"),
        (end(0, "b") | {"text": "a"}, "unknown_field"),
        (cancel("b", sequence=0), "unknown_field"),
        (text(0, "a" * 40_000, "b"), "message_too_large"),
        (text(0, "a", "b") | {"stream": "b"}, "unknown_field"),
        ({"type": "audio", "context": "b", "sequence": 0}, "bad_stream"),
    ],
)
def test_a_wrong_message_is_refused_by_name(door: Door, message: Any, code: str) -> None:
    door.send(opening("b"))
    before = door.items("streams"), door.items("connections")
    assert refused(door, message)["code"] == code
    assert (door.items("streams"), door.items("connections")) == before


def test_the_text_of_a_context_is_bounded_and_what_waits_counts(door: Door) -> None:
    door.send(opening())
    door.send(text(0, " " * 12_000))
    door.send(text(2, " " * 12_000))
    error = refused(door, text(1, "c"))
    assert (error["code"], error["sequence"]) == ("text_too_long", 1)
    assert "/v1/speech-jobs" in error["message"]
    assert door.send(text(1, "")) == []
    assert door.send(end(3))[-1]["type"] == "done"


def test_a_name_is_used_once(door: Door) -> None:
    assert door.send(opening(text="Hel"))[0]["type"] == "opened"
    assert door.send(opening(text="Hel"))[0]["repeat"]
    for other in (opening(text="Hell"), opening(), opening(text="Hel", rate=8000), opening(text="Hel", finish=True)):
        assert refused(door, other)["code"] == "context_exists"
    door.send(end(0))
    assert refused(door, opening(text="Hel"))["code"] == "context_exists"
    assert refused(door, text(1, "lo"))["code"] == "context_ended"


def test_nothing_follows_a_finish(door: Door) -> None:
    door.send(opening())
    door.send(end(1))
    assert [record["type"] for record in door.send(text(0, "Hello."))][-1] == "done"
    assert refused(door, text(2, "more"))["code"] == "context_ended"


def test_a_refused_message_may_come_again_as_it_should_be(door: Door) -> None:
    door.send(opening())
    assert refused(door, text(0, TEXT) | {"text": 5})["sequence"] == 0
    door.send(text(0, TEXT))
    door.send(end(1))
    assert audio(door.heard()) == in_one_piece(door, TEXT)[0]


def test_contexts_and_streams_share_the_places_of_a_connection(door: Door) -> None:
    door.send({"type": "start", "stream": "a", "rate": 8000})
    door.send(opening("a"))
    assert refused(door, opening("b"))["code"] == "too_many_streams"
    assert refused(door, {"type": "start", "stream": "b", "rate": 8000})["code"] == "too_many_streams"
    door.send(opening("a", finish=True))  # another message: refused
    door.send(end(0, "a"))
    assert door.send(opening("b"))[0]["type"] == "opened"


def test_nobody_speaks_in_a_context_of_another_connection(door: Door) -> None:
    door.send(opening())
    door.open("two", subject="mallory")
    for message in (text(0, "Hello."), end(0), cancel()):
        assert door.send(message, "two")[0]["code"] == "unknown_context"
    assert [record["type"] for record in door.heard("one")] == ["opened"]


def test_a_connection_lasts_two_hours(door: Door) -> None:
    door.send(opening())
    (error,) = door.at(door.opened_s() + 7200, text(0, "Hello."))
    assert error["code"] == "connection_expired"


@FUZZ
@given(
    kind=st.sampled_from(["open", "text", "flush", "finish", "cancel"]),
    name=st.sampled_from(["sequence", "text", "rate", "voice", "encoding", "context", "speed", "finish", "played_s"]),
    value=JSON.filter(lambda value: not isinstance(value, str | int | float | None)),
)
def test_a_field_of_another_type_is_answered_by_an_error(door: Door, kind: str, name: str, value: Any) -> None:
    good = {"open": opening(), "text": text(0, "a"), "flush": end(0, kind="flush"), "finish": end(0)}
    refused(door, good.get(kind, cancel()) | {name: value})


@FUZZ
@given(said=st.lists(st.text(max_size=60), max_size=6))
def test_any_text_is_spoken_or_silence(door: Door, said: list[str]) -> None:
    """One context a text; the oracle is the synthesiser, which gets the same pieces."""
    context = f"fuzz-{len(door.heard())}"
    door.send(opening(context))
    for number, piece in enumerate(said):
        door.send(json.dumps(text(number, piece, context)))
    assert door.send(end(len(said), context))[-1]["type"] == "done"
    assert audio(door.heard(), context) == in_one_piece(door, "".join(said))[0]
