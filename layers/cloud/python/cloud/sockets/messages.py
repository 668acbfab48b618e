"""What a client may send: messages of streams and of contexts, each naming its own, checked to the last field.

    {"type": "start", "stream": "a", "encoding": "pcm_s16le", "rate": 16000, "channels": 1, "vocabulary": ["Zyntrix"]}
    {"type": "audio", "stream": "a", "sequence": 0, "audio": "<base64>"}
    {"type": "finalize", "stream": "a", "sequence": 1}
    {"type": "stop", "stream": "a", "sequence": 2}

After start, the messages of a stream are numbered from 0; they may arrive in any order and more than once.
Those of contexts are in `speech_messages`, those about live calls in `watching`.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from dataclasses import dataclass
from typing import Any

from speech.asr.options import StreamOptions
from speech.errors import BadAudio, BadVocabulary

from cloud.live.audio_format import AudioFormat
from cloud.sockets import envelope, speech_messages, watching
from cloud.sockets.envelope import AUDIO, FINALIZE, STOP, Refused, Step, shown
from cloud.sockets.speech_messages import Cancel, Open
from cloud.sockets.watching import Watch

_WISHES = ("vocabulary", "vocabulary_filter", "vocabulary_filter_method")
_FIELDS = {
    "start": {"encoding", "rate", "channels", *_WISHES},
    AUDIO: {"sequence", "audio"},
    FINALIZE: {"sequence"},
    STOP: {"sequence"},
}
_KINDS = {**_FIELDS, **speech_messages.FIELDS, **watching.FIELDS}


@dataclass(frozen=True, slots=True)
class Start:
    """A new stream."""

    name: str
    format: AudioFormat
    options: StreamOptions | None = None


def parse(body: str) -> Start | Open | Step | Cancel | Watch:
    """The message of a body. Raises Refused, naming what is wrong with it and what was expected."""
    message = envelope.opened(body, _KINDS)
    what = "stream" if message["type"] in _FIELDS else "call" if message["type"] in watching.FIELDS else "context"
    name = envelope.name(message, what)
    try:
        envelope.only_known(message, what, _KINDS[message["type"]])
        if what == "call":
            return Watch(name, on=message["type"] == "watch")
        return _parse(name, message) if what == "stream" else speech_messages.parse(name, message)
    except Refused as refused:
        refused.details |= {what: name}
        raise


def _parse(stream: str, message: dict[str, Any]) -> Start | Step:
    if message["type"] == "start":
        return _start(stream, message)
    sequence = envelope.sequence(message)
    data = _audio(message, sequence) if message["type"] == AUDIO else b""
    return Step(stream, sequence, message["type"], data)


def _start(stream: str, message: dict[str, Any]) -> Start:
    encoding, channels, rate = message.get("encoding", "pcm_s16le"), message.get("channels", 1), message.get("rate")
    try:
        audio = AudioFormat(encoding, rate, channels)  # type: ignore[arg-type]  # it looks for itself
        return Start(stream, audio, _options(message))
    except BadAudio as error:
        raise Refused("bad_format", str(error)) from None
    except BadVocabulary as error:
        raise Refused("bad_vocabulary", str(error)) from None


def _options(message: dict[str, Any]) -> StreamOptions | None:
    wishes = {name: message[name] for name in _WISHES if message.get(name) is not None}
    return StreamOptions.read(wishes) if wishes else None


def _audio(message: dict[str, Any], sequence: int) -> bytes:
    text = message.get("audio")
    try:
        if not isinstance(text, str):
            raise ValueError(f"got {shown(text)}")
        return b64decode(text, validate=True)
    except (NotBase64, ValueError) as error:
        raise Refused("bad_audio", f"audio must be base64: {error}", sequence=sequence) from None
