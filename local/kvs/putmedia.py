"""PutMedia over HTTP: acknowledgements go out while the body still comes in."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING

from aiohttp import ClientConnectionError, web

from local.kvs.refusals import Refused
from local.kvs.streams import VideoStream
from local.kvs.upload import Upload

if TYPE_CHECKING:
    from local.kvs.server import Endpoint

PATH = "/putMedia"
EXPIRED, NOT_ACTIVE = 4003, 4008
NAME, ARN = "x-amzn-stream-name", "x-amzn-stream-arn"
START, KIND = "x-amzn-producer-start-timestamp", "x-amzn-fragment-timecode-type"
ACKNOWLEDGE = "x-amzn-fragment-acknowledgment-required"


async def put_media(endpoint: Endpoint, request: web.Request) -> web.StreamResponse:
    """Serve one upload until its body ends, an error, or its time is over."""
    named = {"StreamName": request.headers.get(NAME), "StreamARN": request.headers.get(ARN)}
    stream = endpoint.streams.find({name: value for name, value in named.items() if value})
    start_s = start_of(request)
    endpoint.rates.count("PutMedia", stream.name)
    if stream.end_upload:
        if endpoint.settings.refuse_second_upload:
            message = f"a PutMedia connection is open on {stream.name}, which is all it may have"
            raise Refused("ConnectionLimitExceededException", message)
        stream.end_upload()
    response = web.StreamResponse(
        headers={"Content-Type": "application/json", "x-amzn-RequestId": secrets.token_hex(8)}
    )
    response.enable_chunked_encoding()
    response.force_close()
    await response.prepare(request)
    acknowledges = request.headers.get(ACKNOWLEDGE, "1") != "0"
    upload = Upload(stream.fragments, endpoint.settings, start_s=start_s)
    connection = _Connection(endpoint, stream, upload)
    try:
        while not upload.over:
            if (acks := await connection.next(request)) and acknowledges:
                await response.write(acks)
        await response.write_eof()
    finally:
        connection.close()
    return response


def start_of(request: web.Request) -> float | None:
    """The producer's clock at timecode 0, from the headers; None: timecodes are absolute."""
    kind = request.headers.get(KIND, "")
    if kind not in ("ABSOLUTE", "RELATIVE"):
        raise Refused("InvalidArgumentException", f"{KIND} is {kind!r}, expected ABSOLUTE or RELATIVE")
    if kind == "ABSOLUTE":
        return None
    given = request.headers.get(START, "")
    try:
        return float(given)
    except ValueError:
        raise Refused("InvalidArgumentException", f"{START} is {given!r}, expected seconds since 1970") from None


class _Connection:
    """The state of one upload's connection: what it waits for, and until when."""

    def __init__(self, endpoint: Endpoint, stream: VideoStream, upload: Upload) -> None:
        self._settings, self._monotonic = endpoint.settings, endpoint.monotonic
        self._stream, self._upload = stream, upload
        self._ends_s = endpoint.monotonic() + endpoint.settings.put_media_s
        self._heard_s = endpoint.monotonic()
        self._ended = asyncio.get_running_loop().create_future()
        self._reading: asyncio.Task[bytes] | None = None
        self._end_me = self._end
        stream.end_upload = self._end_me

    def _end(self) -> None:
        if not self._ended.done():
            self._ended.set_result(None)

    async def next(self, request: web.Request) -> bytes:
        """Acknowledgements of what comes next; b"" also when nothing is to be said."""
        self._reading = self._reading or asyncio.ensure_future(request.content.readany())
        wait_s = min(self._settings.keep_alive_s, max(0.0, self._ends_s - self._monotonic()))
        await asyncio.wait({self._reading, self._ended}, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
        if self._monotonic() >= self._ends_s:
            return self._upload.fail(EXPIRED)
        if self._ended.done():
            if self._stream.fragments.deleted:
                return self._upload.fail(NOT_ACTIVE)
            self._upload.abort()
            return b""
        if not self._reading.done():
            if self._monotonic() - self._heard_s >= self._settings.idle_s:
                self._upload.abort()
            return self._upload.idle()
        reading, self._reading, self._heard_s = self._reading, None, self._monotonic()
        try:
            data = reading.result()
        except (ClientConnectionError, ConnectionError, web.HTTPException):
            self._upload.abort()
            return b""
        return self._upload.receive(data) if data else self._upload.finish()

    def close(self) -> None:
        """The connection is over, however it came to that."""
        if self._reading:
            self._reading.cancel()
        self._upload.abort()
        if self._stream.end_upload is self._end_me:
            self._stream.end_upload = None
