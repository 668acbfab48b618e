"""Handlers as Lambda imports them, with AWS in memory and a recogniser that hears loudness."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType

import pytest
from cloud import clients, engines, keys
from cloud.sockets import client_side

from tests.functions import cold
from tests.functions.fake_aws import FakeAws
from tests.functions.fake_engine import FakeRecognizer
from tests.functions.fake_live import FakeLive
from tests.functions.situations import ENVIRONMENT, Load


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAws]:
    """The services in memory, in place of every boto3 client."""
    fake = FakeAws()
    monkeypatch.setattr("boto3.client", fake.client)
    clients.client.cache_clear()
    yield fake
    clients.client.cache_clear()


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeLive]:
    """The services of live streams in memory, in place of every boto3 client."""
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
def started(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, dict[str, str]], ModuleType]:
    """Imports functions/<name>/app.py afresh, as a cold start with these variables does."""

    def cold_start(name: str, variables: dict[str, str]) -> ModuleType:
        for variable, value in variables.items():
            monkeypatch.setenv(variable, value)
        return cold.start(name)

    return cold_start


@pytest.fixture
def load(aws: FakeAws, started: Callable[[str, dict[str, str]], ModuleType], monkeypatch: pytest.MonkeyPatch) -> Load:
    """The same with the variables of all tests here, some of the test's own on top, and a recogniser of loudness."""

    def cold_start(name: str, **variables: str) -> ModuleType:
        monkeypatch.setattr(engines, "recognizer", lambda *_: FakeRecognizer())
        return started(name, ENVIRONMENT | variables)

    return cold_start
