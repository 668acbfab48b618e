"""Requests as API Gateway's REST API hands them to a function, and the answers read back."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Any

BOUNDARY = "6d1f2b"


@dataclass(frozen=True)
class Answer:
    """What the function said."""

    status: int
    text: str  # empty where bytes were sent
    headers: dict[str, str]
    content: bytes = b""  # empty where text was sent

    @classmethod
    def of(cls, answer: dict[str, Any]) -> Answer:
        """Reads a proxy integration's answer; names of headers in lower case."""
        headers = {name.lower(): ", ".join(values) for name, values in answer["multiValueHeaders"].items()}
        if answer["isBase64Encoded"]:
            return cls(answer["statusCode"], "", headers, b64decode(answer["body"], validate=True))
        return cls(answer["statusCode"], answer["body"], headers)

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.text)

    @property
    def error(self) -> dict[str, Any]:
        """The error, which has the shape that OpenAI's clients know."""
        found: dict[str, Any] = self.json["error"]
        assert set(self.json) == {"error"}
        assert set(found) == {"message", "type", "param", "code"}
        assert found["message"]
        return found


def request(
    method: str, path: str, body: bytes | str | None = None, query: dict[str, str] | None = None, **headers: str
) -> dict[str, Any]:
    """An event; underscores in names of headers become hyphens. Bytes travel as base64, as binary media types do."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return {
        "resource": "/v1/{proxy+}",
        "path": path,
        "httpMethod": method,
        "headers": named,
        "multiValueHeaders": {name: [value] for name, value in named.items()},
        "queryStringParameters": query,
        "multiValueQueryStringParameters": {name: [value] for name, value in query.items()} if query else None,
        "requestContext": {"stage": "live", "path": f"/live{path}", "requestId": "1f0b", "identity": {}},
        "body": b64encode(body).decode() if isinstance(body, bytes) else body,
        "isBase64Encoded": isinstance(body, bytes),
    }


def form(*parts: tuple[str, str | bytes]) -> bytes:
    """multipart/form-data of (name, text) and (name, bytes of a file)."""
    lines = []
    for name, value in parts:
        file = '; filename="a.wav"\r\nContent-Type: audio/wav' if isinstance(value, bytes) else ""
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'.encode()
        lines.append(head + (value if isinstance(value, bytes) else value.encode()) + b"\r\n")
    return b"".join([*lines, f"--{BOUNDARY}--\r\n".encode()])


def transcription(*parts: tuple[str, str | bytes]) -> dict[str, Any]:
    """A request for a transcription with these fields."""
    content_type = f"multipart/form-data; boundary={BOUNDARY}"
    return request("POST", "/v1/audio/transcriptions", form(*parts), content_type=content_type)
