"""The local endpoint of Kinesis Video Streams with real TLS, and boto3 that finds it by its environment."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from cloud import clients
from cloud.video import endpoints

from local.kvs.background import Background
from local.kvs.settings import Settings

_session = boto3.session.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name="us-east-1")
_in_use: list[str] = []  # the endpoint whose clients are kept
_names = (f"call-{number}" for number in itertools.count())


@pytest.fixture(scope="session")
def shared_kvs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Background]:
    """One endpoint for all tests that need no settings of their own."""
    with Background(tmp_path_factory.mktemp("kvs"), Settings(calls_per_s=0)) as running:
        yield running


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[Background], Background]:
    """Makes an endpoint the one that this process's clients talk to."""

    def take(running: Background) -> Background:
        variables = {
            "AWS_ENDPOINT_URL_KINESIS_VIDEO": running.url,
            "AWS_CA_BUNDLE": running.ca,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
        }
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", _session)  # keeps the models that it has loaded
        if running.url not in _in_use:
            forget()
            _in_use.append(running.url)
        return running

    return take


@pytest.fixture(autouse=True, scope="module")
def leave_nothing() -> Iterator[None]:
    """Clients of our endpoints are made once a module: making them is most of what a test costs."""
    forget()
    yield
    forget()


def forget() -> None:
    """Drop clients and endpoints of another environment."""
    _in_use.clear()
    clients.client.cache_clear()
    clients.credentials.cache_clear()
    endpoints.forget()


@pytest.fixture
def kvs(shared_kvs: Background, use: Callable[[Background], Background]) -> Background:
    """The shared endpoint, in use."""
    return use(shared_kvs)


@pytest.fixture
def start(tmp_path: Path, use: Callable[[Background], Background]) -> Iterator[Callable[..., Background]]:
    """Starts an endpoint of the test's own: `start(Settings(...), now=clock)`."""
    running: list[Background] = []

    def begin(settings: Settings, **clocks: Any) -> Background:
        running.append(Background(tmp_path, settings, **clocks).__enter__())
        return use(running[-1])

    yield begin
    for endpoint in running:
        endpoint.__exit__()


@pytest.fixture
def stream(kvs: Background) -> str:
    """Name of a new stream with an hour of retention."""
    return create()


def create(hours: int = 1) -> str:
    """Name of a new stream."""
    name = next(_names)
    clients.client("kinesisvideo").create_stream(StreamName=name, DataRetentionInHours=hours)
    return name
