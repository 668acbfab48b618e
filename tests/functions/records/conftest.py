"""functions/records as Lambda imports it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cloud import clients

from tests.functions import cold
from tests.functions.fake_live import FakeLive
from tests.functions.records.mouth import Mouth
from tests.functions.situations import ROOT

ENVIRONMENT = {
    "MODELS_DIR": str(ROOT / "tests" / "tiny"),
    "ASR_BUNDLE": "tones",
    "RECORD_TABLE": "records",
    "TRANSCRIPT_STREAM": "transcripts",
    "EVENT_BUS": "default",
}


@pytest.fixture
def mouth(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mouth]:
    """The function, cold, with everything in memory and a real recogniser of tones."""
    fake = FakeLive()
    monkeypatch.setattr("boto3.client", fake.client)
    for variable, value in ENVIRONMENT.items():
        monkeypatch.setenv(variable, value)
    clients.client.cache_clear()
    app = cold.start("records")
    yield Mouth(app, fake)
    clients.client.cache_clear()
