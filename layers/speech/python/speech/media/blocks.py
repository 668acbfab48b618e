"""Frames out of a SimpleBlock or BlockGroup: track, relative timecode, flags, three kinds of lacing (RFC 9559)."""

from __future__ import annotations

from dataclasses import dataclass

from speech.errors import BadMedia
from speech.media import ebml, ids

_XIPH, _FIXED, _EBML = 0b01, 0b10, 0b11
_LACING = {_XIPH: "Xiph", _FIXED: "fixed", _EBML: "EBML"}


@dataclass(frozen=True, slots=True)
class Frames:
    """What one block holds."""

    track: int
    relative: int  # timecode from that of the cluster, in units of TimecodeScale
    keyframe: bool  # of a SimpleBlock
    frames: list[bytes]


def parse_block(data: bytes) -> Frames:
    """The content of a SimpleBlock or Block; BadMedia when its head or its lacing cannot be right."""
    track = ebml.size_at(data, 0)
    if track is None or track[0] == ebml.UNKNOWN or len(data) < track[1] + 3:
        raise BadMedia(f"a block of {len(data)} bytes is too short for track number, timecode and flags")
    number, length = track
    flags = data[length + 2]
    relative = int.from_bytes(data[length : length + 2], "big", signed=True)
    body = data[length + 3 :]
    lacing = flags >> 1 & 0b11
    frames = _laced(body, lacing) if lacing else [body]
    return Frames(number, relative, bool(flags & 0x80), frames)


def parse_group(data: bytes) -> tuple[Frames, bool]:
    """(frames, whether they need no other frame) of a BlockGroup."""
    block, keyframe = None, True
    for element, content in ebml.children(data, ids.BLOCK_GROUP):
        if element == ids.BLOCK:
            if block is not None:
                raise BadMedia("BlockGroup with two Blocks, expected one")
            block = parse_block(bytes(content))
        elif element == ids.REFERENCE_BLOCK:
            keyframe = False
    if block is None:
        raise BadMedia("BlockGroup without a Block")
    return block, keyframe


def _laced(body: bytes, lacing: int) -> list[bytes]:
    """Cut a laced body: a byte with the number of frames less one, their sizes (but the last's), the frames."""
    if not body:
        raise BadMedia(f"a block with {_LACING[lacing]} lacing has no number of frames")
    count = body[0] + 1
    if lacing == _FIXED:
        size, odd = divmod(len(body) - 1, count)
        if odd:
            raise BadMedia(f"{len(body) - 1} bytes with fixed lacing do not divide into {count} frames of one size")
        sizes, at = [size] * count, 1
    else:
        sizes, at = (_xiph_sizes if lacing == _XIPH else _ebml_sizes)(body, count)
        sizes.append(len(body) - at - sum(sizes))
        if sizes[-1] < 0:
            raise BadMedia(f"{_LACING[lacing]} lacing of {count} frames claims {-sizes[-1]} bytes more than are there")
    frames = []
    for size in sizes:
        frames.append(body[at : at + size])
        at += size
    return frames


def _xiph_sizes(body: bytes, count: int) -> tuple[list[int], int]:
    """Sizes of all frames but the last, each as a sum of bytes of which the last is not 255; where the frames begin."""
    sizes, at = [], 1
    for _ in range(count - 1):
        size = 0
        while at < len(body) and body[at] == 255:
            size, at = size + 255, at + 1
        if at >= len(body):
            raise BadMedia(f"a block ends inside the sizes of its {count} frames with Xiph lacing")
        sizes.append(size + body[at])
        at += 1
    return sizes, at


def _ebml_sizes(body: bytes, count: int) -> tuple[list[int], int]:
    """Sizes of all frames but the last: the first as it is, then signed differences; where the frames begin."""
    sizes: list[int] = []
    at = 1
    for index in range(count - 1):
        found = ebml.size_at(body, at)
        if found is None or found[0] == ebml.UNKNOWN:
            raise BadMedia(f"a block ends inside the sizes of its {count} frames with EBML lacing")
        value, length = found
        at += length
        # A signed number is stored with half of its range added: 2^(7 length - 1) - 1.
        size = sizes[-1] + value - (1 << 7 * length - 1) + 1 if index else value
        if size < 0:
            raise BadMedia(f"EBML lacing gives frame {index} of {count} a size of {size} bytes")
        sizes.append(size)
    return sizes, at
