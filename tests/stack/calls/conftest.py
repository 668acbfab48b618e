"""An embedded AWS with the table and bucket that workers need, beside the endpoint of Kinesis Video Streams."""

from __future__ import annotations

from collections.abc import Iterator

import boto3
import pytest
from cloud import clients
from cloud.calls.leases import LeaseTable
from cloud.video import endpoints

from local.calls import resources
from local.calls.resources import TABLE
from local.kvs.background import Background
from local.kvs.settings import Settings

LEASE_S = 15.0
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
_session = boto3.session.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name="us-east-1")


@pytest.fixture(scope="session")
def video_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Background]:
    """The endpoint of Kinesis Video Streams, without limits of calls and readers."""
    with Background(tmp_path_factory.mktemp("kvs"), Settings(calls_per_s=0, readers=99)) as running:
        yield running


@pytest.fixture(scope="module")
def services(embedded: str, video_endpoint: Background) -> Iterator[str]:
    """Both in use by this process's clients, which are made once a module; URL of the embedded AWS."""
    with pytest.MonkeyPatch.context() as changed:
        variables = {
            "AWS_ENDPOINT_URL": embedded,
            "AWS_ENDPOINT_URL_KINESIS_VIDEO": video_endpoint.url,
            "AWS_CA_BUNDLE": video_endpoint.ca,
        }
        for name, value in (KEYS | variables).items():
            changed.setenv(name, value)
        changed.setattr(boto3, "DEFAULT_SESSION", _session)
        forget()
        yield embedded
        forget()


@pytest.fixture
def leases(services: str) -> Iterator[LeaseTable]:
    """An empty table of calls, and a bucket."""
    resources.create(services)
    yield LeaseTable(TABLE, LEASE_S)
    resources.delete(services)


def forget() -> None:
    """Drop clients of another environment."""
    clients.client.cache_clear()
    clients.credentials.cache_clear()
    endpoints.forget()
