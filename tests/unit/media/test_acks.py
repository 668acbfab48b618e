"""Acknowledgements of PutMedia: one JSON object a line, whatever the cuts."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.errors import BadMedia, SpeechError
from speech.media.acks import ERRORS, Ack, AckError, AckParser
from speech.media.limits import Limits

from tests.unit.media import mkv

NUMBER = "91343852333181432392682062607743920146252692001"
LINES = (
    b'{"EventType":"BUFFERING","FragmentTimecode":0}\n'
    b'{"EventType":"RECEIVED","FragmentTimecode":0,"FragmentNumber":"' + NUMBER.encode() + b'"}\r\n\n'
    b'{"EventType":"PERSISTED","FragmentTimecode":"0","FragmentNumber":"' + NUMBER.encode() + b'"}\n'
    b'{"EventType":"IDLE"}\n'
    b'{"EventType":"ERROR","FragmentTimecode":0,"FragmentNumber":"1","ErrorCode":"STREAM_READ_ERROR","ErrorId":4000}\n'
    b'{"EventType":"ERROR","ErrorId":4011}'
)
ACKS = [
    Ack("BUFFERING", 0, None),
    Ack("RECEIVED", 0, NUMBER),
    Ack("PERSISTED", 0, NUMBER),
    Ack("IDLE", None, None),
    AckError("ERROR", 0, "1", "STREAM_READ_ERROR", 4000),
    AckError("ERROR", None, None, "FRAMES_MISSING_FOR_TRACK", 4011),
]


@given(st.lists(st.integers(0, len(LINES)), max_size=20))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_any_cut_gives_the_same_acknowledgements(cuts: list[int]) -> None:
    parser = AckParser()
    acks = [ack for part in mkv.cut(LINES, cuts) for ack in parser.receive(part)]
    assert acks + parser.finish() == ACKS


def test_an_acknowledgement_is_out_with_its_newline() -> None:
    parser = AckParser()
    assert parser.receive(b'{"EventType":"IDLE"}') == []
    assert parser.receive(b"\n") == [Ack("IDLE", None, None)]
    assert parser.finish() == []


def test_errors_have_names_and_say_whether_to_try_again() -> None:
    assert set(range(4000, 4013)) | set(range(4500, 4507)) | {5000, 5001} <= ERRORS.keys()
    (due, refused) = AckParser().receive(
        b'{"EventType":"ERROR","ErrorId":4003}\n{"EventType":"ERROR","ErrorId":4006,"ErrorCode":"INVALID_MKV_DATA"}\n'
    )
    assert isinstance(due, AckError)
    assert isinstance(refused, AckError)
    assert (due.error, due.retry, refused.retry) == ("MAX_CONNECTION_DURATION_REACHED", True, False)
    unknown = AckParser().receive(b'{"EventType":"ERROR","ErrorId":9}\n')
    assert unknown == [AckError("ERROR", None, None, "UNKNOWN_ERROR", 9)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"<html>", "no JSON: '<html>'"),
        (b"[1]", "without a known EventType"),
        (b'{"EventType":"NEW"}', "without a known EventType"),
        (b'{"EventType":["ERROR"]}', "without a known EventType"),
        (b"[" * 60000, "no JSON"),
        (b"\xff\xfe", "no JSON"),
    ],
)
def test_what_is_no_acknowledgement_says_so(line: bytes, reason: str) -> None:
    with pytest.raises(BadMedia, match=reason):
        AckParser().receive(line + b"\n")


def test_a_line_without_end_is_not_kept() -> None:
    parser = AckParser(Limits(ack_bytes=100))
    parser.receive(b"a" * 100)
    with pytest.raises(BadMedia, match="more than 100 bytes without a newline"):
        parser.receive(b"a")


VALUES = st.text(max_size=50).map(lambda text: f'{{"EventType":"ERROR","ErrorId":{text}}}'.encode())


@given(st.one_of(st.binary(max_size=200), VALUES))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_nothing_but_speech_errors_is_raised(data: bytes) -> None:
    parser = AckParser()
    with suppress(SpeechError):
        parser.receive(data)
        parser.finish()
