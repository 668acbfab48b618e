"""`POST /v1/uploads`: a form that puts one recording of any length straight into S3, where a job takes it up.

The form is signed for one key, one content type and a range of sizes, and S3 holds the caller to them. The job that
will transcribe it is in the table from the start, so that it can be asked for before the upload is over.
"""

from __future__ import annotations

import re
import time
import uuid
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Literal

from aws_lambda_powertools.event_handler import APIGatewayRestResolver
from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field
from typing_extensions import TypedDict

from cloud import storage
from cloud.api.document import answers
from cloud.jobs import JobTable
from cloud.recordings import UPLOADS, upload_job_id
from cloud.settings import ApiSettings

VALID_S = 3600  # of a form
NAME = re.compile(r"[^\w.+ -]+")  # what a file's name may not bring into a key


@dataclass
class UploadRequest:
    """What will be sent."""

    filename: Annotated[str, Field(min_length=1, max_length=200, description="Becomes the end of the object's key.")]
    content_type: Annotated[
        str, Field(pattern=r"^(audio|video)/[\w.+-]{1,100}$", description="Of the file; the upload must say the same.")
    ]


class Upload(TypedDict):
    """Where to send it: a form with these fields and, last, the file as `file`, within an hour."""

    id: str  # of the job that will transcribe it
    object: Literal["upload"]
    url: str
    fields: dict[str, str]
    most_bytes: int
    expires_at: int  # seconds since 1970


def add(api: APIGatewayRestResolver, settings: ApiSettings, jobs: JobTable) -> None:
    """The route; uploads go to the bucket for recordings."""
    most_bytes = settings.upload_mb << 20

    @api.post(
        "/v1/uploads",
        summary="Get a form to upload a recording",
        description="Any format and length, up to the size that the form names. Follow it at `/v1/jobs/{id}`.",
        tags=["Jobs"],
        status_code=HTTPStatus.CREATED,
        responses=answers("The form", HTTPStatus.UNSUPPORTED_MEDIA_TYPE, status=HTTPStatus.CREATED),
    )
    def upload(request: Annotated[UploadRequest, Body()]) -> Upload:
        key = key_for(settings.input_prefix, request.filename)
        now_s = time.time()
        form = storage.upload_form(settings.input_bucket, key, request.content_type, most_bytes, VALID_S)
        job = upload_job_id(settings.input_bucket, key)
        jobs.expect(job, settings.input_bucket, key, now_s)
        return Upload(
            id=job,
            object="upload",
            url=form["url"],
            fields=form["fields"],
            most_bytes=most_bytes,
            expires_at=int(now_s) + VALID_S,
        )


def key_for(prefix: str, filename: str) -> str:
    """A key that nobody else has, ending in what is harmless of the file's name."""
    name = NAME.sub("-", filename.rsplit("/", 1)[-1].rsplit("\\", 1)[-1]).strip(" .-") or "recording"
    return f"{prefix}{UPLOADS}{uuid.uuid4().hex}/{name}"
