"""functions/records as Lambda imports it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

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
def mouth(live: FakeLive, started: Callable[[str, dict[str, str]], ModuleType]) -> Mouth:
    """The function, cold, with everything in memory and a real recogniser of tones."""
    return Mouth(started("records", ENVIRONMENT), live)
