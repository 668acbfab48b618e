"""functions/socket as Lambda imports it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from cloud import clients, keys
from cloud.sockets import client_side

from tests.functions import cold
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
    "SPEAK_S": "15",
    "WATCHER_TABLE": "none",
    "TOKEN_SECRET": "tokens",
}


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeLive]:
    """The services in memory, in place of every boto3 client."""
    fake = FakeLive()
    monkeypatch.setattr("boto3.client", fake.client)
    forget()
    yield fake
    forget()


def forget() -> None:
    """A process that has no clients and no key yet."""
    clients.client.cache_clear()
    client_side._api.cache_clear()
    keys._held.clear()


@pytest.fixture
def cold_start(live: FakeLive, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Door]:
    """Imports functions/<name>/app.py afresh."""

    def load(name: str) -> Door:
        for variable, value in ENVIRONMENT.items():
            monkeypatch.setenv(variable, value)
        return Door(cold.start(name), live)

    return load


@pytest.fixture
def door(cold_start: Callable[[str], Door]) -> Door:
    """The door with connection "one" open."""
    found = cold_start("socket")
    assert found.open() == 200
    return found
