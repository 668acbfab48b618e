"""The API as one resolver: its routes, its errors and its OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, CORSConfig, Response, content_types
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware
from aws_lambda_powertools.event_handler.openapi.models import APIKey, HTTPBearer, Server
from aws_lambda_powertools.metrics import MetricUnit

from cloud.api import calls, catalogue, errors, jobs, limits, speech, speech_jobs, tokens, transcriptions, uploads
from cloud.api.document import Resolver
from cloud.api.voices import Voices
from cloud.jobs import JobTable
from cloud.observability import metrics
from cloud.settings import ApiSettings

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext
    from speech.asr.recognizer import Recognizer

NO_ORIGIN = "none"
ABOUT: dict[str, Any] = {
    "title": "Undertone",
    "version": "1",
    "description": "Speech to text and back, in your account. `/v1/audio` is OpenAI's: point a client's base URL here.",
    "tags": ["Audio", "Jobs", "Calls", "Service"],  # in this order
    "servers": [Server(url=".")],  # relative to the document, wherever it is served
    "security_schemes": {
        "bearer": HTTPBearer(description="The API key, as OpenAI's clients send theirs."),
        "key": APIKey.model_validate(
            {"name": "x-api-key", "in": "header", "description": "The same, as API Gateway has it."}
        ),
    },
    "security": [{"bearer": []}, {"key": []}],
}
# The page has everything in itself; what it is not to do is to call on others, as its check of the document would.
PAGE_POLICY = "default-src 'self' 'unsafe-inline'; img-src 'self' data:"


class Service:
    """Answers events of API Gateway's REST API."""

    def __init__(self, settings: ApiSettings, recognizer: Recognizer) -> None:
        """`recognizer` serves every transcription of this process. Raises BadBundle if there is no voice."""
        origin = settings.cors_origin
        cors = (
            None if origin == NO_ORIGIN else CORSConfig(allow_origin=origin, expose_headers=["Location"], max_age=600)
        )
        self.api = Resolver(cors=cors, enable_validation=True, response_validation_error_http_code=500)
        table = JobTable(settings.job_table, settings.job_retention_days)
        errors.install(self.api)
        catalogue.add(self.api, settings.asr_bundle, settings.tts_bundle)
        transcriptions.add(self.api, settings, recognizer)
        voices = Voices.of(settings.models_dir, settings.tts_bundle)
        speech.add(self.api, voices)
        speech_jobs.add(self.api, settings, voices, table)
        uploads.add(self.api, settings, table)
        jobs.add(self.api, table)
        if settings.call_table != calls.NO_CALLS:
            calls.add(self.api, settings)
        tokens.add(self.api, settings.token_secret)
        limits.add(self.api)
        self._serve_document()

    def __call__(self, event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        """The answer to a request, errors included: nothing in a request makes this raise."""
        metrics.add_metric("Requests", MetricUnit.Count, 1)
        return self.api.resolve(limits.admitted(event), context)

    def document(self) -> str:
        """The OpenAPI document as JSON."""
        return self.api.get_openapi_json_schema(**ABOUT)

    def _serve_document(self) -> None:
        self.api.enable_swagger(path="/docs", middlewares=[_keep_to_itself], **ABOUT)

        @self.api.get("/openapi.json", include_in_schema=False)
        def openapi() -> Response[str]:
            return Response(200, content_types.APPLICATION_JSON, self.document())


def _keep_to_itself(app: APIGatewayRestResolver, next_middleware: NextMiddleware) -> Response[Any]:
    response = next_middleware(app)
    response.headers["Content-Security-Policy"] = PAGE_POLICY
    return response
