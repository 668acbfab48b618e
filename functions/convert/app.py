"""Triggered by the conversions queue: recordings that only FFmpeg reads become FLAC and go back to be transcribed.

The API's function calls it, too, for clips whose caller waits.

It is a function of its own because FFmpeg and onnxruntime together do not fit Lambda's 250 MB. What cannot be decoded
makes the job FAILED; anything else is reported as a batch item failure and comes back, at last as a dead letter.
"""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext
from cloud import decoding
from cloud.attempts import Attempts
from cloud.converter import Converter
from cloud.deadline import Deadline
from cloud.jobs import JobTable
from cloud.observability import logger, metrics, tracer
from cloud.queues import Message
from cloud.settings import ConvertSettings, load

settings = load(ConvertSettings)
jobs = JobTable(settings.job_table, settings.job_retention_days)
attempts = Attempts(settings, settings.conversions_queue_url, jobs, Converter(settings, jobs))
processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)


def attempt(record: SQSRecord, lambda_context: LambdaContext) -> None:
    """One attempt at one message; raises if it has to come back."""
    attempts.at(Message.of(record.raw_event), Deadline(lambda_context))


@logger.inject_lambda_context(clear_state=True)
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse | dict[str, str]:
    """Answers the queue with the messages that have to come back, the API with what is wrong with a clip."""
    if "clip" in event:
        return decoding.serve(settings.output_bucket, event)
    return process_partial_response(event=event, record_handler=attempt, processor=processor, context=context)
