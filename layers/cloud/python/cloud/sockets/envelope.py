"""What all messages of a client have in common: size, JSON, a type, a name, a number; and how they are refused."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from speech.errors import BadInput

MOST_BYTES = 32_768  # of a message: API Gateway's largest frame, so that no client needs to fragment
MOST_SEQUENCE = 2**31
AUDIO, FINALIZE, STOP = "audio", "finalize", "stop"  # of a stream
TEXT, FLUSH, FINISH = "text", "flush", "finish"  # of a context
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
class Step:
    """What comes after a start or an open, in order of `sequence`."""

    name: str  # of the stream or context
    sequence: int
    kind: str  # audio, finalize or stop; text, flush or finish
    data: bytes = b""  # audio, or text in UTF-8

    @property
    def named(self) -> dict[str, str]:
        """Whose it is, as records say it."""
        return {"context" if self.kind in (TEXT, FLUSH, FINISH) else "stream": self.name}


def opened(body: str, kinds: Mapping[str, object]) -> dict[str, Any]:
    """The object of a body, whose type is one of `kinds`. Raises Refused."""
    size = len(body.encode("utf-8", "replace"))
    if size > MOST_BYTES:
        raise Refused("message_too_large", f"a message has at most {MOST_BYTES} bytes, one frame; got {size}")
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused("bad_json", f"expected a JSON object: {error}") from None
    if not isinstance(message, dict):
        raise Refused("bad_json", f"expected a JSON object, got {shown(message)}")
    kind = message.get("type")
    if not isinstance(kind, str) or kind not in kinds:
        raise Refused("unknown_type", f"type {shown(kind)} is not known; expected one of {', '.join(kinds)}")
    return message


def name(message: Mapping[str, Any], what: str) -> str:
    """The name of the stream or context. Raises Refused (`bad_stream`, `bad_context`)."""
    value = message.get(what)
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise Refused(f"bad_{what}", f"{what} must be 1 to 64 of A-Z a-z 0-9 _ . -; got {shown(value)}")
    return value


def only_known(message: Mapping[str, Any], what: str, fields: set[str]) -> None:
    """Raises Refused where a message has other fields than `type`, `what` and these."""
    if unknown := sorted(set(message) - fields - {"type", what}):
        known = ", ".join(("type", what, *sorted(fields)))
        raise Refused("unknown_field", f"{message['type']} has no field {shown(unknown[0])}; it has {known}")


def sequence(message: Mapping[str, Any]) -> int:
    """The number of a message. Raises Refused."""
    value = message.get("sequence")
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < MOST_SEQUENCE:
        expected = f"a whole number from 0 to {MOST_SEQUENCE - 1}"
        raise Refused("bad_sequence", f"sequence must be {expected}; got {shown(value)}")
    return value


def shown(value: Any) -> str:
    """A value as an error may quote it: short."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
