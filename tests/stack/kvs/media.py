"""Calls to send, and what consumers read of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from cloud import clients
from cloud.video.endpoints import data_endpoint
from cloud.video.putmedia import PutMedia
from speech.media.acks import Ack
from speech.media.events import Block, Event, FragmentEnd, Track
from speech.media.parser import Parser
from speech.media.writer import PutMediaWriter, l16_track

STEP_MS = 100
TRACKS = (l16_track(1, "AUDIO_FROM_CUSTOMER"), l16_track(2, "AUDIO_TO_CUSTOMER"))
BEGAN_S = 1_700_000_000.5  # the producer's clock at timecode 0


def sound(track: int, at_ms: int, ms: int = STEP_MS) -> bytes:
    """PCM that is different for every track and time."""
    return np.random.default_rng((track, at_ms)).integers(-9000, 9000, 8 * ms, np.int16).tobytes()


def sent(first_ms: int, end_ms: int) -> list[Block]:
    """The blocks of a stretch of the call."""
    return [
        Block(track.number, at, sound(track.number, at)) for at in range(first_ms, end_ms, STEP_MS) for track in TRACKS
    ]


def document(first_ms: int, end_ms: int) -> list[bytes]:
    """The same as PutMedia takes it: a part for each block, and the end."""
    writer = PutMediaWriter(TRACKS)
    tags = {"ContactId": "c", "MimeType": "audio/L16;rate=8000;channels=1;"}
    parts = [writer.block(block.track, block.timecode_ms, block.data, tags) for block in sent(first_ms, end_ms)]
    return [*parts, writer.finish(tags)]


def put(stream: str, first_ms: int = 0, end_ms: int = 3000) -> list[Ack]:
    """Upload a stretch of the call."""
    upload = PutMedia.open(stream, start_s=BEGAN_S)
    return upload.finish(b"".join(document(first_ms, end_ms)))


def client(stream: str, service: str = "kinesis-video-media", api: Any = "GET_MEDIA") -> Any:
    """The client of one of the stream's data endpoints."""
    return clients.client(service, data_endpoint(api, stream))


def get(stream: str, fragments: int, **selector: Any) -> list[Event]:
    """What GetMedia gives until so many fragments have ended."""
    answer = client(stream).get_media(StreamName=stream, StartSelector=selector)
    parser, events = Parser(), list[Event]()
    while sum(isinstance(event, FragmentEnd) for event in events) < fragments:
        data = answer["Payload"]._raw_stream.read1(65536)
        events += parser.receive(data) if data else parser.finish()
        if not data:
            break
    answer["Payload"].close()
    return events


def blocks(events: list[Event]) -> list[Block]:
    """The blocks among events."""
    return [event for event in events if isinstance(event, Block)]


def ends(events: list[Event]) -> list[FragmentEnd]:
    """The ends of fragments among events."""
    return [event for event in events if isinstance(event, FragmentEnd)]


def tracks(events: list[Event]) -> list[Track]:
    """The tracks among events."""
    return [event for event in events if isinstance(event, Track)]
