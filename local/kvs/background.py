"""The endpoint in a thread of its own, for programs that are not asynchronous: tests and the demonstration."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from local.kvs import certificate
from local.kvs.server import Endpoint
from local.kvs.settings import Settings

T = TypeVar("T")


class Background:
    """`with Background(folder) as kvs: boto3.client("kinesisvideo", endpoint_url=kvs.url, verify=kvs.ca)`."""

    def __init__(self, folder: Path, settings: Settings | None = None, port: int = 0, **clocks: Any) -> None:
        """`folder` keeps the certificate; `clocks` are `now` and `monotonic` of `Endpoint`."""
        self._folder, self._port = folder, port
        self.endpoint = Endpoint(settings or Settings(), **clocks)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="kvs", daemon=True)

    def __enter__(self) -> Background:
        self._thread.start()
        try:
            tls = certificate.context(self._folder)
            asyncio.run_coroutine_threadsafe(self.endpoint.start(tls, self._port), self._loop).result()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        asyncio.run_coroutine_threadsafe(self.endpoint.stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def url(self) -> str:
        """Of the control plane."""
        return self.endpoint.url("control")

    @property
    def ca(self) -> str:
        """The file that clients have to trust."""
        return str(self._folder / "ca.pem")

    def call(self, work: Callable[[], T]) -> T:
        """Run `work` where the endpoint lives: its state belongs to that thread."""

        async def run() -> T:
            return work()

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result()
