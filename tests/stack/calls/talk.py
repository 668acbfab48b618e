"""Two people in tones that the tiny bundle understands, as a call in a video stream."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from speech.asr.recognizer import Recognizer
from speech.audio import pcm
from speech.media.call_events import CallEvent, Position
from speech.media.documents import FragmentWriter
from speech.media.events import Block, FragmentInfo
from speech.media.kvs import CallReader
from speech.media.writer import PutMediaWriter, l16_track

from tests.tiny.build import FOLDER
from tests.tiny.sound import say

RECOGNIZER = Recognizer.load(FOLDER)
RATE, BLOCK_MS = 8000, 64
BEGAN_S = 1_700_000_000.25
TRACKS = (l16_track(1, "AUDIO_FROM_CUSTOMER"), l16_track(2, "AUDIO_TO_CUSTOMER"))
TAGS = {"ContactId": "c", "MimeType": "audio/L16;rate=8000;channels=1;"}
CUSTOMER, AGENT = "cat dog 1.5 go tad 2.0 two oak 0.9 gag cat", "1.0 dog dog 2.5 tad two 1.2 oak"


def voices() -> list[bytes]:
    """The PCM of both tracks, of one length."""
    spoken = [say(text, RATE, before_s=0.4, after_s=1.5) for text in (CUSTOMER, AGENT)]
    length = max(map(len, spoken))
    return [pcm.encode(np.pad(one, (0, length - len(one))), "pcm_s16le") for one in spoken]


def blocks(data: list[bytes] | None = None) -> list[Block]:
    """The call in blocks of 64 ms, both tracks in turn."""
    data, size = data or voices(), 16 * BLOCK_MS
    return [
        Block(track.number, at // size * BLOCK_MS, one[at : at + size])
        for at in range(0, len(data[0]), size)
        for track, one in zip(TRACKS, data, strict=True)
    ]


def upload() -> list[bytes]:
    """As PutMedia takes it, in parts; then a fragment of another call, which ends this one."""
    writer = PutMediaWriter(TRACKS)
    call = blocks()
    parts = [writer.block(block.track, block.timecode_ms, block.data, TAGS) for block in call]
    later = call[-1].timecode_ms + 1000
    parts.append(writer.begin(later, TAGS))
    parts += [writer.block(track.number, later, bytes(16 * BLOCK_MS)) for track in TRACKS]
    return [*parts, writer.finish({"ContactId": "another"})]


def download() -> bytes:
    """As GetMedia gives it: a document for each second or so."""
    call, out = blocks(), []
    per_fragment = 2 * 16
    for index, at in enumerate(range(0, len(call), per_fragment)):
        part = call[at : at + per_fragment]
        start_ms = part[0].timecode_ms
        number = f"{index + 1:047d}"
        info = FragmentInfo(number, BEGAN_S + start_ms / 1000, BEGAN_S + start_ms / 1000, 0, number)
        out.append(FragmentWriter(TRACKS, info).whole(part, start_ms, TAGS))
    return b"".join(out)


def batches(data: bytes, size: int, after: Position | None = None) -> Iterator[tuple[list[CallEvent], Position]]:
    """What a reader gives for pieces of so many bytes, and its position behind each."""
    reader = CallReader(after=after)
    for at in range(0, len(data), size):
        yield reader.receive(data[at : at + size]), reader.position
    yield reader.finish(), reader.position
