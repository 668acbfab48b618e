"""Triggered by the recordings queue: each message names an upload, whose transcript goes to the output bucket.

What can never succeed makes the job FAILED and ends there; anything else is reported as a batch item failure, comes
back after a while, and after MAX_RECEIVES attempts is a dead letter. A start without a usable environment or bundle
fails at once, naming what is wrong.
"""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext
from cloud import engines
from cloud.attempts import Attempts
from cloud.deadline import Deadline
from cloud.jobs import JobTable
from cloud.observability import logger, metrics, tracer
from cloud.queues import Message
from cloud.settings import TranscribeSettings, load
from cloud.transcriber import Transcriber, options

settings = load(TranscribeSettings)
jobs = JobTable(settings.job_table, settings.job_retention_days)
recognizer = engines.recognizer(settings.models_dir, settings.asr_bundle)
transcriber = Transcriber(settings, recognizer, jobs, options(settings, recognizer))
attempts = Attempts(settings, settings.recordings_queue_url, jobs, transcriber)
processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)


def attempt(record: SQSRecord, lambda_context: LambdaContext) -> None:
    """One attempt at one message; raises if it has to come back."""
    deadline = Deadline(lambda_context, margin_s=settings.checkpoint_margin_s, budget_s=settings.time_budget_s)
    attempts.at(Message.of(record.raw_event), deadline)


@logger.inject_lambda_context(clear_state=True)
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Answers with the messages that have to come back."""
    return process_partial_response(event=event, record_handler=attempt, processor=processor, context=context)
