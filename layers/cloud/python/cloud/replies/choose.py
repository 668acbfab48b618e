"""Who replies, and how, by the settings of a worker."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cloud import engines
from cloud.live.told import Told
from cloud.replies.bedrock import Bedrock
from cloud.replies.chat import Chat
from cloud.replies.desk import Desk
from cloud.replies.dialogue import Manner
from cloud.replies.echo import Echo
from cloud.replies.function import Function
from cloud.replies.reading import Patience
from cloud.replies.responder import Responder
from cloud.replies.secret import Secret
from cloud.settings import NONE, BadSettings, LiveWorkerSettings, reply_stream

if TYPE_CHECKING:
    from cloud.calls.call import Call
    from cloud.calls.leases import LeaseTable

RATE = 8000  # Hz: of telephones


def desk(settings: LiveWorkerSettings, leases: LeaseTable, tell: Callable[[Call, list[Told]], None]) -> Desk | None:
    """The replies of a worker; None where callers are only listened to. Raises BadSettings, BadBundle or BadInput."""
    found = responder(settings)
    if found is None:
        return None
    voice, encoding = optional(settings.reply_voice) or None, settings.reply_encoding
    synthesizer = engines.synthesizer(settings.models_dir, settings.tts_bundle)
    synthesizer.stream(voice=voice, rate=RATE, encoding=encoding)  # what cannot be spoken is found out now
    manner = Manner(
        found,
        lambda: synthesizer.stream(voice=voice, rate=RATE, encoding=encoding),
        encoding,
        RATE,
        optional(settings.reply_fallback),
        Patience(settings.reply_first_text_s, settings.reply_between_s),
        settings.barge_in_words,
    )
    return Desk(manner, leases, tell, lambda call: reply_stream(settings, call.id))


def responder(settings: LiveWorkerSettings) -> Responder | None:
    """Who answers. Raises BadSettings."""
    address, prompt = optional(settings.responder_address), optional(settings.responder_prompt)
    match settings.responder:
        case "none":
            return None
        case "echo":
            return Echo()
        case "chat" | "bedrock" | "function" if not address:
            raise BadSettings(f"RESPONDER_ADDRESS is none, and a responder {settings.responder} needs one")
        case "chat":
            key = Secret(optional(settings.responder_secret))
            return Chat(address, optional(settings.responder_model), prompt, key, options(settings.responder_options))
        case "bedrock":
            return Bedrock(address, prompt)
        case "function":
            return Function(address)
    raise BadSettings(f"RESPONDER must be none, echo, chat, bedrock or function; got {settings.responder}")


def options(text: str) -> dict[str, Any]:
    """Parameters of a request, as temperature. Raises BadSettings."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise BadSettings(f"RESPONDER_OPTIONS is {text[:60]!r}, expected JSON") from error
    if not isinstance(found, dict):
        raise BadSettings(f"RESPONDER_OPTIONS is {text[:60]!r}, expected a JSON object")
    return found


def optional(text: str) -> str:
    """A value that may be none."""
    return "" if text == NONE else text
