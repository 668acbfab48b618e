"""The API's function over bundles made by hand: a recogniser of tones and a voice that hums."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import pytest

from tests.contract.house import ROOT
from tests.functions import cold

ENVIRONMENT = {
    "POWERTOOLS_SERVICE_NAME": "undertone",
    "POWERTOOLS_METRICS_NAMESPACE": "Undertone",
    "POWERTOOLS_TRACE_DISABLED": "true",
    "AWS_DEFAULT_REGION": "us-east-1",
    "MODELS_DIR": str(ROOT / "tests" / "tiny"),
    "ASR_BUNDLE": "tones",
    "TTS_BUNDLE": "hum",
    "JOB_TABLE": "jobs",
    "JOB_RETENTION_DAYS": "90",
    "INPUT_BUCKET": "input",
    "INPUT_PREFIX": "",
    "OUTPUT_BUCKET": "output",
    "WORK_PREFIX": "work/",
    "SPEECH_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/123456789012/undertone-speech",
    "CONVERT_FUNCTION": "convert",
    "TOKEN_SECRET": "secret",
    "CLIP_S": "20",
    "UPLOAD_MB": "2048",
    "CORS_ORIGIN": "https://example.com",
    "OUTPUT_PREFIX": "transcripts/",
    "CALL_TABLE": "calls",
    "CALLS_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/123456789012/calls",
    "CALL_RETENTION_DAYS": "30",
}


@contextmanager
def cold_start() -> Iterator[ModuleType]:
    """functions/api/app.py, loaded as at a cold start, and its environment while it is used."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        yield cold.start("api")
