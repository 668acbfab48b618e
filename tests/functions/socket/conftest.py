"""functions/socket as Lambda imports it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from tests.functions.fake_live import FakeLive
from tests.functions.situations import ROOT
from tests.functions.socket.door import Door

ENVIRONMENT = {
    "MODELS_DIR": str(ROOT / "tests" / "tiny"),
    "ASR_BUNDLE": "tones",
    "TTS_BUNDLE": "hum",
    "CONNECTION_TABLE": "connections",
    "STREAM_TABLE": "streams",
    "CONNECTIONS_URL": "https://api.example.com/live",
    "MOST_CONNECTIONS": "3",
    "MOST_STREAMS": "2",
    "SPEAK_S": "86400",  # no test is cut short where the machine is slow
    "WATCHER_TABLE": "none",
    "TOKEN_SECRET": "tokens",
}


@pytest.fixture
def cold_start(live: FakeLive, started: Callable[[str, dict[str, str]], ModuleType]) -> Callable[[str], Door]:
    """Imports functions/<name>/app.py afresh."""
    return lambda name: Door(started(name, ENVIRONMENT), live)


@pytest.fixture
def door(cold_start: Callable[[str], Door]) -> Door:
    """The door with connection "one" open."""
    found = cold_start("socket")
    assert found.open() == 200
    return found
