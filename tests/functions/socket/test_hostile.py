"""What a client should not send: every message is refused by name, changes nothing and harms nobody."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.functions.socket.door import Door, audio, end, spoken, start, transcript
from tests.functions.socket.test_streams import SPEECH

QUIET = np.zeros(1600, np.float32)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
UNHURRIED = [*settings().suppress_health_check, HealthCheck.function_scoped_fixture]
FUZZ = settings(max_examples=40, deadline=None, suppress_health_check=UNHURRIED)


def refused(door: Door, message: Any) -> dict[str, Any]:
    """The one error that a message gives."""
    told = door.send(message)
    assert [record["type"] for record in told] == ["error"], told
    assert told[0]["message"]
    assert len(json.dumps(told[0])) < 1000, "an error quotes no more than a little"
    return told[0]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("", "bad_json"),
        ("hello?", "bad_json"),
        ("[" * 20_000, "bad_json"),
        ("[]", "bad_json"),
        ('"text"', "bad_json"),
        ("{}", "unknown_type"),
        ({"type": "synthesize", "stream": "a"}, "unknown_type"),
        ({"type": ["start"], "stream": "a"}, "unknown_type"),
        ({"type": "$connect", "stream": "a"}, "unknown_type"),
        ({"type": "start"}, "bad_stream"),
        (start(stream=""), "bad_stream"),
        (start(stream="x" * 65), "bad_stream"),
        (start(stream="a/../b"), "bad_stream"),
        (start(stream="a\n"), "bad_stream"),
        ({"type": "start", "stream": {"S": "a"}}, "bad_stream"),
        (start(rate=None), "bad_format"),
        (start(rate="8000"), "bad_format"),
        (start(rate=8000.0), "bad_format"),
        (start(rate=True), "bad_format"),
        (start(rate=12345), "bad_format"),
        (start(rate=10**30), "bad_format"),
        (start(channels=0), "bad_format"),
        (start(channels=3), "bad_format"),
        (start(channels=[1]), "bad_format"),
        (start(encoding="mp3"), "bad_format"),
        (start(encoding={"a": 1}), "bad_format"),
        (start(encoding="x" * 5000), "bad_format"),
        (start(colour="red"), "unknown_field"),
        (audio(0, QUIET, stream="never-started"), "unknown_stream"),
        (end(0, stream="never-started"), "unknown_stream"),
        ({"type": "audio", "stream": "b", "audio": "AAAA"}, "bad_sequence"),
        ({"type": "audio", "stream": "b", "sequence": -1, "audio": "AAAA"}, "bad_sequence"),
        ({"type": "audio", "stream": "b", "sequence": 1.5, "audio": "AAAA"}, "bad_sequence"),
        ({"type": "audio", "stream": "b", "sequence": True, "audio": "AAAA"}, "bad_sequence"),
        ({"type": "audio", "stream": "b", "sequence": 10**20, "audio": "AAAA"}, "bad_sequence"),
        ({"type": "audio", "stream": "b", "sequence": 0}, "bad_audio"),
        ({"type": "audio", "stream": "b", "sequence": 0, "audio": 7}, "bad_audio"),
        ({"type": "audio", "stream": "b", "sequence": 0, "audio": "AAA"}, "bad_audio"),
        ({"type": "audio", "stream": "b", "sequence": 0, "audio": "ÄÖÜ="}, "bad_audio"),
        ({"type": "audio", "stream": "b", "sequence": 0, "audio": "A A A A="}, "bad_audio"),
        ({"type": "audio", "stream": "b", "sequence": 0, "audio": "AA=="}, "bad_audio"),  # half a sample
        (audio(65, QUIET, stream="b"), "sequence_gap"),
        ('{"type": "audio", "audio": "' + "A" * 40_000 + '"}', "message_too_large"),
        ('{"type": "' + "é" * 16_400 + '"}', "message_too_large"),
    ],
)
def test_a_wrong_message_is_refused_by_name(door: Door, message: Any, code: str) -> None:
    door.send(start("b"))
    before = door.items("streams")
    assert refused(door, message)["code"] == code
    assert door.items("streams") == before


def test_the_largest_message_fits_one_frame(door: Door) -> None:
    door.send(start())
    text = json.dumps(audio(0, np.zeros(12_150, np.float32)))
    padded = text[:-1] + " " * (32_768 - len(text)) + "}"
    assert door.send(padded) == []
    assert refused(door, padded.replace("}", " }"))["message"].endswith("got 32769")


def test_floats_that_nobody_scaled_are_refused_and_not_a_number_is_silence(door: Door) -> None:
    door.send(start(encoding="pcm_f32le"))
    assert "integers must be scaled" in refused(door, audio(0, np.full(800, 3000.0), encoding="pcm_f32le"))["message"]
    assert door.send(audio(0, np.full(800, np.nan), encoding="pcm_f32le")) == []
    assert door.send(audio(1, np.full(800, np.inf), encoding="pcm_f32le")) == []


def test_a_refused_message_may_come_again_as_it_should_be(door: Door) -> None:
    first, second, *rest = spoken(SPEECH)
    door.send(first)
    assert refused(door, second | {"audio": "%%%"})["sequence"] == 0
    for message in (second, *rest):
        door.send(message)
    assert transcript(door.heard())[-1]["sequence"] == len(rest)


def test_a_name_is_used_once(door: Door) -> None:
    assert door.send(start()) == [{"type": "started", "stream": "a", "number": 0, "received": 0}]
    assert door.send(start())[0]["repeat"]
    assert refused(door, start(rate=16000))["code"] == "stream_exists"
    door.send(end(0))
    assert refused(door, start())["code"] == "stream_exists"
    assert refused(door, audio(1, QUIET))["code"] == "stream_ended"


def test_nobody_reaches_a_stream_of_another_connection(door: Door) -> None:
    door.send(start())
    door.open("two", subject="mallory")
    event = audio(0, QUIET)
    assert door.send(event, "two")[0]["code"] == "unknown_stream"
    assert door.send(end(0), "two")[0]["code"] == "unknown_stream"
    assert [record["type"] for record in door.heard("one")] == ["started"]


@FUZZ
@given(message=JSON)
def test_any_json_is_answered_by_an_error(door: Door, message: Any) -> None:
    refused(door, json.dumps(message))


@FUZZ
@given(text=st.text(max_size=200))
def test_any_text_is_answered_by_an_error(door: Door, text: str) -> None:
    refused(door, text)


@FUZZ
@given(
    kind=st.sampled_from(["start", "audio", "finalize", "stop"]),
    name=st.sampled_from(["sequence", "audio", "rate", "channels", "encoding", "stream", "type"]),
    value=JSON.filter(lambda value: not isinstance(value, str | int)),
)
def test_a_field_of_another_type_is_answered_by_an_error(door: Door, kind: str, name: str, value: Any) -> None:
    good = {"start": start(), "audio": audio(0, QUIET), "finalize": end(0, kind="finalize"), "stop": end(0)}[kind]
    refused(door, good | {name: value})
