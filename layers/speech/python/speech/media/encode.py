"""EBML and Matroska elements as bytes: sizes, numbers, tracks, blocks and tags."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from speech.errors import BadMedia
from speech.media import ids
from speech.media.events import Track

_UNKNOWN_SIZE = b"\x01" + b"\xff" * 7
_KINDS = {"video": 1, "audio": 2, "other": 17}  # 17: subtitles, the nearest to data


def head(element: int, size: int | None) -> bytes:
    """ID and size of an element; None: unknown, as its end is told by what follows."""
    name = element.to_bytes((element.bit_length() + 7) // 8, "big")
    return name + (_UNKNOWN_SIZE if size is None else vint(size))


def vint(value: int, length: int = 0) -> bytes:
    """A size in `length` bytes, or in as few as hold it (all ones are left to mean unknown)."""
    length = length or next((n for n in range(1, 9) if value < (1 << 7 * n) - 1), 9)
    if not 0 <= value < (1 << 7 * length) - 1 or length > 8:
        raise BadMedia(f"{value} does not fit a size of {min(length, 8)} bytes")
    return (value | 1 << 7 * length).to_bytes(length, "big")


def element(name: int, *content: bytes) -> bytes:
    """An element of known size around its children or value."""
    data = b"".join(content)
    return head(name, len(data)) + data


def uint(name: int, value: int) -> bytes:
    """An unsigned number in as few bytes as hold it."""
    return element(name, value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big"))


def text(name: int, value: str) -> bytes:
    """A string as UTF-8."""
    return element(name, value.encode())


def document_head(tracks: list[Track], app: str = "undertone") -> bytes:
    """EBML header, Segment of unknown size, Info with timecodes in milliseconds, Tracks."""
    ebml = element(
        ids.EBML,
        uint(ids.EBML_VERSION, 1),
        uint(ids.EBML_READ_VERSION, 1),
        uint(ids.EBML_MAX_ID_LENGTH, 4),
        uint(ids.EBML_MAX_SIZE_LENGTH, 8),
        text(ids.DOC_TYPE, "matroska"),
        uint(ids.DOC_TYPE_VERSION, 2),
        uint(ids.DOC_TYPE_READ_VERSION, 2),
    )
    info = element(ids.INFO, uint(ids.TIMECODE_SCALE, 1_000_000), text(ids.MUXING_APP, app), text(ids.WRITING_APP, app))
    return ebml + head(ids.SEGMENT, None) + info + element(ids.TRACKS, *(_track(track) for track in tracks))


def _track(track: Track) -> bytes:
    """One TrackEntry; its UID is its number."""
    parts = [
        uint(ids.TRACK_NUMBER, track.number),
        uint(ids.TRACK_UID, track.number),
        uint(ids.TRACK_TYPE, _KINDS[track.kind]),
        uint(ids.FLAG_LACING, 0),
        text(ids.TRACK_NAME, track.name) if track.name else b"",
        text(ids.CODEC_ID, track.codec),
        element(ids.CODEC_PRIVATE, track.private) if track.private else b"",
        uint(ids.DEFAULT_DURATION, track.block_ns) if track.block_ns else b"",
    ]
    if track.kind == "audio":
        rate = element(ids.SAMPLING_FREQUENCY, struct.pack(">d", track.rate))
        bits = uint(ids.BIT_DEPTH, track.bits) if track.bits else b""
        parts.append(element(ids.AUDIO, rate, uint(ids.CHANNELS, track.channels), bits))
    return element(ids.TRACK_ENTRY, *parts)


def cluster_head(timecode_ms: int) -> bytes:
    """A Cluster of unknown size and its Timecode."""
    if not 0 <= timecode_ms < 1 << 63:
        raise BadMedia(f"a cluster at {timecode_ms} ms, expected 0 to 2^63")
    return head(ids.CLUSTER, None) + uint(ids.TIMECODE, timecode_ms)


def simple_block(track: int, relative_ms: int, data: bytes, keyframe: bool = True) -> bytes:
    """One frame without lacing, `relative_ms` from its cluster's timecode (-32768 to 32767)."""
    if not -32768 <= relative_ms <= 32767:
        raise BadMedia(f"a block {relative_ms} ms from its cluster's start, expected -32768 to 32767")
    return element(ids.SIMPLE_BLOCK, vint(track), struct.pack(">hB", relative_ms, 0x80 if keyframe else 0), data)


def tags(values: Mapping[str, str], long_sizes: bool = False) -> bytes:
    """A Tags element without Targets; "" for none. `long_sizes`: 4 bytes each, as the service writes them."""

    def wrap(name: int, *content: bytes) -> bytes:
        data = b"".join(content)
        return head(name, 0)[:-1] + vint(len(data), 4 if long_sizes else 0) + data

    simple = [
        wrap(ids.SIMPLE_TAG, wrap(ids.TAG_NAME, name.encode()), wrap(ids.TAG_STRING, value.encode()))
        for name, value in values.items()
    ]
    return wrap(ids.TAGS, *(wrap(ids.TAG, tag) for tag in simple)) if simple else b""
