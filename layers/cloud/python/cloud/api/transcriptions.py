"""`POST /v1/audio/transcriptions`: a recording in a form becomes text, as OpenAI's clients ask for it."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Literal

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response, content_types
from aws_lambda_powertools.event_handler.openapi.params import File, Form, UploadFile
from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse
from speech.text.word_filter import Method

from cloud import outputs
from cloud.api import answers, catalogue, clips, hints, limits
from cloud.api.document import errors
from cloud.api.errors import ApiError
from cloud.deadline import Deadline
from cloud.decoding import Decoder
from cloud.observability import count_recording
from cloud.settings import ApiSettings

if TYPE_CHECKING:
    from speech.asr.recognizer import Recognizer
    from speech.text.transcript import Transcript

Format = Literal["json", "text", "srt", "verbose_json", "vtt"]
Granularity = Literal["word", "segment"]
STATUSES = (HTTPStatus.NOT_FOUND, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
DESCRIPTION = """Speech to text while you wait, for clips of up to {clip_s} seconds and {most_bytes} bytes; several
channels are averaged. For larger or longer recordings: `POST /v1/uploads`."""
PROMPT = """Words to listen for: phrases between commas (`Zyntrix, Amber Falcon`), and the names in longer sentences.
What cannot be said is passed over."""
VOCABULARY = """Beyond OpenAI's fields: words and phrases to listen for, one a line, with pronunciations in IPA after
tabs, or as a JSON list of phrases and of objects with `phrase`, `pronunciations`, `written`. At most 500."""
FILTER = "Beyond OpenAI's fields: words to hide, between commas or one a line."


def add(api: APIGatewayRestResolver, settings: ApiSettings, recognizer: Recognizer) -> None:
    """The route, answered by one recogniser."""
    decoder = Decoder(settings.convert_function, settings.output_bucket, settings.work_prefix)
    described = DESCRIPTION.format(clip_s=settings.clip_s, most_bytes=limits.MOST_BYTES)

    @api.post(
        "/v1/audio/transcriptions",
        summary="Transcribe a clip",
        description=described,
        tags=["Audio"],
        responses=errors(*STATUSES) | {int(HTTPStatus.OK): _success()},
    )
    def transcribe(
        file: Annotated[
            UploadFile,
            File(description="WAV, FLAC, Ogg, MP3, M4A, MP4, WebM, AMR, AAC, AIFF and more, known by its content."),
        ],
        model: Annotated[str, Form(description="As in `GET /v1/models`; `whisper-1` stands for it.")],
        language: Annotated[str | None, Form(description="`en`, or left out.")] = None,
        prompt: Annotated[str | None, Form(description=PROMPT)] = None,
        vocabulary: Annotated[str | None, Form(description=VOCABULARY)] = None,
        vocabulary_filter: Annotated[str | None, Form(description=FILTER)] = None,
        vocabulary_filter_method: Annotated[Method, Form(description="mask (`***`), remove, or tag")] = "mask",
        response_format: Annotated[Format, Form()] = "json",
        temperature: Annotated[
            float | None, Form(ge=0, le=1, description="Taken and not used: nothing is sampled.")
        ] = None,
        granularities: Annotated[
            list[Granularity] | Granularity | None,
            Form(alias="timestamp_granularities[]", description="Of `verbose_json`; `segment` when left out."),
        ] = None,
        stream: Annotated[bool | None, Form(description="Only `false`: live text comes by WebSocket.")] = None,
    ) -> Response[Any]:
        _check_texts(
            model=model,
            language=language,
            prompt=prompt,
            vocabulary=vocabulary,
            vocabulary_filter=vocabulary_filter,
        )
        _check_choices(granularities, response_format, stream)
        catalogue.check(model, settings.asr_bundle)
        _check_language(language, recognizer.language)
        wishes = hints.options(recognizer, prompt, vocabulary, vocabulary_filter, vocabulary_filter_method)
        deadline = Deadline(api.lambda_context, margin_s=limits.MARGIN_S)
        transcript = clips.transcribe(recognizer, decoder, file.content, settings.clip_s, deadline.passed, wishes)
        count_recording(transcript.duration_s, deadline.spent_s)
        # a field that was sent once comes alone
        times = [granularities] if isinstance(granularities, str) else granularities or ["segment"]
        return rendered(transcript, response_format, times)


def rendered(transcript: Transcript, name: Format, granularities: list[Granularity]) -> Response[Any]:
    """A transcript in one of the formats."""
    if name == "json":
        return Response(HTTPStatus.OK, content_types.APPLICATION_JSON, answers.plain(transcript))
    if name == "verbose_json":
        return Response(HTTPStatus.OK, content_types.APPLICATION_JSON, answers.verbose(transcript, granularities))
    if name == "text":
        return Response(HTTPStatus.OK, outputs.CONTENT_TYPES["txt"], answers.text_of(transcript) + "\n")
    return Response(HTTPStatus.OK, outputs.CONTENT_TYPES[name], outputs.render(name, transcript, "", ""))


def _check_texts(**fields: object) -> None:
    """Powertools validates no part that has a file's name, whatever was asked for."""
    for name, value in fields.items():
        if isinstance(value, UploadFile):
            raise ApiError(
                HTTPStatus.BAD_REQUEST, f"{name}: expected text, got a file", code="invalid_type", param=name
            )


def _check_choices(granularities: object, response_format: str, stream: bool | None) -> None:
    if granularities and response_format != "verbose_json":
        message = f"times are part of response_format verbose_json, not of {response_format}"
        raise ApiError(HTTPStatus.BAD_REQUEST, message, code="invalid_value", param="timestamp_granularities[]")
    if stream:
        message = (
            "stream: this endpoint answers at once, when the whole clip is transcribed; live text comes by WebSocket"
        )
        raise ApiError(HTTPStatus.BAD_REQUEST, message, code="unsupported_value", param="stream")


def _check_language(asked: str | None, spoken: str) -> None:
    """`spoken`: what the model knows, as "en-US"."""
    code = spoken.split("-", maxsplit=1)[0]
    if asked is None or asked.lower().split("-", maxsplit=1)[0] in (code, answers.LANGUAGE_NAMES.get(code)):
        return
    message = f"language: {asked[:40]!r} is not known here, only {code!r} is"
    raise ApiError(HTTPStatus.BAD_REQUEST, message, code="unsupported_language", param="language")


def _success() -> OpenAPIResponse:
    text = {"schema": {"type": "string"}}
    kinds = {name.split(";")[0]: text for key, name in outputs.CONTENT_TYPES.items() if key != "json"}
    form = {"schema": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}}
    content: dict[str, Any] = {"application/json": form, **kinds}
    return OpenAPIResponse(description="The text, in the format asked for", content=content)
