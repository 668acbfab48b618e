"""Called by API Gateway for every message of a WebSocket, its opening and its end; by a schedule, to tidy up.

What a client did wrong is told to it by name and is no failure. Anything else is told as `internal_error` and raised,
so that it counts; the client may send the same message again, since a message that was handled twice changes nothing.
"""

from __future__ import annotations

import time
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from cloud import engines
from cloud.observability import logger, metrics, tracer
from cloud.settings import SocketSettings, load
from cloud.sockets.client_side import ClientSide
from cloud.sockets.connection_table import Connection, ConnectionTable
from cloud.sockets.desk import Desk
from cloud.sockets.messages import Refused
from cloud.sockets.stream_table import StreamTable
from cloud.sockets.sweep import sweep

settings = load(SocketSettings)
desk = Desk(
    engines.recognizer(settings.models_dir, settings.asr_bundle),
    ConnectionTable(settings.connection_table, settings.most_connections, settings.most_streams),
    StreamTable(settings.stream_table),
    ClientSide(settings.connections_url),
)


@logger.inject_lambda_context(clear_state=True)
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answers with an HTTP status, which only an opening looks at."""
    about = event.get("requestContext")
    if about is None:
        return {"ended": sweep(desk, time.time())}
    connection = about["connectionId"]
    logger.append_keys(connection=connection)
    if about["eventType"] == "CONNECT":
        try:
            desk.open(Connection(connection, about["authorizer"]["principalId"], time.time()))
        except Refused as refused:
            logger.info("refused: %s", refused, extra={"code": refused.code})
            return {"statusCode": 429, "body": str(refused)}
    elif about["eventType"] == "DISCONNECT":
        desk.close(connection)
    else:
        desk.message(connection, event.get("body") or "", time.time(), context.aws_request_id)
    return {"statusCode": 200}
