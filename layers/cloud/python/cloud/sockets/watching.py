"""What a client may send about live calls: it watches one, whose events then come to it, or watches it no longer.

{"type": "watch", "call": "4a573372-1f28-4e26-b97b-5f3d2c1b0a99"}
{"type": "unwatch", "call": "4a573372-1f28-4e26-b97b-5f3d2c1b0a99"}

The call's worker tells a watcher what was so far (`cloud.calls.so_far`), within some seconds, and from then on each
event (`cloud.calls.told`). A call may be watched before it begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cloud.calls.watcher_table import TooMany, WatcherTable
from cloud.sockets.connection_table import ConnectionTable
from cloud.sockets.envelope import Refused

FIELDS: dict[str, set[str]] = {"watch": set(), "unwatch": set()}
NO_CALLS = "none"  # the table's name where live calls are not deployed


@dataclass(frozen=True, slots=True)
class Watch:
    """A call is watched from now on, or no longer."""

    name: str  # of the call: its id
    on: bool


def answer(table: str, connections: ConnectionTable, connection_id: str, watch: Watch, now_s: float) -> dict[str, Any]:
    """Note it, and what is told of that. Raises Refused (`no_calls`, `not_allowed`, `too_many_watchers`).

    An API key reads all that its deployment has; a token, which is made to be given away, only the calls that whoever
    minted it has named.
    """
    if table == NO_CALLS:
        raise Refused("no_calls", "live calls are not deployed here", call=watch.name)
    watchers = WatcherTable(table)
    if not watch.on:
        watchers.leave(watch.name, connection_id)
        return {"type": "unwatched", "call": watch.name}
    connection = connections.find(connection_id)
    if connection is None or not connection.may_watch(watch.name):
        needs = f'a token minted with "calls": ["{watch.name}"], or ["*"] for any'
        raise Refused("not_allowed", f"this connection's token does not name the call: {needs}", call=watch.name)
    try:
        watchers.watch(watch.name, connection_id, now_s)
    except TooMany as many:
        raise Refused("too_many_watchers", str(many), call=watch.name) from None
    return {"type": "watching", "call": watch.name}
