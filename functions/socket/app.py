"""Called for every message of a WebSocket, its opening and its end; by itself, to speak on; by a schedule, to tidy up.

What a client did wrong is told to it by name; anything else is `internal_error`, and raised, so that it counts.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from cloud import engines
from cloud.observability import logger, metrics, tracer
from cloud.settings import SocketSettings, load
from cloud.sockets.client_side import ClientSide
from cloud.sockets.connection_table import Connection, ConnectionTable
from cloud.sockets.context_table import ContextTable
from cloud.sockets.desk import Desk
from cloud.sockets.invocation import Invocation
from cloud.sockets.stream_table import StreamTable
from cloud.sockets.sweep import sweep
from cloud.sockets.talk import Talk
from cloud.sockets.turn import Speakers

settings = load(SocketSettings)
connections = ConnectionTable(settings.connection_table, settings.most_connections, settings.most_streams)
clients = ClientSide(settings.connections_url)
voices = partial(engines.synthesizer, settings.models_dir, settings.tts_bundle)
desk = Desk(
    engines.recognizer(settings.models_dir, settings.asr_bundle),
    connections,
    StreamTable(settings.stream_table),
    clients,
    Talk(Speakers(voices, connections, ContextTable(settings.stream_table), clients)),
    settings.watcher_table,
)


@logger.inject_lambda_context(clear_state=True)
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answers with an HTTP status, which only an opening looks at."""
    if "speak" in event:
        desk.speak(event["speak"]["connection"], event["speak"]["context"], Invocation(context))
        return {"statusCode": 200}
    if "requestContext" not in event:
        return {"ended": sweep(desk, time.time())}
    about = event["requestContext"]
    connection = about["connectionId"]
    logger.append_keys(connection=connection)
    if about["eventType"] == "CONNECT":
        return desk.admit(Connection.admitted(connection, about["authorizer"], time.time()))
    if about["eventType"] == "DISCONNECT":
        desk.close(connection)
    else:
        desk.message(connection, event.get("body") or "", Invocation(context, settings.speak_s))
    return {"statusCode": 200}
