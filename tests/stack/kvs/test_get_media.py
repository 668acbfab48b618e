"""GetMedia and the archive calls through boto3 and PyAV: every start selector, live blocks, cuts and retention."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import av
import boto3
import pytest
from botocore.exceptions import ClientError
from cloud.video.putmedia import PutMedia
from speech.media.events import Event, ServiceError, Track
from speech.media.parser import Parser
from speech.media.writer import PutMediaWriter

from local.kvs.background import Background
from local.kvs.settings import Settings
from tests.stack.kvs import media
from tests.stack.kvs.conftest import create

ARCHIVE = "kinesis-video-archived-media"


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def test_every_fragment_is_a_document_with_what_the_service_knows(stream: str) -> None:
    numbers = [ack.fragment for ack in media.put(stream) if ack.kind == "PERSISTED"]
    events = media.get(stream, 3, StartSelectorType="EARLIEST")
    assert media.blocks(events) == media.sent(0, 3000)
    assert {track.name for track in media.tracks(events)} == {"AUDIO_FROM_CUSTOMER", "AUDIO_TO_CUSTOMER"}
    ends = media.ends(events)
    assert [end.info.number for end in ends] == numbers
    assert [end.info.continuation_token for end in ends] == numbers
    assert [end.info.producer_timestamp for end in ends] == [media.BEGAN_S + n for n in range(3)]
    assert [end.tags["ContactId"] for end in ends] == ["c"] * 3
    assert ends[-1].info.millis_behind_now == 0


@pytest.mark.parametrize(
    ("kind", "name", "value", "first"),
    [
        ("EARLIEST", "", None, 0),
        ("FRAGMENT_NUMBER", "AfterFragmentNumber", 1, 2),
        ("CONTINUATION_TOKEN", "ContinuationToken", 1, 2),
        ("PRODUCER_TIMESTAMP", "StartTimestamp", moment(media.BEGAN_S + 2), 2),
        ("PRODUCER_TIMESTAMP", "StartTimestamp", moment(media.BEGAN_S + 1.999), 1),
        ("PRODUCER_TIMESTAMP", "StartTimestamp", moment(1), 0),
        ("SERVER_TIMESTAMP", "StartTimestamp", moment(1), 0),
    ],
)
def test_a_start_selector_chooses_the_first_fragment(stream: str, kind: str, name: str, value: Any, first: int) -> None:
    numbers = [ack.fragment for ack in media.put(stream, 0, 4000) if ack.kind == "PERSISTED"]
    chosen = {name: numbers[value] if isinstance(value, int) else value} if name else {}
    events = media.get(stream, 4 - first, StartSelectorType=kind, **chosen)
    assert [end.info.number for end in media.ends(events)] == numbers[first:]


def test_server_time_is_that_of_arrival(start: Callable[..., Background]) -> None:
    clock = itertools.count(1_800_000_000, 10)
    start(Settings(calls_per_s=0, skew_s=float("inf")), now=lambda: next(clock))
    stream = create()
    media.put(stream, 0, 4000)
    listed = media.client(stream, ARCHIVE, "LIST_FRAGMENTS").list_fragments(StreamName=stream)["Fragments"]
    third = listed[2]
    events = media.get(stream, 2, StartSelectorType="SERVER_TIMESTAMP", StartTimestamp=third["ServerTimestamp"])
    assert media.ends(events)[0].info.number == third["FragmentNumber"]


@pytest.mark.parametrize(
    "selector",
    [
        {"StartSelectorType": "FRAGMENT_NUMBER"},
        {"StartSelectorType": "FRAGMENT_NUMBER", "AfterFragmentNumber": "last"},
        {"StartSelectorType": "PRODUCER_TIMESTAMP"},
        {"StartSelectorType": "YESTERDAY"},
    ],
)
def test_a_start_selector_that_cannot_be_is_refused(stream: str, selector: dict[str, str]) -> None:
    with pytest.raises(ClientError, match="InvalidArgumentException"):
        media.get(stream, 1, **selector)


def test_a_fragment_that_is_not_kept_is_an_error_in_the_stream(stream: str) -> None:
    media.put(stream, 0, 1000)
    events = media.get(stream, 9, StartSelectorType="FRAGMENT_NUMBER", AfterFragmentNumber="1" * 47)
    [error] = [event for event in events if isinstance(event, ServiceError)]
    assert error.id == 4000


class Live:
    """A GetMedia connection that is read piece by piece."""

    def __init__(self, stream: str, **selector: Any) -> None:
        self.raw = media.client(stream).get_media(StreamName=stream, StartSelector=selector)["Payload"]._raw_stream
        self.parser, self.events = Parser(), list[Event]()

    def blocks(self, count: int) -> list[Any]:
        """Read until so many blocks have come."""
        while len(media.blocks(self.events)) < count:
            data = self.raw.read1(65536)
            assert data, self.events
            self.events += self.parser.receive(data)
        return media.blocks(self.events)


def test_a_block_is_there_before_its_fragment_is_whole(stream: str) -> None:
    live = Live(stream, StartSelectorType="NOW")
    upload, parts = PutMedia.open(stream, start_s=media.BEGAN_S), media.document(0, 1000)
    for count, part in enumerate(parts[:5], 1):
        upload.send(part)
        assert live.blocks(count) == media.sent(0, 1000)[:count]
    # Who comes later begins with the same fragment, and then both follow it.
    late = Live(stream, StartSelectorType="NOW")
    assert late.blocks(5) == media.sent(0, 1000)[:5]
    upload.finish(b"".join(parts[5:]))
    assert live.blocks(20) == late.blocks(20) == media.sent(0, 1000)
    live.raw.close()
    late.raw.close()


def test_now_leaves_out_what_is_whole(stream: str) -> None:
    media.put(stream, 0, 2000)
    live = Live(stream, StartSelectorType="NOW")
    media.put(stream, 2000, 3000)
    assert live.blocks(20) == media.sent(2000, 3000)
    live.raw.close()


def test_a_moment_to_come_is_waited_for(stream: str) -> None:
    media.put(stream, 0, 1000)
    live = Live(stream, StartSelectorType="PRODUCER_TIMESTAMP", StartTimestamp=moment(media.BEGAN_S + 5))
    media.put(stream, 5000, 6000)
    assert live.blocks(20) == media.sent(5000, 6000)
    live.raw.close()


def test_a_fragment_that_is_never_whole_has_no_trailing_tags(stream: str) -> None:
    live = Live(stream, StartSelectorType="NOW")
    upload = PutMedia.open(stream, start_s=media.BEGAN_S)
    upload.send(b"".join(media.document(0, 1000)[:6]))
    assert len(live.blocks(6)) == 6
    upload.close()
    media.put(stream, 1000, 2000)
    live.blocks(26)
    assert media.ends(live.events)[0].info.continuation_token is None
    live.raw.close()


@pytest.mark.parametrize("limits", [{"get_media_s": 0.3}, {"get_media_bytes": lambda: 9000}])
def test_a_connection_is_cut_without_a_word(start: Callable[..., Background], limits: dict[str, Any]) -> None:
    start(Settings(calls_per_s=0, **limits))
    stream = create()
    media.put(stream)
    answer = media.client(stream).get_media(StreamName=stream, StartSelector={"StartSelectorType": "EARLIEST"})
    data = answer["Payload"].read()
    assert len(data) == (9000 if "get_media_bytes" in limits else len(data)) > 0
    events = (parser := Parser()).receive(data) + parser.finish()
    assert not any(isinstance(event, ServiceError) for event in events)


def test_three_read_at_once_and_a_fourth_is_refused(stream: str) -> None:
    readers = [Live(stream, StartSelectorType="NOW") for _ in range(3)]
    with pytest.raises(ClientError, match="ConnectionLimitExceededException"):
        Live(stream, StartSelectorType="NOW")
    for reader in readers:
        reader.raw.close()


def test_a_deleted_stream_says_so(stream: str) -> None:
    live = Live(stream, StartSelectorType="NOW")
    client = boto3.client("kinesisvideo")
    client.delete_stream(StreamARN=client.describe_stream(StreamName=stream)["StreamInfo"]["StreamARN"])
    while data := live.raw.read1(65536):
        live.events += live.parser.receive(data)
    assert [event.id for event in live.events if isinstance(event, ServiceError)] == [4507]


def test_fragments_are_listed_and_fetched(stream: str) -> None:
    numbers = [ack.fragment for ack in media.put(stream, 0, 5000) if ack.kind == "PERSISTED"]
    archive = media.client(stream, ARCHIVE, "LIST_FRAGMENTS")
    between = {"StartTimestamp": moment(media.BEGAN_S + 1), "EndTimestamp": moment(media.BEGAN_S + 3)}
    selector = {"FragmentSelectorType": "PRODUCER_TIMESTAMP", "TimestampRange": between}
    pages = archive.get_paginator("list_fragments").paginate(
        StreamName=stream, FragmentSelector=selector, PaginationConfig={"PageSize": 2}
    )
    listed = [fragment for page in pages for fragment in page["Fragments"]]
    assert [fragment["FragmentNumber"] for fragment in listed] == numbers[1:4]
    assert {(f["FragmentLengthInMilliseconds"], f["FragmentSizeInBytes"]) for f in listed} == {(1000, 32_000)}
    wanted = [numbers[3], "7", numbers[1]]
    answer = archive.get_media_for_fragment_list(StreamName=stream, Fragments=wanted)
    events = (parser := Parser()).receive(answer["Payload"].read()) + parser.finish()
    assert media.blocks(events) == media.sent(3000, 4000) + media.sent(1000, 2000)
    [error] = [event for event in events if isinstance(event, ServiceError)]
    assert error.fragment == "7"


def test_without_retention_there_is_no_archive(kvs: Background) -> None:
    stream = create(hours=0)
    media.put(stream, 0, 1000)
    with pytest.raises(ClientError, match="no data retention"):
        media.client(stream, ARCHIVE, "LIST_FRAGMENTS").list_fragments(StreamName=stream)
    assert media.blocks(media.get(stream, 1, StartSelectorType="EARLIEST")) == media.sent(0, 1000)


@pytest.mark.parametrize(("hours", "kept_s"), [(0, 300), (1, 3600)])
def test_what_is_beyond_retention_is_forgotten(start: Callable[..., Background], hours: int, kept_s: int) -> None:
    now_s = 1_800_000_000.0
    start(Settings(calls_per_s=0, skew_s=float("inf")), now=lambda: now_s)
    stream = create(hours)
    media.put(stream, 0, 1000)
    now_s += kept_s + 1
    media.put(stream, 1000, 2000)
    assert media.blocks(media.get(stream, 1, StartSelectorType="EARLIEST")) == media.sent(1000, 2000)


def test_memory_of_a_stream_is_bounded(start: Callable[..., Background]) -> None:
    start(Settings(calls_per_s=0, store_bytes=70_000))
    stream = create()
    media.put(stream, 0, 5000)
    assert media.blocks(media.get(stream, 2, StartSelectorType="EARLIEST")) == media.sent(3000, 5000)


def test_ffmpeg_reads_it(stream: str) -> None:
    from speech.media.writer import mulaw_track

    writer = PutMediaWriter([mulaw_track(1)])
    data = [bytes([n]) * 160 for n in range(100)]
    body = b"".join(writer.block(1, 20 * n, part) for n, part in enumerate(data)) + writer.finish()
    PutMedia.open(stream, start_s=media.BEGAN_S).finish(body)
    archive = media.client(stream, ARCHIVE, "GET_MEDIA_FOR_FRAGMENT_LIST")
    listed = archive.list_fragments(StreamName=stream)["Fragments"]
    payload = archive.get_media_for_fragment_list(
        StreamName=stream, Fragments=[fragment["FragmentNumber"] for fragment in listed]
    )["Payload"]
    with av.open(payload) as container:
        [audio] = container.streams
        assert (audio.codec_context.name, audio.rate, audio.channels) == ("pcm_mulaw", 8000, 1)
        packets = [bytes(packet) for packet in container.demux() if packet.size]
    assert packets == data
    assert isinstance(media.tracks(media.get(stream, 1, StartSelectorType="EARLIEST"))[0], Track)
