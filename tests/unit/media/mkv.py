"""Media streams put together by hand, byte by byte, sharing nothing with the writer or the parser under test."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from itertools import pairwise

from speech.media.events import Event
from speech.media.parser import Parser

EBML_ID, SEGMENT, CLUSTER = "1a45dfa3", "18538067", "1f43b675"
UNKNOWN = bytes.fromhex("01ffffffffffffff")
NUMBER = "91343852333181432392682062607743920146252692{:03d}"  # 47 digits, as the service counts


def size(value: int, length: int = 0) -> bytes:
    """A size in 1, 2 or 4 bytes."""
    length = length or (1 if value < 0x7F else 2 if value < 0x3FFF else 4)
    return ((1 << 7 * length) | value).to_bytes(length, "big")


def el(name: str, *content: bytes, length: int = 0) -> bytes:
    """An element of known size."""
    data = b"".join(content)
    return bytes.fromhex(name) + size(len(data), length) + data


def open_el(name: str) -> bytes:
    """The head of an element of unknown size."""
    return bytes.fromhex(name) + UNKNOWN


def ebml(doc_type: bytes = b"matroska") -> bytes:
    """An EBML header as the service sends it."""
    return el(
        EBML_ID, el("4286", b"\1"), el("42f7", b"\1"), el("42f2", b"\4"), el("42f3", b"\x08"), el("4282", doc_type)
    )


def info(scale: int = 1_000_000) -> bytes:
    """Info with a TimecodeScale."""
    return el("1549a966", el("2ad7b1", scale.to_bytes(4, "big")), el("4d80", b"by hand"))


def track(number: int = 1, name: bytes = b"", codec: bytes = b"A_AAC", rate: float = 8000, *more: bytes) -> bytes:
    """A TrackEntry of audio."""
    audio = el("e1", el("b5", struct.pack(">f", rate)), el("9f", b"\1"))
    named = el("536e", name) if name else b""
    return el("ae", el("d7", bytes([number])), el("83", b"\2"), named, el("86", codec), audio, *more)


def tracks(*entries: bytes) -> bytes:
    """Tracks around TrackEntries."""
    return el("1654ae6b", *(entries or (track(),)))


def tags(values: dict[str, str], length: int = 0) -> bytes:
    """Tags without Targets; the service writes sizes of 4 bytes."""
    simple = [
        el("67c8", el("45a3", k.encode(), length=length), el("4487", v.encode(), length=length), length=length)
        for k, v in values.items()
    ]
    return el("1254c367", *(el("7373", tag, length=length) for tag in simple), length=length)


def aws(**values: str) -> bytes:
    """The service's own tags."""
    return tags({f"AWS_KINESISVIDEO_{name}": value for name, value in values.items()}, length=4)


def block(data: bytes, relative: int = 0, number: int = 1, flags: int = 0x80) -> bytes:
    """A SimpleBlock."""
    return el("a3", size(number), struct.pack(">hB", relative, flags), data)


def cluster(timecode: int, *blocks: bytes) -> bytes:
    """A Cluster of unknown size."""
    return open_el(CLUSTER) + el("e7", timecode.to_bytes(8, "big")) + b"".join(blocks)


def document(  # a fragment as GetMedia sends it
    index: int,
    start_ms: int,
    blocks: Sequence[bytes] | None = None,
    user: dict[str, str] | None = None,
    entries: Iterable[bytes] = (),
    timecode: int | None = None,
) -> bytes:
    """Fragment number `index` that began `start_ms` after 1.6e9 s; without a cluster when `blocks` is None."""
    head = ebml() + open_el(SEGMENT) + info() + tracks(*entries)
    seconds = f"{1_600_000_000 + start_ms / 1000:.3f}"
    before = aws(FRAGMENT_NUMBER=NUMBER.format(index), SERVER_TIMESTAMP=seconds, PRODUCER_TIMESTAMP=seconds)
    media = b"" if blocks is None else cluster(start_ms if timecode is None else timecode, *blocks)
    after = aws(MILLIS_BEHIND_NOW="0", CONTINUATION_TOKEN=NUMBER.format(index))
    return head + before + media + (tags(user) if user else b"") + after


def parse(data: bytes, cuts: Iterable[int] = (), parser: Parser | None = None) -> list[Event]:
    """All events of `data`, pushed in pieces that end at `cuts`."""
    parser = parser or Parser()
    events: list[Event] = []
    for part in cut(data, cuts):
        events += parser.receive(part)
    return events + parser.finish()


def cut(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    """`data` in pieces that end at `cuts`."""
    return [data[start:end] for start, end in pairwise([0, *sorted(min(at, len(data)) for at in cuts), len(data)])]
