"""What a document says before its first cluster: EBML header, Info and Tracks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from speech.errors import BadMedia
from speech.media import ebml, ids
from speech.media.events import Track
from speech.media.limits import Limits

TIMECODE_SCALE_NS = 1_000_000  # Matroska's default, and what the service demands: timecodes in milliseconds
_KINDS: dict[int, Literal["audio", "video", "other"]] = {1: "video", 2: "audio"}


def parse_header(data: bytes) -> str:
    """The DocType of an EBML header; BadMedia when it asks for what no Matroska file does."""
    doc_type = "matroska"
    for element, content in ebml.children(data, ids.EBML):
        if element == ids.DOC_TYPE:
            doc_type = ebml.text(content)
            if doc_type not in ("matroska", "webm"):
                raise BadMedia(f"a document of type {doc_type[:40]!r}, expected 'matroska' or 'webm'")
        most = {ids.EBML_MAX_ID_LENGTH: 4, ids.EBML_MAX_SIZE_LENGTH: 8}.get(element)
        if most and (value := ebml.uint(element, content)) > most:
            raise BadMedia(f"{ids.name(element)} is {value}, at most {most} is supported")
    return doc_type


def parse_scale(data: bytes) -> int:
    """Nanoseconds per unit of timecode, from an Info element."""
    for element, content in ebml.children(data, ids.INFO):
        if element == ids.TIMECODE_SCALE:
            if scale := ebml.uint(element, content):
                return scale
            raise BadMedia("TimecodeScale is 0, expected nanoseconds per unit of timecode (1000000)")
    return TIMECODE_SCALE_NS


def parse_tracks(data: bytes, limits: Limits) -> Iterator[Track]:
    """The tracks of a Tracks element, as many as can be read before BadMedia is raised."""
    count = 0
    for element, content in ebml.children(data, ids.TRACKS):
        if element == ids.TRACK_ENTRY:
            count += 1
            if count > limits.tracks:
                raise BadMedia(f"a document with more than {limits.tracks} tracks")
            yield _track(content)


def _track(data: memoryview) -> Track:
    """One TrackEntry."""
    numbers: dict[int, int] = {ids.TRACK_NUMBER: 0, ids.TRACK_TYPE: 0, ids.DEFAULT_DURATION: 0}
    codec, name, private, encoded = "", "", b"", False
    audio: tuple[float, int, int] = (8000.0, 1, 0)
    for element, content in ebml.children(data, ids.TRACK_ENTRY):
        if element in numbers:
            numbers[element] = ebml.uint(element, content)
        elif element == ids.CODEC_ID:
            codec = ebml.text(content)
        elif element == ids.TRACK_NAME:
            name = ebml.text(content)
        elif element == ids.CODEC_PRIVATE:
            private = bytes(content)
        elif element == ids.CONTENT_ENCODINGS:
            encoded = True
        elif element == ids.AUDIO:
            audio = _audio(content)
    number, kind, block_ns = numbers.values()
    if not number:
        raise BadMedia("TrackEntry without a TrackNumber, or with number 0")
    rate, channels, bits = audio
    return Track(number, codec, rate, channels, name, private, _KINDS.get(kind, "other"), bits, block_ns, encoded)


def _audio(data: memoryview) -> tuple[float, int, int]:
    """(rate in Hz, channels, bits) of an Audio element; 8000 Hz mono where it says nothing, as Matroska has it."""
    rate, channels, bits = 8000.0, 1, 0
    for element, content in ebml.children(data, ids.AUDIO):
        if element == ids.SAMPLING_FREQUENCY:
            rate = ebml.real(element, content)
        elif element == ids.CHANNELS:
            channels = ebml.uint(element, content)
        elif element == ids.BIT_DEPTH:
            bits = ebml.uint(element, content)
    return rate, channels, bits
