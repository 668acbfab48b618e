"""`/v1/calls`: live calls out of video streams: begun by a request, looked at, ended, and read when they are over."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Path, Query
from pydantic import Field
from typing_extensions import TypedDict

from cloud import listing, outputs, storage
from cloud.api.document import answers, errors
from cloud.api.errors import ApiError
from cloud.api.jobs import INLINE_BYTES, VALID_S, Format, moved, success
from cloud.calls import starts
from cloud.calls.call import Call
from cloud.calls.desk import CallDesk
from cloud.calls.leases import ENDED, OPEN, LeaseTable
from cloud.calls.outlet import FAILED_REASON, transcript_key
from cloud.calls.told import iso
from cloud.settings import ApiSettings

NO_CALLS = "none"  # the table's name where live calls are not deployed
Status = Literal["QUEUED", "IN_PROGRESS", "COMPLETED", "FAILED"]
CallId = Annotated[str, Path(pattern="^[A-Za-z0-9_.-]{1,64}$", description="Of `POST /v1/calls`, Connect or Chime.")]


@dataclass
class CallRequest:
    """A video stream that carries a call."""

    stream: Annotated[str, Field(max_length=1024, description="Name or ARN of the video stream.")]
    start: Annotated[
        Literal["now", "earliest"] | dict[str, Any],
        Field(
            description='Where in it the call begins: `now`, `earliest`, `{"timestamp_s": 1700000000.25}` by the '
            'producer\'s clock, or `{"fragment": "..."}`: behind that one.'
        ),
    ] = "now"
    id: Annotated[str | None, Field(description="With an id of your own, the same request again changes nothing.")] = (
        None
    )
    contact_id: Annotated[str | None, Field(description="Ends the call where the stream has another ContactId.")] = None
    mime_type: Annotated[str | None, Field(description="Of its tracks, where the stream does not say it.")] = None


class CallView(TypedDict, total=False):
    """A call; fields that are not known yet are left out."""

    id: str
    object: Literal["call"]
    status: Status
    streams: list[str]
    created_at: str  # ISO 8601, UTC
    began_at: str  # zero of its times
    ended_at: str
    reason: str  # why it is over


class CallList(TypedDict):
    """Newest first; `next` goes into `after` to read on, and is null at the end."""

    object: Literal["list"]
    data: list[CallView]
    next: str | None


def add(api: APIGatewayRestResolver, settings: ApiSettings) -> None:
    """The routes."""
    table = LeaseTable(settings.call_table, 0.0, settings.call_retention_days)
    desk = CallDesk(table, settings.calls_queue_url)

    @api.post(
        "/v1/calls",
        summary="Hear a live call",
        description="Its words come over the WebSocket (`watch`), the transcript stream and the event bus meanwhile.",
        tags=["Calls"],
        status_code=HTTPStatus.CREATED,
        responses=answers("The call", status=HTTPStatus.CREATED),
    )
    def begin(request: Annotated[CallRequest, Body()]) -> CallView:
        given = {name: value for name, value in asdict(request).items() if value is not None}
        call = starts.plain(given)
        desk.take(starts.Begun(call), time.time())
        return view(table.read(call.id))

    @api.get("/v1/calls", summary="Calls, newest first", tags=["Calls"], responses=answers("Some of them"))
    def list_calls(
        open: Annotated[bool | None, Query(description="Only those that go on, or only those that are over.")] = None,
        limit: Annotated[int, Query(ge=1, le=100)] = 20,
        after: Annotated[str | None, Query(max_length=300, description="`next` of the list before.")] = None,
    ) -> CallList:
        states = {None: (OPEN, ENDED), True: (OPEN,), False: (ENDED,)}[open]
        page = listing.newest(table, states, limit, after)
        return CallList(object="list", data=[view(item) for item in page.items], next=page.next)

    @api.get("/v1/calls/<id>", summary="One call", tags=["Calls"], responses=answers("It", HTTPStatus.NOT_FOUND))
    def get_call(id: CallId) -> CallView:
        return view(_found(table, id))

    @api.post(
        "/v1/calls/<id>/end",
        summary="End a call",
        description="What has been said is still heard. A call without audio for a while ends by itself.",
        tags=["Calls"],
        responses=answers("The call, which is over in some seconds", HTTPStatus.NOT_FOUND),
    )
    def end(id: CallId) -> CallView:
        _found(table, id)
        desk.take(starts.Ended(id), time.time())
        return view(_found(table, id))

    _add_transcript(api, settings, table)


def _add_transcript(api: APIGatewayRestResolver, settings: ApiSettings, table: LeaseTable) -> None:
    @api.get(
        "/v1/calls/<id>/transcript",
        summary="The transcript of a call that is over",
        description="`json` is Amazon Transcribe's job document. One of more than 5 MiB is a redirection to S3.",
        tags=["Calls"],
        responses=errors(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT) | {200: success(), 303: moved()},
    )
    def transcript(id: CallId, format: Annotated[Format, Query()] = "json") -> Response[str]:
        if (status := view(_found(table, id))["status"]) in ("QUEUED", "IN_PROGRESS"):
            raise ApiError(HTTPStatus.CONFLICT, f"call {id} is {status}: it is not over", code="not_completed")
        key = transcript_key(settings.output_prefix, id, format)
        try:
            body = storage.read_up_to(settings.output_bucket, key, INLINE_BYTES)
        except storage.Gone:
            message = f"the transcript was not written as {format}, or was deleted"
            raise ApiError(HTTPStatus.NOT_FOUND, message, code="format_not_written", param="format") from None
        if body is None:
            headers: dict[str, str | list[str]] = {
                "Location": storage.download_url(settings.output_bucket, key, VALID_S)
            }
            return Response(HTTPStatus.SEE_OTHER, body="", headers=headers)
        return Response(HTTPStatus.OK, outputs.CONTENT_TYPES[format], body.decode())


def view(item: dict[str, Any]) -> CallView:
    """What a caller is told of an item of the table."""
    call = Call.from_json(item["call"])
    streams = [leg.stream for leg in call.legs]
    found = CallView(id=call.id, object="call", status=_status(item), streams=streams, created_at=item["created_at"])
    if call.began_ms is not None:
        found["began_at"] = iso(call.began_ms / 1000)
    if item["status"] == ENDED:
        found |= {"ended_at": iso(item["ended_s"]), "reason": item["reason"]}
    return found


def _status(item: dict[str, Any]) -> Status:
    if item["status"] == ENDED:
        return "FAILED" if str(item["reason"]).startswith(FAILED_REASON) else "COMPLETED"
    return "IN_PROGRESS" if item["generation"] else "QUEUED"


def _found(table: LeaseTable, id: str) -> dict[str, Any]:
    item = table.read(id)
    if not item:
        raise ApiError(HTTPStatus.NOT_FOUND, f"no call {id!r} is known, or it is long over", code="call_not_found")
    return item
