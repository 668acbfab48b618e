"""Called in a contact flow of Amazon Connect, by events of Chime and Connect, or with a plain request.

A call that begins becomes one message to the workers; the same news again changes nothing. Whatever names no call is
an error, which sends a contact flow along its error branch, and an event to the dead letters.
"""

from __future__ import annotations

import time
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from cloud.calls.desk import CallDesk
from cloud.calls.leases import LeaseTable
from cloud.calls.starts import parse
from cloud.observability import logger, metrics, tracer
from cloud.settings import CallStartSettings, load

settings = load(CallStartSettings)
desk = CallDesk(LeaseTable(settings.call_table, 0.0, settings.call_retention_days), settings.calls_queue_url)


@logger.inject_lambda_context(clear_state=True)
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, str]:
    """Answers {"call", "status"}, flat and of strings alone, as a contact flow wants it."""
    answer = desk.take(parse(event), time.time())
    logger.info("call %(call)s: %(status)s", answer)
    return answer
