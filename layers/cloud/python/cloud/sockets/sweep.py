"""Looks after connections that nobody ended: those that are gone, have said nothing for long, or have lasted too long.

API Gateway ends idle and long connections itself, but its notice of an end is sent once and may be lost.
"""

from __future__ import annotations

from aws_lambda_powertools.metrics import MetricUnit

from cloud.observability import logger, metrics
from cloud.sockets.client_side import Gone
from cloud.sockets.connection_table import Connection
from cloud.sockets.desk import SETTLE_S, Desk
from cloud.sockets.envelope import Refused
from cloud.sockets.stream import LONGEST_S

IDLE_S = 600  # without a message from the client: API Gateway's own limit


def sweep(desk: Desk, now_s: float) -> int:
    """Ends what has to end and forgets what is gone; how many connections that were.

    Trouble with one holds up no other, and is raised when all have been looked at.
    """
    ended, troubles = 0, list[Exception]()
    for connection in desk.connections.all():
        try:
            ended += _ended(desk, connection, now_s)
        except Exception as trouble:
            logger.exception("a connection was not looked after", extra={"connection": connection.id})
            troubles.append(trouble)
    metrics.add_metric("Reclaimed", MetricUnit.Count, ended)
    if troubles:
        raise troubles[0]
    return ended


def _ended(desk: Desk, connection: Connection, now_s: float) -> bool:
    if now_s - connection.opened_s < SETTLE_S:
        return False
    try:
        reason = _reason(desk, connection, now_s)
        if reason is None:
            return False
        desk.clients.send(connection.id, reason.record())
        desk.clients.hang_up(connection.id)
        logger.info("hung up: %s", reason, extra={"code": reason.code})
    except Gone:
        logger.info("a connection was gone without notice")
    desk.close(connection.id)
    return True


def _reason(desk: Desk, connection: Connection, now_s: float) -> Refused | None:
    active_s = desk.clients.active_s(connection.id)
    if now_s - connection.opened_s >= LONGEST_S:
        return Refused("connection_expired", f"a connection lasts {LONGEST_S // 3600} hours: open another")
    if active_s is not None and now_s - active_s >= IDLE_S:
        return Refused("idle", f"nothing was sent for {IDLE_S // 60} minutes: open another connection")
    return None
