"""What a client may send: start, audio, finalize and stop, each naming its stream, checked to the last field.

    {"type": "start", "stream": "a", "encoding": "pcm_s16le", "rate": 16000, "channels": 1}
    {"type": "audio", "stream": "a", "sequence": 0, "audio": "<base64>"}
    {"type": "finalize", "stream": "a", "sequence": 1}
    {"type": "stop", "stream": "a", "sequence": 2}

After start, the messages of a stream are numbered from 0; they may arrive in any order and more than once.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from binascii import Error as NotBase64
from dataclasses import dataclass
from typing import Any

from speech.errors import BadAudio, BadInput

from cloud.live.audio_format import AudioFormat

MOST_BYTES = 32_768  # of a message: API Gateway's largest frame, so that no client needs to fragment
MOST_SEQUENCE = 2**31
AUDIO, FINALIZE, STOP = "audio", "finalize", "stop"
_FIELDS = {
    "start": {"encoding", "rate", "channels"},
    AUDIO: {"sequence", "audio"},
    FINALIZE: {"sequence"},
    STOP: {"sequence"},
}
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class Refused(BadInput):
    """A message that changes nothing; `code` is the error's name for programs."""

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code, self.details = code, details

    def record(self) -> dict[str, Any]:
        """As it goes to the client."""
        return {"type": "error", "code": self.code, "message": str(self), **self.details}


@dataclass(frozen=True, slots=True)
class Start:
    """A new stream."""

    stream: str
    format: AudioFormat


@dataclass(frozen=True, slots=True)
class Step:
    """What comes after the start, in order of `sequence`."""

    stream: str
    sequence: int
    kind: str  # audio, finalize or stop
    audio: bytes = b""


def parse(body: str) -> Start | Step:
    """The message of a body. Raises Refused, naming what is wrong with it and what was expected."""
    size = len(body.encode("utf-8", "replace"))
    if size > MOST_BYTES:
        raise Refused("message_too_large", f"a message has at most {MOST_BYTES} bytes, one frame; got {size}")
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused("bad_json", f"expected a JSON object: {error}") from None
    if not isinstance(message, dict):
        raise Refused("bad_json", f"expected a JSON object, got {_shown(message)}")
    kind, stream = message.get("type"), message.get("stream")
    if not isinstance(kind, str) or kind not in _FIELDS:
        raise Refused("unknown_type", f"type {_shown(kind)} is not known; expected one of {', '.join(_FIELDS)}")
    if not isinstance(stream, str) or not _NAME.fullmatch(stream):
        raise Refused("bad_stream", f"stream must be 1 to 64 of A-Z a-z 0-9 _ . -; got {_shown(stream)}")
    try:
        _only_known(kind, message)
        return _start(stream, message) if kind == "start" else _step(stream, kind, message)
    except Refused as refused:
        refused.details |= {"stream": stream}
        raise


def _only_known(kind: str, message: dict[str, Any]) -> None:
    if unknown := sorted(set(message) - _FIELDS[kind] - {"type", "stream"}):
        known = ", ".join(("type", "stream", *sorted(_FIELDS[kind])))
        raise Refused("unknown_field", f"{kind} has no field {_shown(unknown[0])}; it has {known}")


def _start(stream: str, message: dict[str, Any]) -> Start:
    encoding, channels, rate = message.get("encoding", "pcm_s16le"), message.get("channels", 1), message.get("rate")
    try:
        return Start(stream, AudioFormat(encoding, rate, channels))  # type: ignore[arg-type]  # it looks for itself
    except BadAudio as error:
        raise Refused("bad_format", str(error)) from None


def _step(stream: str, kind: str, message: dict[str, Any]) -> Step:
    sequence = message.get("sequence")
    if isinstance(sequence, bool) or not isinstance(sequence, int) or not 0 <= sequence < MOST_SEQUENCE:
        raise Refused(
            "bad_sequence", f"sequence must be a whole number from 0 to {MOST_SEQUENCE - 1}; got {_shown(sequence)}"
        )
    return Step(stream, sequence, kind, _audio(message, sequence) if kind == AUDIO else b"")


def _audio(message: dict[str, Any], sequence: int) -> bytes:
    text = message.get("audio")
    try:
        if not isinstance(text, str):
            raise ValueError(f"got {_shown(text)}")
        return b64decode(text, validate=True)
    except (NotBase64, ValueError) as error:
        raise Refused("bad_audio", f"audio must be base64: {error}", sequence=sequence) from None


def _shown(value: Any) -> str:
    """A value as an error may quote it: short."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
