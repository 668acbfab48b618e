"""The REST API: transcriptions and speech while the caller waits, uploads and jobs for the rest, WebSocket tokens.

Every request of the gateway's REST API comes here, and every answer has the shape that OpenAI's clients expect, errors
included. A start without a usable environment or bundle fails at once, naming what is wrong.
"""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.logging import correlation_paths
from aws_lambda_powertools.utilities.typing import LambdaContext
from cloud import engines
from cloud.api.service import Service
from cloud.observability import logger, metrics, tracer
from cloud.settings import ApiSettings, load

settings = load(ApiSettings)
service = Service(settings, engines.recognizer(settings.models_dir, settings.asr_bundle))


@logger.inject_lambda_context(correlation_id_path=correlation_paths.API_GATEWAY_REST, clear_state=True)
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answers one request."""
    return service(event, context)
