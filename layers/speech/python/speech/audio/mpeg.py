"""Frame headers of MPEG audio (MP1, MP2, MP3) and the Xing tag, just enough to find the audio and its promised length.

Layout: ISO 11172-3 section 2.4.2.3, ISO 13818-3; the Xing and LAME tags as LAME writes them.
"""

from __future__ import annotations

from dataclasses import dataclass

SEARCH = 1 << 14  # bytes of padding or damage accepted before the first frame
ENDLESS = 0xFFFFFF  # frames: 121 hours at 44.1 kHz

_RATES = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}  # Hz, by version bits
_KBITS = {  # kbit/s of index 1 to 14, by (version 1, layer)
    (True, 1): (32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
    (True, 2): (32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (True, 3): (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (False, 1): (32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
    (False, 2): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (False, 3): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame header."""

    layer: int  # 1 to 3
    rate: int  # Hz
    mono: bool
    length: int  # bytes, header included
    samples: int  # per channel
    tag_at: int  # where the Xing tag of a layer III frame stands, bytes from the header's start


@dataclass(frozen=True, slots=True)
class Tag:
    """A Xing or Info tag: what it promises, and LAME's part (delay and padding among it), empty without one."""

    frames: int | None
    lame: bytes


def parse_frame(header: bytes) -> Frame | None:
    """The frame whose 4-byte header this is; None if it is none, or of free format."""
    if len(header) < 4 or header[0] != 0xFF or header[1] & 0xE0 != 0xE0:
        return None
    version, layer = header[1] >> 3 & 3, 4 - (header[1] >> 1 & 3)
    index, rate_index, padding = header[2] >> 4, header[2] >> 2 & 3, header[2] >> 1 & 1
    if version == 1 or layer == 4 or index in (0, 15) or rate_index == 3:
        return None
    first, mono = version == 3, header[3] >> 6 == 3
    rate, bits = _RATES[version][rate_index], 1000 * _KBITS[first, layer][index - 1]
    if layer == 1:
        return Frame(1, rate, mono, (12 * bits // rate + padding) * 4, 384, 0)
    samples = 576 if layer == 3 and not first else 1152
    tag_at = 4 + ((17 if mono else 32) if first else (9 if mono else 17))
    return Frame(layer, rate, mono, samples // 8 * bits // rate + padding, samples, tag_at)


def find_frame(head: bytes) -> tuple[int, Frame] | None:
    """Offset and header of the first of three frames that follow each other (fewer, but one, where `head` ends)."""
    for offset in range(min(SEARCH, len(head) - 3)):
        frame = parse_frame(head[offset : offset + 4]) if head[offset] == 0xFF else None
        if frame and offset + frame.length <= len(head) and _continues(head, offset + frame.length, frame, 2):
            return offset, frame
    return None


def _continues(head: bytes, offset: int, first: Frame, count: int) -> bool:
    """Whether `count` frames like `first` follow at `offset`, as far as `head` goes."""
    for _ in range(count):
        if offset + 4 > len(head):
            return True
        frame = parse_frame(head[offset : offset + 4])
        if not frame or (frame.layer, frame.rate) != (first.layer, first.rate):
            return False
        offset += frame.length
    return True


def parse_tag(data: bytes, frame: Frame) -> Tag | None:
    """The Xing tag in the bytes of a file's first frame, or None."""
    at = frame.tag_at
    if frame.layer != 3 or data[at : at + 4] not in (b"Xing", b"Info"):
        return None
    flags = data[at + 7]
    frames = int.from_bytes(data[at + 8 : at + 12], "big") if flags & 1 else None
    lame_at = at + 8 + 4 * (flags & 1) + 4 * (flags >> 1 & 1) + 100 * (flags >> 2 & 1) + 4 * (flags >> 3 & 1)
    lame = data[lame_at : lame_at + 36]
    return Tag(frames, lame if lame[:4] in (b"LAME", b"Lavc", b"Lavf", b"L3.9") else b"")


def promised_samples(tag: Tag, frame: Frame) -> int | None:
    """Samples per channel that the tag promises, without the encoder's delay and padding."""
    if tag.frames is None:
        return None
    delay_padding = int.from_bytes(tag.lame[21:24], "big") if tag.lame else 0
    return max(0, tag.frames * frame.samples - (delay_padding >> 12) - (delay_padding & 0xFFF))


def endless_tag(header: bytes, frame: Frame, lame: bytes) -> bytes:
    """A first frame whose Xing tag promises more than any file holds.

    libsndfile stops at the length it estimates from the first frames of a file without a tag, or at what a stale tag
    says, and leaves out the rest without an error; told "endless", it reads to the end.
    """
    # The highest bit rate, no checksum, no padding: long enough for every tag.
    header = bytes([header[0], header[1] | 1, (header[2] & 0x0C) | 0xE0, header[3]])
    full = parse_frame(header)
    assert full is not None
    data = header + bytes(frame.tag_at - 4) + b"Xing" + (1).to_bytes(4, "big") + ENDLESS.to_bytes(4, "big") + lame
    return data.ljust(full.length, b"\0")
