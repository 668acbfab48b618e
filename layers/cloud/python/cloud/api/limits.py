"""What fits through Lambda and the gateway, and the way out for what does not.

A synchronous invocation takes 6 MiB of event, in which a form's bytes stand as base64; API Gateway waits 29 seconds.
Larger or longer recordings go to S3 by `POST /v1/uploads` and are transcribed as jobs.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver

from cloud.api.errors import ApiError

EVENT_BYTES = 6 << 20  # of an invocation's payload (Lambda quotas)
HEAD_BYTES = 128 << 10  # kept for headers, the context and JSON around the body: API Gateway takes 10 KB of headers
MOST_BYTES = (EVENT_BYTES - HEAD_BYTES) * 3 // 4  # of a request's body, and of an answer's
MARGIN_S = 2.0  # of an invocation, kept for the answer
WAY_OUT = "send it by POST /v1/uploads and read its transcript from GET /v1/jobs/{id}/transcript"
SHORTER = "post it to /v1/speech-jobs and read the file's address from GET /v1/jobs/{id}"  # the way out for a text
REFUSAL = "/request-too-large"


def admitted(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """The event, or instead of one whose body would not pass Lambda everywhere that of the route which refuses it.

    The resolver decodes and validates before any code of a route runs; this looks at a length and nothing else.
    """
    body = event.get("body") or ""
    size = len(body) * 3 // 4 if event.get("isBase64Encoded") else len(body)
    if size <= MOST_BYTES:
        return event
    asked = {"size": str(size), "path": str(event.get("path"))}
    return {**event, "path": REFUSAL, "httpMethod": "GET", "body": None, "queryStringParameters": asked}


def add(api: APIGatewayRestResolver) -> None:
    """The route that refuses; the gateway sends nothing there."""

    @api.get(REFUSAL, include_in_schema=False)
    def refuse() -> None:
        asked = api.current_event.query_string_parameters
        way_out, param = (SHORTER, "input") if asked["path"].endswith("/audio/speech") else (WAY_OUT, "file")
        message = f"the request has {asked['size']} bytes, at most {MOST_BYTES} are taken: {way_out}"
        raise ApiError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message, code="request_too_large", param=param)


def too_long(seconds: float | None, most_s: float) -> ApiError:
    """413 for a clip that cannot be transcribed while the gateway waits; `seconds` is None where nobody knows."""
    said = f"the recording lasts {seconds:.0f} s" if seconds is not None else "the recording is too long"
    message = f"{said}, at most {most_s:.0f} s are transcribed while you wait: {WAY_OUT}"
    return ApiError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message, code="audio_too_long", param="file")
