"""The format of a Kinesis record: a piece of one live stream's audio, as JSON or with a header of 20 bytes.

JSON, for producers that would rather not pack bytes:

    {"encoding": "pcm_s16le", "rate": 16000, "channels": 1, "position": 3200, "last": false, "audio": "<base64>"}

Binary, little-endian, then the audio as it is:

    offset  size  field
         0     4  "UTA1"
         4     1  encoding: 0 pcm_s16le, 1 pcm_mulaw, 2 pcm_alaw, 3 pcm_f32le
         5     1  channels, interleaved
         6     2  flags: bit 0 is set in the last record of the stream
         8     4  rate, Hz
        12     8  position: samples per channel before this record

The partition key names the stream. `position` says where a record belongs: what was heard already is passed over, so
a producer may send anything again, and what is missing is noticed.
"""

from __future__ import annotations

import json
import struct
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Any

from speech.errors import BadInput

from cloud.live.audio_format import ENCODINGS, AudioFormat

MAGIC = b"UTA1"
LAST = 1
MOST_POSITION = 2**53  # samples; what JSON's numbers hold exactly
_HEAD = struct.Struct("<4sBBHIQ")
_FIELDS = {"encoding", "rate", "channels", "position", "last", "audio"}


class BadFrame(BadInput):
    """A record that is not a frame of audio."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One record's audio. Raises BadFrame (or BadAudio, of the format) for what cannot be one."""

    format: AudioFormat
    position: int  # samples per channel before it
    audio: bytes  # interleaved, whole frames
    last: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.position < MOST_POSITION:
            raise BadFrame(f"position must be 0 to {MOST_POSITION - 1} samples; got {self.position}")
        self.format.check(self.audio)

    @property
    def samples(self) -> int:
        """Per channel."""
        return len(self.audio) // self.format.frame_bytes

    def pack(self) -> bytes:
        """With the binary header."""
        kind, flags = ENCODINGS.index(self.format.encoding), LAST if self.last else 0
        return _HEAD.pack(MAGIC, kind, self.format.channels, flags, self.format.rate, self.position) + self.audio

    def to_json(self) -> bytes:
        """As JSON."""
        values = {"encoding": self.format.encoding, "rate": self.format.rate, "channels": self.format.channels}
        audio = b64encode(self.audio).decode()
        return json.dumps(values | {"position": self.position, "last": self.last, "audio": audio}).encode()


def parse(data: bytes) -> Frame:
    """The frame of a record's data. Raises BadFrame or BadAudio, naming what is wrong and what was expected."""
    if data[:4] == MAGIC:
        return _binary(data)
    if data[:1] == b"{":
        return _from_json(data)
    raise BadFrame(f"a record begins with {MAGIC.decode()} or is a JSON object; got {data[:8]!r}")


def _binary(data: bytes) -> Frame:
    if len(data) < _HEAD.size:
        raise BadFrame(f"the header has {_HEAD.size} bytes; got {len(data)}")
    _, kind, channels, flags, rate, position = _HEAD.unpack_from(data)
    if kind >= len(ENCODINGS) or flags & ~LAST:
        raise BadFrame(f"encoding must be 0 to {len(ENCODINGS) - 1} and flags 0 or {LAST}; got {kind} and {flags}")
    return Frame(AudioFormat(ENCODINGS[kind], rate, channels), position, data[_HEAD.size :], bool(flags & LAST))


def _from_json(data: bytes) -> Frame:
    try:
        values: dict[str, Any] = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadFrame(f"expected a JSON object: {str(error)[:80]}") from None
    if unknown := sorted(set(values) - _FIELDS):
        raise BadFrame(f"unknown field {unknown[0][:40]!r}; a record has {', '.join(sorted(_FIELDS))}")
    position, last, text = values.get("position"), values.get("last", False), values.get("audio", "")
    if type(position) is not int or type(last) is not bool or not isinstance(text, str):
        raise BadFrame("expected a whole number as position, true or false as last, and base64 as audio")
    audio_format = AudioFormat(values.get("encoding", "pcm_s16le"), values.get("rate"), values.get("channels", 1))  # type: ignore[arg-type]  # it looks for itself
    try:
        return Frame(audio_format, position, b64decode(text, validate=True), last)
    except ValueError as error:  # binascii's
        raise BadFrame(f"audio must be base64: {error}") from None
