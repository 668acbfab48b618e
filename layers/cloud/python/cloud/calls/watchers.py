"""Events of calls to the WebSockets that watch them, as they come: whoever is slow or gone misses some."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby

from botocore.exceptions import BotoCoreError, ClientError

from cloud.calls.told import Event
from cloud.calls.watcher_table import WatcherTable
from cloud.observability import logger
from cloud.sockets.client_side import ClientSide, Gone

LOOK_S = 2.0  # between two looks at who watches a call


@dataclass
class Watchers:
    """Used by one thread, which may wait for a network."""

    table: WatcherTable
    clients: ClientSide
    clock: Callable[[], float] = time.monotonic
    _known: dict[str, tuple[float, list[str]]] = field(default_factory=dict)  # by call: since when, connections

    def send(self, events: list[Event]) -> None:
        """Each event to everybody who watches its call; trouble with one watcher is no trouble of the others."""
        for call_id, of_call in groupby(events, key=lambda event: str(event["call"])):
            some = list(of_call)
            for connection in self._watching(call_id):
                self._tell(call_id, connection, some)
        self._forget()

    def _tell(self, call_id: str, connection: str, events: list[Event]) -> None:
        try:
            for event in events:
                self.clients.send(connection, event)
        except Gone:
            self.table.leave(call_id, connection)
            self._known.pop(call_id, None)
        except (ClientError, BotoCoreError):
            logger.warning("a watcher of call %s could not be told", call_id, exc_info=True)

    def _watching(self, call_id: str) -> list[str]:
        since_s, connections = self._known.get(call_id, (float("-inf"), []))
        if self.clock() - since_s >= LOOK_S:
            connections = self.table.of(call_id)
            self._known[call_id] = self.clock(), connections
        return connections

    def _forget(self) -> None:
        """Calls of which nothing was told for a while have ended, or are somebody else's now."""
        old_s = self.clock() - 30 * LOOK_S
        for call_id in [call for call, (since_s, _) in self._known.items() if since_s < old_s]:
            del self._known[call_id]
