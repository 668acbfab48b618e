"""A Lambda function that answers: any logic, any model, in any language.

It is invoked with `{"version": 1, "call": ..., "turns": [{"who": "caller"|"reply", "text": ..., "interrupted": ...}]}`.
A function that streams its response sends text as it comes. Others return a JSON string, or an object with `text`.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from botocore.eventstream import ParserError
from botocore.exceptions import BotoCoreError, ClientError
from urllib3.exceptions import HTTPError

from cloud.clients import client
from cloud.replies.cancelling import Cancelling
from cloud.replies.responder import Question, Refused, Unavailable

LASTING = ("ResourceNotFoundException", "AccessDeniedException", "InvalidParameterValueException")
CONNECTIONS = 64


@dataclass(frozen=True, slots=True)
class Function:
    """A function by its name or ARN, with alias or version if wanted."""

    name: str
    silence_s: float = 30.0  # without a byte; whoever listens may have less patience

    def answer(self, question: Question) -> FunctionAnswer:
        """An answer to the last turn; the function is invoked when it is read."""
        event = {"version": 1, "call": question.call, "turns": [asdict(turn) for turn in question.turns]}
        return FunctionAnswer(self, json.dumps(event).encode())


class FunctionAnswer(Cancelling):
    """One invocation."""

    def __init__(self, function: Function, event: bytes) -> None:
        super().__init__()
        self._function, self._event = function, event

    def __iter__(self) -> Iterator[str]:
        """Its text."""
        service = client("lambda", "", self._function.silence_s, CONNECTIONS)
        try:
            answer = service.invoke_with_response_stream(FunctionName=self._function.name, Payload=self._event)
            stream = answer["EventStream"]
            with self.interruptible(stream._raw_stream.shutdown):
                yield from self._texts(stream)
        except ClientError as error:
            raise self._refused(error) from error
        except (BotoCoreError, ParserError, HTTPError, OSError, ValueError) as error:
            if not self.cancelled:
                raise Unavailable(f"function {self._function.name}: {error}") from error

    def _texts(self, stream: Any) -> Iterator[str]:
        decoder, held, complete = codecs.getincrementaldecoder("utf-8")("replace"), "", False
        plain = False  # it does not begin as JSON does, so that pieces can be given as they come
        try:
            for event in stream:
                held += decoder.decode(event.get("PayloadChunk", {}).get("Payload", b""))
                plain = plain or held.lstrip()[:1] not in ("", "{", '"')
                if end := event.get("InvokeComplete"):
                    self._check(end, held)
                complete = complete or "InvokeComplete" in event
                if plain and held:
                    yield held
                    held = ""
        finally:
            stream.close()
        if not complete and not self.cancelled:
            raise Unavailable(f"function {self._function.name}: the answer broke off before its end")
        if held:
            yield _text(held)

    def _check(self, end: dict[str, Any], said: str) -> None:
        """Raises what the end of an invocation tells of."""
        if code := end.get("ErrorCode"):
            detail = str(end.get("ErrorDetails") or said)[:200]
            raise Unavailable(f"function {self._function.name} failed: {code}: {detail}")

    def _refused(self, error: ClientError) -> Refused | Unavailable:
        found = error.response["Error"]
        code = str(found.get("Code", ""))
        needs = "; the role needs lambda:InvokeFunction on it" if code == "AccessDeniedException" else ""
        said = f"function {self._function.name}: {code}: {found.get('Message', '')}{needs}"
        return (Refused if code in LASTING else Unavailable)(said)


def _text(payload: str) -> str:
    """What of a whole response is to be said."""
    try:
        record = json.loads(payload)
    except ValueError:
        return payload  # text that begins with a quotation mark
    found = record.get("text") if isinstance(record, dict) else record
    if found is None and isinstance(record, dict) and "errorMessage" not in record:
        raise Refused(f"the function returned {payload[:80]!r}, expected a string or an object with `text`")
    if not isinstance(found, str):
        raise Unavailable(f"the function returned {payload[:200]!r}, expected a string or an object with `text`")
    return found
