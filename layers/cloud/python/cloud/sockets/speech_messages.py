"""What a client may send about a context, which speaks: open, text, flush, finish and cancel.

{"type": "open", "context": "c", "voice": "heart", "encoding": "pcm_s16le", "rate": 24000, "timestamps": true}
{"type": "text", "context": "c", "sequence": 0, "text": "Your table is booked. "}
{"type": "flush", "context": "c", "sequence": 1}
{"type": "finish", "context": "c", "sequence": 2}
{"type": "cancel", "context": "c", "played_s": 0.8}
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from speech.audio.encoder import RATES

from cloud.sockets import envelope
from cloud.sockets.envelope import FINISH, FLUSH, TEXT, Refused, Step, shown

FIELDS: dict[str, set[str]] = {
    "open": {"voice", "encoding", "rate", "speed", "pitch", "volume", "timestamps", "text", "finish"},
    TEXT: {"sequence", "text"},
    FLUSH: {"sequence"},
    FINISH: {"sequence"},
    "cancel": {"played_s"},
}
ENCODINGS = ("pcm_s16le", "pcm_f32le", "pcm_mulaw", "pcm_alaw")


@dataclass(frozen=True, slots=True)
class Voice:
    """How a context speaks. Ranges of the numbers are the synthesiser's to check."""

    voice: str = ""  # "": the first of the bundle
    encoding: str = "pcm_s16le"
    rate: int = 24_000  # Hz
    speed: float = 1.0
    pitch: float = 0.0  # semitones
    volume: float = 1.0
    timestamps: bool = False


@dataclass(frozen=True, slots=True)
class Open:
    """A new context, perhaps with all that it has to say."""

    name: str
    voice: Voice
    text: str = ""
    finish: bool = False


@dataclass(frozen=True, slots=True)
class Cancel:
    """A context is to be silent at once."""

    name: str
    played_s: float | None = None  # seconds that the listener has heard; None: all that was sent


def parse(context: str, message: dict[str, Any]) -> Open | Step | Cancel:
    """A message whose fields are known ones. Raises Refused, naming what is wrong and what was expected."""
    kind = message["type"]
    if kind == "open":
        return Open(context, _voice(message), _text(message, ""), _flag(message, "finish"))
    if kind == "cancel":
        return Cancel(context, _played(message))
    sequence = envelope.sequence(message)
    try:
        return Step(context, sequence, kind, _text(message).encode() if kind == TEXT else b"")
    except Refused as refused:
        refused.details |= {"sequence": sequence}
        raise


def _voice(message: dict[str, Any]) -> Voice:
    usual = Voice()
    voice, encoding, rate = (
        message.get("voice", ""),
        message.get("encoding", usual.encoding),
        message.get("rate", 24_000),
    )
    if not isinstance(voice, str):
        raise Refused("bad_voice", f"voice must be a name, got {shown(voice)}")
    if encoding not in ENCODINGS:
        raise Refused("bad_format", f"encoding {shown(encoding)} is not known; expected one of {', '.join(ENCODINGS)}")
    if type(rate) is not int or rate not in RATES:
        raise Refused("bad_format", f"rate {shown(rate)} is not known; expected one of {', '.join(map(str, RATES))}")
    speed, pitch, volume = (_number(message, name, getattr(usual, name)) for name in ("speed", "pitch", "volume"))
    return Voice(voice, encoding, rate, speed, pitch, volume, _flag(message, "timestamps"))


def _number(message: dict[str, Any], name: str, default: float) -> float:
    value = message.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e6:
        raise Refused("bad_format", f"{name} must be a number, got {shown(value)}")
    return float(value)


def _played(message: dict[str, Any]) -> float | None:
    value = message.get("played_s")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise Refused("bad_format", f"played_s must be seconds, 0 or more; got {shown(value)}")
    return float(min(value, 1e6))


def _flag(message: dict[str, Any], name: str) -> bool:
    value = message.get(name, False)
    if not isinstance(value, bool):
        raise Refused("bad_format", f"{name} must be true or false, got {shown(value)}")
    return value


def _text(message: dict[str, Any], default: str | None = None) -> str:
    text = message.get("text", default)
    if not isinstance(text, str):
        raise Refused("bad_text", f"text must be a string, got {shown(text)}")
    # Half a surrogate pair, which JSON can write and UTF-8 cannot.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
