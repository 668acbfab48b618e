"""`POST /v1/audio/speech`: text becomes sound, as OpenAI's clients ask for it; `GET /v1/audio/voices`: whose."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse
from pydantic import Field
from speech.tts.prosody import FASTEST, SLOWEST
from typing_extensions import TypedDict

from cloud.api import catalogue, limits, spoken
from cloud.api.document import answers, errors
from cloud.api.errors import ApiError
from cloud.api.voices import Voice, Voices
from cloud.deadline import Deadline
from cloud.observability import count_speech

Format = Literal["mp3", "opus", "flac", "wav", "pcm"]
STATUSES = (HTTPStatus.NOT_FOUND, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
DESCRIPTION = f"""Text to speech while you wait: some {spoken.MOST_S:.0f} seconds of mp3 or opus, or
{limits.MOST_BYTES / spoken.FORMS["wav"].bytes_per_s:.0f} seconds of the other formats, all in one channel. Longer
texts are refused before any work; {limits.SHORTER}."""


@dataclass
class SpeechRequest:
    """What to say, and how."""

    model: Annotated[str, Field(description="As in `GET /v1/models`; `tts-1` stands for it.")]
    input: Annotated[str, Field(min_length=1, description="Plain text.")]
    voice: Annotated[
        str, Field(description="As in `GET /v1/audio/voices`; OpenAI's names all stand for the first of these.")
    ]
    response_format: Annotated[Format, Field(description="`pcm`: 16 bits, little-endian, at the voice's rate.")] = "mp3"
    speed: Annotated[float, Field(ge=SLOWEST, le=FASTEST, description="Times the voice's own.")] = 1.0
    instructions: Annotated[str | None, Field(description="Refused: the voice follows none.")] = None
    stream_format: Annotated[Literal["audio"], Field(description="The bytes of the file; `sse` is refused.")] = "audio"


class VoiceList(TypedDict):
    """All of them."""

    object: Literal["list"]
    data: list[Voice]


def add(api: APIGatewayRestResolver, voices: Voices) -> None:
    """The routes, answered by the voices of one bundle."""

    @api.get(
        "/v1/audio/voices", summary="The voices", tags=["Audio"], responses=answers("All of them, the usual one first")
    )
    def listed() -> VoiceList:
        return VoiceList(object="list", data=voices.listed())

    @api.post(
        "/v1/audio/speech",
        summary="Speak a text",
        description=DESCRIPTION,
        tags=["Audio"],
        responses=errors(*STATUSES) | {int(HTTPStatus.OK): _success()},
    )
    def speak(request: Annotated[SpeechRequest, Body()]) -> Response[Any]:
        catalogue.check(request.model, voices.bundle, catalogue.VOICE_ALIASES)
        if request.instructions:
            message = "instructions: the voice follows none; speed and punctuation are what it goes by"
            raise ApiError(HTTPStatus.BAD_REQUEST, message, code="unsupported_value", param="instructions")
        voice, form = voices.named(request.voice), request.response_format
        deadline = Deadline(api.lambda_context, margin_s=limits.MARGIN_S)
        said = spoken.speak(voices, request.input, voice, form, request.speed, deadline.passed)
        count_speech(said.seconds, len(request.input), deadline.spent_s)
        return _binary(spoken.FORMS[form].content_type, said.audio)


def _binary(content_type: str, content: bytes) -> Response[Any]:
    """Powertools' check of answers takes bytes for text, so they are encoded before it."""
    response = Response(HTTPStatus.OK, content_type, b64encode(content).decode())
    response.base64_encoded = True
    return response


def _success() -> OpenAPIResponse:
    content: dict[str, Any] = {
        form.content_type: {"schema": {"type": "string", "format": "binary"}} for form in spoken.FORMS.values()
    }
    return OpenAPIResponse(description="The file, in the format asked for", content=content)
