"""`POST /v1/speech-jobs`: a text of any length becomes a job, whose audio file lies in S3 when it is done."""

from __future__ import annotations

import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import APIGatewayRestResolver
from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field
from speech.tts.prosody import FASTEST, SLOWEST

from cloud import queues
from cloud.api import catalogue
from cloud.api.document import answers
from cloud.api.errors import ApiError
from cloud.api.jobs import JobView
from cloud.api.speech import Format
from cloud.api.voices import Voices
from cloud.jobs import JobTable
from cloud.recordings import handover
from cloud.settings import ApiSettings
from cloud.texts import Text

MOST_CHARACTERS = 250_000  # some five hours of speech, half an hour of work
REFUSALS = (HTTPStatus.NOT_FOUND, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
DESCRIPTION = f"""Up to {MOST_CHARACTERS:,} characters, some five hours of speech. Ask `/v1/jobs/{{id}}` how far it is;
once it is completed, `audio` there is the address of the file."""


@dataclass
class SpeechJobRequest:
    """What to say, and how."""

    model: Annotated[str, Field(description="As in `GET /v1/models`; `tts-1` stands for it.")]
    input: Annotated[str, Field(min_length=1, description="Plain text.")]
    voice: Annotated[str, Field(description="As in `GET /v1/audio/voices`.")]
    response_format: Annotated[Format, Field(description="Of the file.")] = "mp3"
    speed: Annotated[float, Field(ge=SLOWEST, le=FASTEST, description="Times the voice's own.")] = 1.0


def add(api: APIGatewayRestResolver, settings: ApiSettings, voices: Voices, jobs: JobTable) -> None:
    """The route; texts go to the output bucket's work and to the queue of the function that speaks them."""

    @api.post(
        "/v1/speech-jobs",
        summary="Speak a long text",
        description=DESCRIPTION,
        tags=["Jobs"],
        status_code=HTTPStatus.ACCEPTED,
        responses=answers("The job", *REFUSALS, status=HTTPStatus.ACCEPTED),
    )
    def speak(request: Annotated[SpeechJobRequest, Body()]) -> JobView:
        catalogue.check(request.model, voices.bundle, catalogue.VOICE_ALIASES)
        if len(request.input) > MOST_CHARACTERS:
            message = f"input: it has {len(request.input)} characters, at most {MOST_CHARACTERS} make one job"
            raise ApiError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message, code="text_too_long", param="input")
        if not any(character.isalnum() for character in request.input):
            message = "input: there is nothing in it that can be spoken; expected words"
            raise ApiError(HTTPStatus.BAD_REQUEST, message, code="nothing_to_say", param="input")
        text = Text(request.input, voices.named(request.voice), request.response_format, request.speed)
        source, now_s = text.put(settings.output_bucket, settings.work_prefix), time.time()
        jobs.expect(source.job_id, source.bucket, source.key, now_s, status="QUEUED")
        queues.send(settings.speech_queue_url, handover(source))
        return JobView(id=source.job_id, object="job", kind="speech", status="QUEUED")
