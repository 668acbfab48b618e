"""The chunks of a WAV, RF64 or BW64 file: its format and where the samples lie, also when the sizes are wrong.

Layout: Microsoft's Multimedia Programming Interface 1.0 (RIFF, WAVEFORMATEX, WAVEFORMATEXTENSIBLE); EBU Tech 3306
(RF64) and ITU-R BS.2088 (BW64) for `ds64`. Recorders that stream cannot go back and write the sizes: 0, 0xFFFFFFFF
or a stale number then stands there, and the samples reach to the end of the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from speech.audio.window import Window
from speech.errors import BadAudio

PCM, FLOAT, ALAW, MULAW, MP3, EXTENSIBLE = 0x0001, 0x0003, 0x0006, 0x0007, 0x0055, 0xFFFE
_UNKNOWN_SIZE = 0xFFFFFFFF
_STREAMED = 0x7FFF0000  # and above: what streaming writers put for "until the end" (sox 0x7FFFF000, others 0xFFFF...)
_USUAL = {b"fmt ", b"data", b"fact", b"LIST", b"bext", b"JUNK", b"junk", b"iXML", b"cue ", b"smpl", b"PEAK", b"id3 "}
_GUID_TAIL = bytes.fromhex("000000001000800000aa00389b71")  # of the sub-formats that are plain format tags


@dataclass(frozen=True, slots=True)
class Wav:
    """What the chunks say; `offset` and `size` are bytes and never reach beyond the file."""

    tag: int  # format tag; that of the sub-format for WAVE_FORMAT_EXTENSIBLE
    channels: int
    rate: int  # Hz
    frame_bytes: int  # of one sample of every channel
    offset: int
    size: int
    warnings: list[str] = field(default_factory=list)


def parse(file: Window) -> Wav:
    """Walk the chunks up to `data`; BadAudio when there is no format or no data before the end."""
    position, fmt, ds64 = 12, None, b""
    while len(header := file.at(position, 8)) == 8:
        name, size = header[:4], int.from_bytes(header[4:], "little")
        position += 8
        if name == b"data":
            if fmt is None:
                raise BadAudio("WAV without a format: no 'fmt ' chunk before the 'data' chunk")
            if size == _UNKNOWN_SIZE and len(ds64) >= 16:
                size = int.from_bytes(ds64[8:16], "little")
            return _data(file, fmt, position, size)
        if position + size > len(file):
            raise BadAudio(
                f"WAV without samples: its {name.decode('latin-1')!r} chunk claims {size} bytes, "
                f"{len(file) - position} are there, and no 'data' chunk came before"
            )
        if name == b"fmt ":
            fmt = file.at(position, min(size, 64))
        elif name == b"ds64":
            ds64 = file.at(position, min(size, 64))
        position = _next(file, position + size, size % 2)
    raise BadAudio("WAV without samples: the file ends before a 'data' chunk; was the upload cut off?")


def _next(file: Window, end: int, odd: int) -> int:
    """Where the next chunk starts: chunks of odd size are padded, but some writers forget."""
    if odd and file.at(end, 4) in _USUAL and file.at(end + 1, 4) not in _USUAL:
        return end
    return end + odd


def _chunk_at(file: Window, position: int) -> bool:
    """Whether a chunk can start here: a name in printable ASCII and a size that the file has room for."""
    header = file.at(position, 8)
    size = int.from_bytes(header[4:], "little")
    return len(header) == 8 and all(32 <= byte < 127 for byte in header[:4]) and position + 8 + size <= len(file)


def _data(file: Window, fmt: bytes, offset: int, size: int) -> Wav:
    """The file's format and its samples: `size` bytes, or all to the end where the header does not know."""
    tag, channels, rate, frame_bytes = _format(fmt)
    there, warnings = len(file) - offset, []
    per_second = max(1, rate * frame_bytes)
    if size >= _STREAMED and size > there:
        size = there  # no length was promised, so none is missing
    elif size > there:
        warnings.append(_differs("truncated", size / per_second, there / per_second))
        size = there
    elif there - size > size and not _chunk_at(file, offset + size + size % 2):
        if size:
            warnings.append(_differs("the header is stale", size / per_second, there / per_second))
        size = there
    return Wav(tag, channels, rate, frame_bytes, offset, size, warnings)


def _differs(what: str, promised_s: float, there_s: float) -> str:
    return f"{what}: the header promises {promised_s:.1f} s, {there_s:.1f} s are there"


def _format(fmt: bytes) -> tuple[int, int, int, int]:
    """Tag, channels, rate (Hz) and bytes per frame of a `fmt ` chunk."""
    if len(fmt) < 14:
        raise BadAudio(f"WAV with a 'fmt ' chunk of {len(fmt)} bytes, expected 16 or more")
    tag, channels = int.from_bytes(fmt[:2], "little"), int.from_bytes(fmt[2:4], "little")
    rate, frame_bytes = int.from_bytes(fmt[4:8], "little"), int.from_bytes(fmt[12:14], "little")
    bits = int.from_bytes(fmt[14:16], "little")
    if tag == EXTENSIBLE:
        if len(fmt) < 40:
            raise BadAudio(f"WAV of the extensible format with a 'fmt ' chunk of {len(fmt)} bytes, expected 40")
        if fmt[26:40] != _GUID_TAIL:
            raise BadAudio(f"WAV with an unknown sub-format {fmt[24:40].hex()}, expected PCM, float, mu-law or A-law")
        tag = int.from_bytes(fmt[24:26], "little")
    if tag in (PCM, FLOAT, ALAW, MULAW):
        expected = channels * -(-bits // 8)
        if not expected or (tag == PCM and bits > 32):
            raise BadAudio(f"WAV with {channels} channels of {bits} bits; expected at least 1 channel of 8 to 32 bits")
        frame_bytes = frame_bytes if frame_bytes and frame_bytes % channels == 0 else expected
    return tag, channels, rate, frame_bytes
