"""Records as producers pack them, and everything that is no record: told by name, and never in anybody's way."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from cloud.live.audio_format import ENCODINGS, RATES, AudioFormat
from cloud.records.frames import Frame, parse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from speech.errors import BadInput

from tests.functions.records.mouth import Mouth, frames, shard
from tests.functions.records.test_records import SPEECH, WORDS

UNHURRIED = [*settings().suppress_health_check, HealthCheck.function_scoped_fixture]
GOOD = Frame(AudioFormat("pcm_s16le", 8000, 1), 7, b"\1\0\2\0", True)


@given(
    encoding=st.sampled_from(ENCODINGS),
    rate=st.sampled_from(RATES),
    channels=st.integers(1, 2),
    position=st.integers(0, 2**53 - 1),
    samples=st.integers(0, 50),
    last=st.booleans(),
)
def test_a_frame_survives_both_forms(
    encoding: str, rate: int, channels: int, position: int, samples: int, last: bool
) -> None:
    audio_format = AudioFormat(encoding, rate, channels)
    frame = Frame(audio_format, position, bytes(samples * audio_format.frame_bytes), last)
    assert parse(frame.pack()) == parse(frame.to_json()) == frame


def test_the_binary_header_is_as_documented() -> None:
    assert GOOD.pack() == bytes.fromhex("55544131 00 01 0100 401f0000 0700000000000000 0100 0200")


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"", "begins with UTA1"),
        (b"RIFF", "begins with UTA1"),
        (b"UTA1", "20 bytes; got 4"),
        (GOOD.pack()[:-1], "whole frames"),
        (GOOD.pack().replace(b"UTA1\0", b"UTA1\4"), "got 4 and 1"),
        (GOOD.pack().replace(b"\1\1\0", b"\1\2\0", 1), "got 0 and 2"),
        (GOOD.pack()[:8] + bytes(4) + GOOD.pack()[12:], "rate '0'"),
        (GOOD.pack()[:12] + b"\xff" * 8, "position must be"),
        (b"{", "JSON object"),
        (b"{}", "position"),
        (b'{"a": ' * 5000, "JSON object"),
        (b'{"\xff": 1}', "JSON object"),
    ],
)
def test_what_is_no_frame_is_named(data: bytes, named: str) -> None:
    with pytest.raises(BadInput, match=named):
        parse(data)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("position", "0"),
        ("position", 1.0),
        ("position", True),
        ("position", -1),
        ("position", 2**60),
        ("last", 1),
        ("audio", 5),
        ("audio", "AA"),
        ("audio", "AA=="),
        ("rate", 7),
        ("rate", None),
        ("channels", 3),
        ("encoding", "opus"),
        ("encoding", ["pcm_s16le"]),
        ("colour", "red"),
    ],
)
def test_a_wrong_field_is_named(field: str, value: Any) -> None:
    with pytest.raises(BadInput, match=field if field != "audio" or value != "AA==" else "whole frames"):
        parse(json.dumps(json.loads(GOOD.to_json()) | {field: value}).encode())


@given(st.binary(max_size=60) | st.binary(max_size=60).map(lambda data: b"UTA1" + data))
def test_any_bytes_are_a_frame_or_bad_input(data: bytes) -> None:
    with contextlib.suppress(BadInput):
        assert parse(data).pack()


@settings(max_examples=12, deadline=None, suppress_health_check=UNHURRIED)
@given(st.binary(max_size=40))
def test_garbage_between_frames_is_told_and_the_words_are_all_there(mouth: Mouth, garbage: bytes) -> None:
    mouth.aws.kinesis.put.clear()
    mouth.aws.dynamodb.tables.clear()
    pieces: list[Any] = list(frames(SPEECH, chunk_s=0.8))
    for at in (3, 1, 0):
        pieces.insert(at, b"?" + garbage)
    assert mouth.give(*shard(pieces)) == []
    errors = [result for result in mouth.results() if result["type"] == "error"]
    assert [error["code"] for error in errors] == ["bad_record"] * 3
    assert mouth.words() == WORDS
