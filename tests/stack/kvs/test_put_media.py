"""PutMedia: acknowledgements while the upload goes on, and every error that a producer can make."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache

import boto3
import pytest
from cloud.video import endpoints
from cloud.video.putmedia import PutMedia
from speech.errors import Transient
from speech.media import encode
from speech.media.acks import Ack, AckError
from speech.media.writer import PutMediaWriter, mulaw_track

from local.kvs.background import Background
from local.kvs.settings import Settings
from tests.stack.kvs import media
from tests.stack.kvs.conftest import create

WAIT_S = 10.0
HEAD = encode.document_head([mulaw_track(1)])


def until(upload: PutMedia, count: int, data: bytes = b"") -> list[Ack]:
    """Send `data` and wait for so many acknowledgements."""
    acks = upload.send(data)
    while len(acks) < count:
        more = upload.poll(WAIT_S)
        assert more or not upload.over, acks
        acks += more
    return acks


def fragment(at_ms: int, *blocks: bytes) -> bytes:
    return encode.cluster_head(at_ms) + b"".join(blocks or [encode.simple_block(1, 0, b"\xff" * 160)])


def test_acknowledgements_come_while_the_upload_goes_on(stream: str) -> None:
    upload = PutMedia.open(stream, start_s=media.BEGAN_S)
    writer = PutMediaWriter([mulaw_track(1)])
    [begun] = until(upload, 1, writer.block(1, 0, b"\xff" * 160))
    assert (begun.kind, begun.timecode_ms) == ("BUFFERING", 0)
    second = until(upload, 3, writer.block(1, 1000, b"\xff" * 160))
    assert [(ack.kind, ack.timecode_ms) for ack in second] == [("RECEIVED", 0), ("PERSISTED", 0), ("BUFFERING", 1000)]
    # The END_OF_FRAGMENT tag has the last fragment acknowledged although the body has not ended.
    last = until(upload, 2, writer.finish())
    assert [(ack.kind, ack.timecode_ms) for ack in last] == [("RECEIVED", 1000), ("PERSISTED", 1000)]
    assert upload.finish() == []
    numbers = [ack.fragment or "" for ack in (begun, *second, *last)]
    assert {len(number) for number in numbers} == {47}
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == 2


def test_a_stream_without_retention_persists_nothing(kvs: Background) -> None:
    kinds = [ack.kind for ack in media.put(create(hours=0), 0, 2000)]
    assert kinds == ["BUFFERING", "RECEIVED", "BUFFERING", "RECEIVED"]


@pytest.mark.parametrize(
    ("error_id", "name", "body"),
    [
        (4002, "MAX_FRAGMENT_DURATION_REACHED", HEAD + fragment(0, encode.simple_block(1, 10_001, b"a"))),
        (4004, "FRAGMENT_TIMECODE_LESSER_THAN_PREVIOUS", HEAD + fragment(1000) + fragment(1000)),
        (4005, "MORE_THAN_ALLOWED_TRACKS_FOUND", encode.document_head([mulaw_track(n) for n in range(1, 5)])),
        (4006, "INVALID_MKV_DATA", b"RIFF" + bytes(64)),
        (4006, "INVALID_MKV_DATA", HEAD + fragment(0) + b"\xa3\x90abc"),
        (4009, "FRAGMENT_METADATA_LIMIT_REACHED", HEAD + fragment(0) + encode.tags({f"t{n}": "" for n in range(11)})),
        (4010, "TRACK_NUMBER_MISMATCH", HEAD + fragment(0, encode.simple_block(2, 0, b"a"))),
        (4011, "FRAMES_MISSING_FOR_TRACK", encode.document_head([mulaw_track(1), mulaw_track(2)]) + fragment(0)),
    ],
)
def test_what_is_wrong_has_the_services_number(stream: str, error_id: int, name: str, body: bytes) -> None:
    acks = PutMedia.open(stream, start_s=media.BEGAN_S).finish(body)
    error = acks[-1]
    assert isinstance(error, AckError)
    assert (error.id, error.error) == (error_id, name)
    listed = media.client(stream, "kinesis-video-archived-media", "LIST_FRAGMENTS").list_fragments(StreamName=stream)
    assert len(listed["Fragments"]) == sum(ack.kind == "PERSISTED" for ack in acks)


def test_a_fragment_may_not_be_too_large(start: Callable[..., Background]) -> None:
    start(Settings(fragment_bytes=1000))
    [_, error] = PutMedia.open(create(), start_s=1.0).finish(
        HEAD + fragment(0, *[encode.simple_block(1, 0, bytes(400))] * 3)
    )
    assert isinstance(error, AckError)
    assert error.error == "MAX_FRAGMENT_SIZE_REACHED"


def test_the_producers_clock_may_not_be_absurd(stream: str) -> None:
    [error] = PutMedia.open(stream, start_s=None).finish(HEAD + fragment(5_000_000_000_000))
    assert isinstance(error, AckError)
    assert error.error == "INVALID_PRODUCER_TIMESTAMP"


def test_absolute_timecodes_are_the_producers_clock(stream: str) -> None:
    PutMedia.open(stream, start_s=None).finish(HEAD + fragment(1_700_000_000_250))
    [end] = media.ends(media.get(stream, 1, StartSelectorType="EARLIEST"))
    assert end.info.producer_timestamp == 1_700_000_000.25


def test_an_upload_ends_after_its_time(start: Callable[..., Background]) -> None:
    start(Settings(put_media_s=0.0))
    [error] = until(PutMedia.open(create(), start_s=1.0), 1)
    assert isinstance(error, AckError)
    assert (error.id, error.retry) == (4003, True)


def test_a_silent_upload_is_kept_alive_and_then_ended(start: Callable[..., Background]) -> None:
    looks = itertools.count(0, 10)  # seconds: three looks at the clock for each silence of 20 ms, however long it takes
    start(Settings(keep_alive_s=0.02, idle_s=100), monotonic=lambda: next(looks))
    upload = PutMedia.open(create(), start_s=1.0)
    acks = []
    while not upload.over:
        acks += upload.poll(WAIT_S)
    assert len(acks) >= 2
    assert {ack.kind for ack in acks} == {"IDLE"}


def test_a_second_upload_takes_the_place_of_the_first(stream: str) -> None:
    first = PutMedia.open(stream, start_s=media.BEGAN_S)
    until(first, 1, HEAD + fragment(0))
    assert [ack.kind for ack in PutMedia.open(stream, start_s=media.BEGAN_S).finish(HEAD + fragment(500))] == [
        "BUFFERING",
        "RECEIVED",
        "PERSISTED",
    ]
    while not first.over:
        assert first.poll(WAIT_S) == []
    [end] = media.ends(media.get(stream, 1, StartSelectorType="EARLIEST"))
    assert end.info.producer_timestamp == media.BEGAN_S + 0.5  # what the first had sent was not whole


def test_or_is_refused(start: Callable[..., Background]) -> None:
    start(Settings(refuse_second_upload=True))
    stream = create()
    first = PutMedia.open(stream, start_s=1.0)
    until(first, 1, HEAD + fragment(0))
    with pytest.raises(Transient, match="ConnectionLimitExceededException"):
        PutMedia.open(stream, start_s=1.0).finish()


def test_a_lost_connection_loses_the_fragment_that_was_on_its_way(stream: str) -> None:
    upload = PutMedia.open(stream, start_s=media.BEGAN_S)
    until(upload, 4, HEAD + fragment(0) + fragment(1000))
    upload.close()
    media.put(stream, 2000, 3000)
    events = media.get(stream, 2, StartSelectorType="EARLIEST")
    assert [end.info.producer_timestamp for end in media.ends(events)] == [media.BEGAN_S, media.BEGAN_S + 2]


def test_a_deleted_stream_ends_its_upload(stream: str) -> None:
    upload = PutMedia.open(stream, start_s=media.BEGAN_S)
    until(upload, 1, HEAD + fragment(0))
    client = boto3.client("kinesisvideo")
    client.delete_stream(StreamARN=client.describe_stream(StreamName=stream)["StreamInfo"]["StreamARN"])
    [error] = until(upload, 1)
    assert isinstance(error, AckError)
    assert error.error == "STREAM_NOT_ACTIVE"


def test_the_producers_own_mistakes_are_named(kvs: Background, stream: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(endpoints.NoStream, match="nobody"):
        PutMedia.open("nobody", start_s=1.0)
    wrong = kvs.endpoint.url("get")
    monkeypatch.setattr(endpoints, "data_endpoint", cache(lambda api, name: wrong))
    with pytest.raises(endpoints.Forbidden, match="kinesisvideo:PutMedia"):
        PutMedia.open(stream, start_s=1.0).finish()


def test_nobody_there_may_be_somebody_later(kvs: Background, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "data_endpoint", cache(lambda api, name: "https://127.0.0.1:1"))
    with pytest.raises(Transient, match=r"127\.0\.0\.1:1"):
        PutMedia.open("any", start_s=1.0)


def test_gstreamers_matroskamux_is_a_producer(stream: str) -> None:
    from tests.unit.media.test_producers import GSTREAMER, heard, loudest_hz

    # matroskamux ends neither its last cluster nor the document: the end of the body does.
    kinds = [ack.kind for ack in PutMedia.open(stream, start_s=media.BEGAN_S).finish(GSTREAMER)]
    assert kinds == ["BUFFERING", "RECEIVED", "PERSISTED"] * 2
    events = media.get(stream, 2, StartSelectorType="EARLIEST")
    assert [round(loudest_hz(samples)) for samples in heard(events).values()] == [440, 600]
