"""boto3 clients, made when first used and then kept; `AWS_ENDPOINT_URL` is honoured by boto3 itself."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def client(service: str) -> Any:
    """The process-wide client of an AWS service: `client("s3")`.

    Retries are botocore's `standard` mode: throttles and server errors are tried again with backoff within the call.
    """
    import boto3
    from botocore.config import Config

    config = Config(retries={"mode": "standard", "max_attempts": 4}, connect_timeout=5, read_timeout=60)
    return boto3.client(service, config=config)
