"""`GET /v1/jobs`, `/v1/jobs/{id}` and `/v1/jobs/{id}/transcript`: what became of recordings and long texts."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from aws_lambda_powertools.event_handler.openapi.params import Path, Query
from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse
from typing_extensions import TypedDict

from cloud import listing, outputs, storage, texts
from cloud.api.document import answers, errors
from cloud.api.errors import ApiError
from cloud.jobs import JobTable

INLINE_BYTES = 5 << 20  # a longer transcript does not pass Lambda's 6 MiB: its reader is sent to S3
VALID_S = 300  # of the address there
AUDIO_VALID_S = 3600  # of the address of an audio file
Status = Literal["AWAITING_UPLOAD", "QUEUED", "IN_PROGRESS", "COMPLETED", "FAILED"]
Format = Literal["json", "srt", "vtt", "txt"]
Audio = Literal["mp3", "opus", "flac", "wav", "pcm"]
JobId = Annotated[
    str, Path(pattern="^[0-9a-f]{32}$", description="As uploads, speech jobs and `GET /v1/jobs` give it.")
]


class JobView(TypedDict, total=False):
    """A job; fields that are not known yet are left out."""

    id: str
    object: Literal["job"]
    status: Status
    kind: Literal["speech"]  # of a text that is spoken; left out for a recording that is transcribed
    recording: str  # s3://bucket/key
    progress: float  # 0 to 1, of a text
    audio: str  # where the file of a text that was spoken can be read, for an hour
    created_at: str  # ISO 8601, UTC
    updated_at: str
    completed_at: str
    audio_seconds: float
    processing_seconds: float
    warnings: list[str]
    reason: str  # of a failure
    formats: list[Format | Audio]  # of the transcript, or of the speech


class JobList(TypedDict):
    """Newest first; `next` goes into `after` to read on, and is null at the end."""

    object: Literal["list"]
    data: list[JobView]
    next: str | None


SHOWN = ("status", "created_at", "updated_at", "completed_at", "audio_seconds", "processing_seconds", "warnings")


def add(api: APIGatewayRestResolver, jobs: JobTable) -> None:
    """Routes that read the job table and the transcripts that it names."""

    @api.get("/v1/jobs", summary="Jobs, newest first", tags=["Jobs"], responses=answers("Some of them"))
    def list_jobs(
        status: Annotated[Status | None, Query(description="Only those in this state.")] = None,
        limit: Annotated[int, Query(ge=1, le=100)] = 20,
        after: Annotated[str | None, Query(max_length=200, description="`next` of the list before.")] = None,
    ) -> JobList:
        page = listing.newest(jobs, [status] if status else listing.STATUSES, limit, after)
        return JobList(object="list", data=[view(item) for item in page.items], next=page.next)

    @api.get("/v1/jobs/<id>", summary="One job", tags=["Jobs"], responses=answers("The job", HTTPStatus.NOT_FOUND))
    def get_job(id: JobId) -> JobView:
        item = _found(jobs, id)
        job = view(item)
        if job.get("kind") == "speech" and item["status"] == "COMPLETED":
            bucket, _, key = str(item["outputs"][0]).removeprefix("s3://").partition("/")
            job["audio"] = storage.download_url(bucket, key, AUDIO_VALID_S)
        return job

    @api.get(
        "/v1/jobs/<id>/transcript",
        summary="The transcript of a job",
        description="`json` is Amazon Transcribe's job document. One of more than 5 MiB is a redirection to S3.",
        tags=["Jobs"],
        responses=errors(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT) | {200: success(), 303: moved()},
    )
    def transcript(id: JobId, format: Annotated[Format, Query()] = "json") -> Response[str]:
        item = _found(jobs, id)
        bucket, key = _location(item, format)
        body = storage.read_up_to(bucket, key, INLINE_BYTES)
        if body is None:
            headers: dict[str, str | list[str]] = {"Location": storage.download_url(bucket, key, VALID_S)}
            return Response(HTTPStatus.SEE_OTHER, body="", headers=headers)
        return Response(HTTPStatus.OK, outputs.CONTENT_TYPES[format], body.decode())


def view(item: dict[str, Any]) -> JobView:
    """What a caller is told of an item of the table."""
    job: Any = {"id": item["id"], "object": "job"}
    if texts.is_text(item["key"]):
        job |= {"kind": "speech"} | {name: item[name] for name in ("progress",) if name in item}
    else:
        job["recording"] = f"s3://{item['bucket']}/{item['key']}"
    job |= {name: item[name] for name in SHOWN if item.get(name) not in (None, [])}
    if item["status"] == "FAILED":
        job["reason"] = item.get("reason", "no reason given")
    if item["status"] == "COMPLETED":
        job["formats"] = sorted(uri.rsplit(".", 1)[-1] for uri in item.get("outputs", []))
    found: JobView = job
    return found


def _found(jobs: JobTable, id: str) -> dict[str, Any]:
    item = jobs.read(id)
    if not item:
        raise ApiError(HTTPStatus.NOT_FOUND, f"no job {id!r} is known, or it is long over", code="job_not_found")
    return item


def _location(item: dict[str, Any], format: str) -> tuple[str, str]:
    """(bucket, key) of a transcript; 409 while or because there is none."""
    status = item["status"]
    if status != "COMPLETED":
        why = f": {item.get('reason')}" if status == "FAILED" else ""
        message = f"job {item['id']} is {status}{why}, so it has no transcript"
        raise ApiError(HTTPStatus.CONFLICT, message, code="not_completed")
    for uri in item.get("outputs", []):
        bucket, _, key = str(uri).removeprefix("s3://").partition("/")
        if key.endswith(f".{format}"):
            return bucket, key
    message = f"the transcript was not written as {format}, only as {', '.join(view(item)['formats'])}"
    raise ApiError(HTTPStatus.NOT_FOUND, message, code="format_not_written", param="format")


def success() -> OpenAPIResponse:
    """Entry of `responses`: a transcript, in any format."""
    kinds: dict[str, Any] = {
        name.split(";")[0]: {"schema": {"type": "string"}} for name in outputs.CONTENT_TYPES.values()
    }
    kinds["application/json"] = {"schema": {"type": "object"}}
    return OpenAPIResponse(description="The transcript", content=kinds)


def moved() -> OpenAPIResponse:
    """Entry of `responses`: a transcript that is too large to pass here."""
    return OpenAPIResponse(description="The transcript is at the address in `Location`, for five minutes")
