"""boto3 clients of a local stack, with credentials that open nothing else."""

from __future__ import annotations

from typing import Any

import boto3
from botocore.config import Config


def client(service: str, endpoint: str, region: str) -> Any:
    """A boto3 client that talks to the emulator at `endpoint` and to nobody else."""
    session = boto3.session.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name=region)
    config = Config(retries={"max_attempts": 3, "mode": "standard"}, connect_timeout=5, s3={"addressing_style": "path"})
    return session.client(service, endpoint_url=endpoint, config=config)
