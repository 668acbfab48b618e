"""Triggered by the audio stream: batches of records, whose words go to the transcript stream and the event bus.

A schedule makes final what producers left open.

A record that is no frame of audio is told as a result and is over. Anything else that goes wrong is reported as a batch
item failure and comes again, from that record on; after the last attempt the batch's place is a dead letter.
"""

from __future__ import annotations

import time
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from cloud import engines
from cloud.observability import logger, metrics, tracer
from cloud.records.batch import Batches
from cloud.records.outlet import Outlet
from cloud.records.table import RecordTable
from cloud.settings import RecordsSettings, load

settings = load(RecordsSettings)
batches = Batches(
    engines.recognizer(settings.models_dir, settings.asr_bundle),
    RecordTable(settings.record_table),
    Outlet(settings.transcript_stream, settings.event_bus),
)


@logger.inject_lambda_context(clear_state=True)
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answers with the records that have to come again."""
    if "Records" not in event:
        return {"rested": batches.sweep(time.time())}
    failed = batches.work(event, time.time())
    return {"batchItemFailures": [{"itemIdentifier": sequence} for sequence in failed]}
