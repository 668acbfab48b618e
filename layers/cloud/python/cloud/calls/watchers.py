"""Events of calls to the WebSockets that watch them: whoever comes is told what was so far, then all that follows.

What was so far only the worker's thread knows, and only here is known what a watcher has been told. So newcomers are
noted here, the worker answers each time with what was so far (`SO_FAR`), and that stands in one line with the events:
nothing can be lost between the two, and nothing told twice. A watcher whom something did not reach comes anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from cloud.calls.told import COMPLETED, FAILED, Event
from cloud.calls.watcher_table import WatcherTable, Watches
from cloud.observability import logger
from cloud.sockets.client_side import ClientSide, Gone

# What is not told but done, in its place among the events of a call.
LOOK = "look"  # see who has come and who has left
SO_FAR = "so_far"  # `to` those that have come, in `frames()` of `what`
PART = "part"  # from all of them: the call is another worker's, or events were lost


@dataclass
class Watchers:
    """Used by one thread, which may wait for a network; `newcomers` by another one."""

    table: WatcherTable
    clients: ClientSide
    _told: dict[str, Watches] = field(default_factory=dict)  # by call: those who know all that was told of it
    _newcomers: dict[str, Watches] = field(default_factory=dict)  # by call: those who are to be told what was so far

    def newcomers(self, call_id: str) -> Watches:
        """Who has come to watch since this was asked last, or still waits to be told what was so far."""
        return self._newcomers.pop(call_id, {})

    def send(self, events: list[Event]) -> None:
        """Each event to everybody who watches its call; trouble with one watcher is no trouble of the others."""
        for event in events:
            try:
                self._take(event["call"], event)
            except Exception:
                logger.exception("watchers of call %s come anew", event["call"])
                self._part(event["call"])

    def _take(self, call_id: str, event: Event) -> None:
        kind = event["type"]
        if kind == LOOK:
            self._look(call_id)
        elif kind == SO_FAR:
            self._greet(call_id, event["to"], event["what"].frames())
        elif kind == PART:
            self._part(call_id)
        else:
            if kind in (COMPLETED, FAILED):  # the last chance of those that have just come
                self._look(call_id)
                self._told.setdefault(call_id, {}).update(self.newcomers(call_id))
            for connection in [*self._told.get(call_id, ())]:
                self._tell(call_id, connection, event)

    def _look(self, call_id: str) -> None:
        try:
            found = self.table.of(call_id)
        except (ClientError, BotoCoreError):
            logger.warning("who watches call %s is not known at present", call_id, exc_info=True)
            return
        told = self._told.get(call_id, {})
        stayed = {connection: watch for connection, watch in found.items() if told.get(connection) == watch}
        self._told[call_id] = stayed
        self._newcomers[call_id] = {one: watch for one, watch in found.items() if one not in stayed}

    def _greet(self, call_id: str, newcomers: Watches, frames: list[Event]) -> None:
        told = self._told.setdefault(call_id, {})
        for connection, watch in newcomers.items():
            if told.get(connection) != watch and all(self._tell(call_id, connection, frame) for frame in frames):
                told[connection] = watch

    def _part(self, call_id: str) -> None:
        self._told.pop(call_id, None)
        self._newcomers.pop(call_id, None)

    def _tell(self, call_id: str, connection: str, record: dict[str, Any]) -> bool:
        """Whether it has arrived."""
        try:
            self.clients.send(connection, record)
            return True
        except Gone:
            self.table.leave(call_id, connection)
        except (ClientError, BotoCoreError):
            logger.warning("a watcher of call %s could not be told, and comes anew", call_id, exc_info=True)
        self._told.get(call_id, {}).pop(connection, None)
        return False


def parted(events: list[Event]) -> list[Event]:
    """In place of events that nobody can wait for any longer: their watchers come anew."""
    return [{"call": call_id, "type": PART} for call_id in dict.fromkeys(event["call"] for event in events)]
