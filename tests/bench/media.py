"""Processor time that a call's media cost, per second of call, beside PyAV (FFmpeg) on the same bytes.

    .venv/bin/python -m tests.bench.media [--seconds 120]

A call is two tracks as Amazon Connect sends them: a document a second, blocks of 20 ms (320 bytes) or 64 ms (1024).
PyAV gives packets of the first document only (it shows no later tags), so it reads one document with all clusters.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
from collections.abc import Callable, Iterator

import av
from speech.cli import bench
from speech.media.documents import FragmentWriter
from speech.media.events import Block, FragmentInfo
from speech.media.kvs import CallReader
from speech.media.parser import Parser
from speech.media.writer import PutMediaWriter, l16_track, pcm_track

COMMAND = "python -m tests.bench.media"
SECONDS = 120
PIECE = 1024  # bytes that arrive together


def blocks(second: int, step_ms: int) -> list[Block]:
    """One second of two tracks of 16-bit PCM at 8 kHz."""
    times = range(1000 * second, 1000 * second + 1000 - step_ms + 1, step_ms)
    return [Block(number, at, bytes(16 * step_ms)) for at in times for number in (1, 2)]


def call(seconds: int, step_ms: int) -> bytes:
    """What GetMedia sends."""
    tracks = (l16_track(1, "AUDIO_FROM_CUSTOMER"), l16_track(2, "AUDIO_TO_CUSTOMER"))
    user = {"ContactId": "c", "MimeType": "audio/L16;rate=8000;channels=1;"}
    out = []
    for second in range(seconds):
        info = FragmentInfo(f"{second:047d}", 1.6e9 + second, 1.6e9 + second, 0, f"{second:047d}")
        out.append(FragmentWriter(tracks, info).whole(blocks(second, step_ms), 1000 * second, user))
    return b"".join(out)


def upload(seconds: int, step_ms: int) -> bytes:
    """The same sound as one document."""
    writer = PutMediaWriter([pcm_track(1), pcm_track(2)])
    sent = [writer.block(b.track, b.timecode_ms, b.data) for second in range(seconds) for b in blocks(second, step_ms)]
    return b"".join(sent) + writer.finish()


def pieces(data: bytes) -> Iterator[bytes]:
    """`data` as a connection brings it."""
    return (data[at : at + PIECE] for at in range(0, len(data), PIECE))


def with_ours(reader: Parser | CallReader, data: bytes) -> None:
    """Read all of it."""
    for piece in pieces(data):
        reader.receive(piece)
    reader.finish()


def with_pyav(data: bytes) -> None:
    """The same with FFmpeg."""
    with av.open(io.BytesIO(data), buffer_size=PIECE) as container:
        for packet in container.demux():
            bytes(packet)


def percent(work: Callable[[], object], seconds: int) -> float:
    """Processor time of `work`, the least of three, in percent of the call's duration."""
    took = []
    for _ in range(3):
        start = time.process_time()
        work()
        took.append(time.process_time() - start)
    return 100 * min(took) / seconds


def measure(seconds: int) -> Iterator[bench.Row]:
    """The rows, as they are measured; `seconds` is the duration of the call."""
    for step_ms in (20, 64):
        document, fragments = upload(seconds, step_ms), call(seconds, step_ms)
        works: dict[str, tuple[Callable[[], object], str]] = {
            "parser": (lambda data=fragments: with_ours(Parser(), data), "under 1"),
            "call_reader": (lambda data=fragments: with_ours(CallReader(contact_id="c"), data), "under 1"),
            "pyav": (lambda data=document: with_pyav(data), ""),
            "parser_same_bytes_as_pyav": (lambda data=document: with_ours(Parser(), data), "under 1"),
            "writer": (lambda step_ms=step_ms: upload(seconds, step_ms), ""),
        }
        for name, (work, must) in works.items():
            yield bench.Row(f"{name}_{step_ms}_ms_blocks_core", percent(work, seconds), "%", must, COMMAND)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--seconds", type=int, default=SECONDS, help="duration of the call")
    seconds = parser.parse_args().seconds
    print(bench.machine())
    for row in measure(seconds):
        print(bench.line(row), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
