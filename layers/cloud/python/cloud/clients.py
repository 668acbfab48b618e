"""boto3 clients, made when first used and then kept; `AWS_ENDPOINT_URL` is honoured by boto3 itself."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def client(service: str, endpoint: str = "", read_timeout_s: float = 60, connections: int = 10) -> Any:
    """The process-wide client of an AWS service: `client("s3")`.

    Retries are botocore's `standard` mode: throttles and server errors are tried again with backoff within the call.
    `endpoint` is for services that tell where they are to be called; `connections` are kept open side by side.
    """
    import boto3
    from botocore.config import Config

    config = Config(
        retries={"mode": "standard", "max_attempts": 4},
        connect_timeout=5,
        read_timeout=read_timeout_s,
        max_pool_connections=connections,
    )
    return boto3.client(service, config=config, **({"endpoint_url": endpoint} if endpoint else {}))


@cache
def credentials() -> Any:
    """The credentials that the clients use, for requests that boto3 cannot make; they refresh themselves.

    Call `get_frozen_credentials()` for each signature. None where there are none.
    """
    import boto3

    return boto3.Session().get_credentials()
