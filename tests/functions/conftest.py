"""Handlers as Lambda imports them, with AWS in memory and a recogniser that hears loudness."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest
from cloud import clients, engines

from tests.functions import cold
from tests.functions.fake_aws import FakeAws
from tests.functions.fake_engine import FakeRecognizer
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
def load(aws: FakeAws, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Imports functions/<name>/app.py afresh, as a cold start does, with variables of the test's own on top."""

    def cold_start(name: str, **variables: str) -> ModuleType:
        for variable, value in (ENVIRONMENT | variables).items():
            monkeypatch.setenv(variable, value)
        monkeypatch.setattr(engines, "recognizer", lambda *_: FakeRecognizer())
        return cold.start(name)

    return cold_start
