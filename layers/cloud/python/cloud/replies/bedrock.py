"""A model of Amazon Bedrock, by its Converse API, which is the same for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from botocore.eventstream import ParserError
from botocore.exceptions import BotoCoreError, ClientError, EventStreamError
from urllib3.exceptions import HTTPError

from cloud.clients import client
from cloud.replies.cancelling import Cancelling
from cloud.replies.conversation import alternating
from cloud.replies.responder import Question, Refused, Unavailable

ROLES = {"caller": "user", "reply": "assistant"}
LASTING = ("ValidationException", "AccessDeniedException", "ResourceNotFoundException", "UnrecognizedClientException")
CONNECTIONS = 64


@dataclass(frozen=True, slots=True)
class Bedrock:
    """A model, or an inference profile."""

    model: str  # id or ARN
    system: str = ""
    most_tokens: int = 400  # of an answer
    silence_s: float = 30.0  # without a byte; whoever listens may have less patience

    def answer(self, question: Question) -> BedrockAnswer:
        """An answer to the last turn; the request is sent when it is read."""
        messages = [{"role": ROLES[who], "content": [{"text": said}]} for who, said in alternating(question.turns)]
        request: dict[str, Any] = {
            "modelId": self.model,
            "messages": messages,
            "inferenceConfig": {"maxTokens": self.most_tokens},
        }
        if self.system:
            request["system"] = [{"text": self.system}]
        return BedrockAnswer(request, self.silence_s)


class BedrockAnswer(Cancelling):
    """One ConverseStream."""

    def __init__(self, request: dict[str, Any], silence_s: float) -> None:
        super().__init__()
        self._request, self._silence_s = request, silence_s

    def __iter__(self) -> Iterator[str]:
        """The text of its deltas; a model's reasoning is not for the caller's ears."""
        service = client("bedrock-runtime", "", self._silence_s, CONNECTIONS)
        try:
            stream = service.converse_stream(**self._request)["stream"]
            with self.interruptible(stream._raw_stream.shutdown):
                yield from self._texts(stream)
        except (ClientError, EventStreamError) as error:
            raise _refused(self._request["modelId"], error) from error
        except (BotoCoreError, ParserError, HTTPError, OSError, ValueError) as error:
            if not self.cancelled:
                raise Unavailable(f"Converse with {self._request['modelId']}: {error}") from error

    def _texts(self, stream: Any) -> Iterator[str]:
        try:
            for event in stream:
                if text := event.get("contentBlockDelta", {}).get("delta", {}).get("text"):
                    yield text
                if "messageStop" in event:
                    return
        finally:
            stream.close()
        if not self.cancelled:
            raise Unavailable(f"Converse with {self._request['modelId']}: the answer broke off before its end")


def _refused(model: str, error: ClientError) -> Refused | Unavailable:
    """An error of the service as one of ours."""
    found = error.response["Error"]
    code = str(found.get("Code", ""))
    said = f"Converse with {model}: {code}: {found.get('Message', '')}"
    if code == "AccessDeniedException":
        said += "; the role needs bedrock:InvokeModelWithResponseStream on the model, and the account access to it"
    return (Refused if code[:1].upper() + code[1:] in LASTING else Unavailable)(said)
