"""boto3 in this process pointed at a server of the test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import boto3
import pytest
from cloud import clients

KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}


@pytest.fixture
def point(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """`point(url)`: where clients that are made from now on go."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)

    def to(url: str) -> None:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        clients.client.cache_clear()

    yield to
    clients.client.cache_clear()
