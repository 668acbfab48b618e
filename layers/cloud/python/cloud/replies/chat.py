"""An OpenAI-compatible chat endpoint: OpenAI itself, gateways to Bedrock, vLLM, Ollama, llama.cpp and others.

`POST {url}/chat/completions` with `stream`: server-sent events with deltas, "[DONE]" at the end. Servers that do not
stream, and answer with one JSON object, are understood too.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import urllib3
from urllib3.exceptions import HTTPError

from cloud.replies.cancelling import Cancelling
from cloud.replies.conversation import alternating
from cloud.replies.responder import Question, Refused, Unavailable, refused_or_unavailable
from cloud.replies.sse import SseParser

ROLES = {"caller": "user", "reply": "assistant"}
CONNECTIONS = 64  # side by side, kept open between answers
_PIECE = 1 << 14
MOST_BYTES = 1 << 20  # of an answer that is not streamed


def _pool() -> urllib3.PoolManager:
    return urllib3.PoolManager(maxsize=CONNECTIONS, block=False)


@dataclass(frozen=True, slots=True)
class Chat:
    """A model behind such an endpoint."""

    url: str  # up to and without /chat/completions: "https://api.openai.com/v1", "http://127.0.0.1:11434/v1"
    model: str
    system: str = ""  # tells the model what it is; "" for none
    key: Callable[[], str] = lambda: ""  # for the header Authorization; "" for none
    more: Mapping[str, Any] = field(default_factory=dict)  # of the request: temperature, max_tokens, ...
    connect_s: float = 3.0
    silence_s: float = 30.0  # without a byte; whoever listens may have less patience
    pool: urllib3.PoolManager = field(default_factory=_pool)

    def answer(self, question: Question) -> ChatAnswer:
        """An answer to the last turn; the request is sent when it is read."""
        system = [{"role": "system", "content": self.system}] if self.system else []
        messages = [{"role": ROLES[who], "content": said} for who, said in alternating(question.turns)]
        request = {**self.more, "model": self.model, "messages": system + messages, "stream": True}
        return ChatAnswer(self, json.dumps(request).encode())


class ChatAnswer(Cancelling):
    """One streamed completion."""

    def __init__(self, chat: Chat, request: bytes) -> None:
        super().__init__()
        self._chat, self._request = chat, request

    def __iter__(self) -> Iterator[str]:
        """The content of its deltas."""
        try:
            response = self._send()
            with self.interruptible(response.shutdown):
                yield from self._texts(response)
        except (HTTPError, OSError, ValueError) as error:
            if not self.cancelled:
                raise Unavailable(f"{self._chat.url}: {error}") from error

    def _send(self) -> urllib3.BaseHTTPResponse:
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        if key := self._chat.key():
            headers["Authorization"] = f"Bearer {key}"
        return self._chat.pool.request(
            "POST",
            f"{self._chat.url.rstrip('/')}/chat/completions",
            body=self._request,
            headers=headers,
            timeout=urllib3.Timeout(connect=self._chat.connect_s, read=self._chat.silence_s),
            retries=False,
            preload_content=False,
            decode_content=True,
        )

    def _texts(self, response: urllib3.BaseHTTPResponse) -> Iterator[str]:
        whole = False
        try:
            if response.status != 200:
                raise refused_or_unavailable(response.status, _error(response.read1(_PIECE)))
            if response.headers.get("Content-Type", "").startswith("application/json"):
                yield _content(_parsed(_all(response)), "message")
            else:
                yield from self._deltas(response)
            whole = not self.cancelled
        finally:
            if whole:
                # The end of the answer does not wait for that of the body.
                threading.Thread(target=_give_back, args=(response,), name="give back", daemon=True).start()
            else:
                response.close()

    def _deltas(self, response: urllib3.BaseHTTPResponse) -> Iterator[str]:
        parser, finished = SseParser(), False
        while data := response.read1(_PIECE):
            for event in parser.receive(data):
                if event.strip() == "[DONE]":
                    return
                record = _parsed(event)
                if text := _content(record, "delta"):
                    yield text
                finished = finished or any(choice.get("finish_reason") for choice in record.get("choices") or ())
        if not finished and not self.cancelled:
            raise Unavailable(f"{self._chat.url}: the answer broke off before its end")


def _give_back(response: urllib3.BaseHTTPResponse) -> None:
    """Keep the connection, for the next answer to save a handshake."""
    response.drain_conn()
    response.release_conn()


def _all(response: urllib3.BaseHTTPResponse) -> str:
    data = bytearray()
    while piece := response.read1(_PIECE):
        data += piece
        if len(data) > MOST_BYTES:
            raise Refused(f"an answer of more than {MOST_BYTES} bytes")
    return data.decode(errors="replace")


def _parsed(text: str) -> dict[str, Any]:
    """A JSON object that tells of no error."""
    try:
        record = json.loads(text)
    except ValueError as error:
        raise Refused(f"the responder sent {text[:80]!r}, expected JSON") from error
    if not isinstance(record, dict):
        raise Refused(f"the responder sent {text[:80]!r}, expected a JSON object")
    if told := record.get("error"):
        raise Unavailable(f"the responder says: {str(told)[:200]}")
    return record


def _content(record: dict[str, Any], part: str) -> str:
    """The text of the first choice; "" for records that have none, as the one that counts tokens."""
    for choice in record.get("choices") or ():
        found = choice.get(part) if isinstance(choice, dict) else None
        content = found.get("content") if isinstance(found, dict) else None
        return content if isinstance(content, str) else ""
    return ""


def _error(body: bytes) -> str:
    """What a refusal says, in one line."""
    return " ".join(body.decode(errors="replace").split())
