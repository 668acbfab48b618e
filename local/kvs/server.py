"""The endpoint over HTTP: one port for the control plane and one for each kind of data, as the service has hosts."""

from __future__ import annotations

import secrets
import ssl
import time
from collections.abc import Callable
from typing import Any

from aiohttp import web

from local.kvs import archive, operations, playback, signature
from local.kvs.putmedia import PATH, put_media
from local.kvs.rates import Rates
from local.kvs.refusals import Refused
from local.kvs.settings import Settings
from local.kvs.streams import Streams, VideoStream

HOST = "127.0.0.1"
# Which port serves what; a call at another port is refused with 403, as the service does.
ROLES = {
    "control": frozenset[str](),
    "put": frozenset({"PUT_MEDIA"}),
    "get": frozenset({"GET_MEDIA"}),
    "archive": frozenset({"LIST_FRAGMENTS", "GET_MEDIA_FOR_FRAGMENT_LIST"}),
}
DATA = {"PutMedia": "put", "GetMedia": "get", "ListFragments": "archive", "GetMediaForFragmentList": "archive"}
BODY_BYTES = 1 << 20
MKV = "video/webm"  # the type that the service gives


class Endpoint:
    """The endpoint in the running event loop; `now` gives seconds since 1970 and `monotonic` any seconds."""

    def __init__(
        self,
        settings: Settings,
        now: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings, self.now, self.monotonic = settings, now, monotonic
        self.streams = Streams(settings, now)
        self.rates = Rates(settings.calls_per_s, monotonic)
        self.ports: dict[str, int] = {}
        self._runners: list[web.AppRunner] = []
        self._control = {
            "CreateStream": self.streams.create,
            "DescribeStream": self.streams.describe,
            "ListStreams": self.streams.list,
            "DeleteStream": self.streams.delete,
            "UpdateStream": self.streams.update,
            "UpdateDataRetention": self.streams.update_retention,
            "TagStream": self.streams.tag,
            "UntagStream": self.streams.untag,
            "ListTagsForStream": self.streams.list_tags,
            "GetDataEndpoint": self._data_endpoint,
        }

    async def start(self, tls: ssl.SSLContext, port: int = 0) -> None:
        """Listen: the control plane at `port`, the rest at those that follow; 0: at any free ones."""
        for at, role in enumerate(ROLES):
            app = web.Application(client_max_size=BODY_BYTES)
            app.router.add_route("*", "/{path:.*}", self._handler(role))
            runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.2)
            await runner.setup()
            self._runners.append(runner)
            site = web.TCPSite(runner, HOST, port + at if port else 0, ssl_context=tls)
            await site.start()
            self.ports[role] = runner.addresses[0][1]

    async def stop(self) -> None:
        """Close every connection and port."""
        for runner in self._runners:
            await runner.cleanup()

    def url(self, role: str) -> str:
        """Where a role of ROLES listens."""
        return f"https://{HOST}:{self.ports[role]}"

    def _handler(self, role: str) -> Callable[[web.Request], Any]:
        async def handle(request: web.Request) -> web.StreamResponse:
            try:
                return await self._answer(role, request)
            except Refused as error:
                headers = {"x-amzn-ErrorType": error.name, "x-amzn-RequestId": secrets.token_hex(8)}
                told = {"Message": error.message, "message": error.message, "__type": error.name}
                return web.json_response(told, status=error.status, headers=headers)

        return handle

    async def _answer(self, role: str, request: web.Request) -> web.StreamResponse:
        streamed = request.path == PATH
        body = None if streamed else await request.read()
        signed = signature.Request(request.method, request.host, request.raw_path, request.headers.items(), body)
        signature.check(signed, self.settings, self.now())
        name, asked = ("PutMedia", {}) if body is None else operations.parse(request.path, body)
        if DATA.get(name, "control") != role:
            message = f"{name} is not served here: ask GetDataEndpoint where, and call that"
            raise Refused("AccessDeniedException", message)
        if name == "PutMedia":
            return await put_media(self, request)
        if name in self._control:
            return web.json_response(self._control[name](asked))
        if name not in DATA:
            raise Refused("NotImplementedException", f"{name} is not part of the local endpoint")
        stream = self.streams.find(asked)
        self.rates.count(name, stream.name)
        if name == "ListFragments":
            return web.json_response(archive.list_fragments(stream, asked))
        return await (self._get_media if name == "GetMedia" else self._get_fragments)(request, stream, asked)

    def _data_endpoint(self, asked: dict[str, Any]) -> dict[str, Any]:
        stream = self.streams.find(asked)
        self.rates.count("GetDataEndpoint", stream.name)
        for role, names in ROLES.items():
            if asked["APIName"] in names:
                return {"DataEndpoint": self.url(role)}
        raise Refused("NotImplementedException", f"{asked['APIName']} is not part of the local endpoint")

    async def _get_media(self, request: web.Request, stream: VideoStream, asked: dict[str, Any]) -> web.StreamResponse:
        if stream.readers >= self.settings.readers:
            message = f"{stream.readers} GetMedia connections are open on {stream.name}, which is all it may have"
            raise Refused("ConnectionLimitExceededException", message)
        playback.check(asked["StartSelector"])
        response = _media()
        left, ends_s = self.settings.get_media_bytes(), self.monotonic() + self.settings.get_media_s
        stream.readers += 1
        try:
            await response.prepare(request)
            media = playback.play(stream.fragments, asked["StartSelector"])
            async for data in playback.until(media, ends_s - self.monotonic()):
                part = data if left is None else data[:left]
                await response.write(part)
                left = None if left is None else left - len(part)
                if left == 0:
                    break
        finally:
            stream.readers -= 1
        # As in the service, nothing tells that this was not the end of the stream.
        await response.write_eof()
        return response

    async def _get_fragments(
        self, request: web.Request, stream: VideoStream, asked: dict[str, Any]
    ) -> web.StreamResponse:
        archive.require_retention(stream)
        response = _media()
        await response.prepare(request)
        for data in playback.archived(stream.fragments, asked["Fragments"]):
            await response.write(data)
        await response.write_eof()
        return response


def _media() -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": MKV, "x-amzn-RequestId": secrets.token_hex(8)})
    response.enable_chunked_encoding()
    return response
