"""The other end of a connection: what is sent to a client, whether it is still there, and hanging up."""

from __future__ import annotations

import json
from datetime import datetime
from functools import cache
from typing import Any

from botocore.exceptions import ClientError

MOST_BYTES = 128 * 1024  # of a message to a client


class Gone(Exception):
    """The client has hung up."""


class ClientSide:
    """API Gateway's connections API at `url`, which the template knows."""

    def __init__(self, url: str) -> None:
        self._url = url

    def send(self, connection: str, record: dict[str, Any]) -> None:
        """Sends one record. Raises Gone where nobody is there any more."""
        data = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
        self._call("post_to_connection", ConnectionId=connection, Data=data)

    def active_s(self, connection: str) -> float | None:
        """When the client sent something last, seconds since 1970. Raises Gone where nobody is there any more.

        None where that is not told: the embedded AWS writes the field's name in another way, which boto3 passes over.
        """
        last = self._call("get_connection", ConnectionId=connection).get("LastActiveAt")
        return last.timestamp() if isinstance(last, datetime) else last

    def hang_up(self, connection: str) -> None:
        """Ends the connection. Raises Gone where it had ended."""
        self._call("delete_connection", ConnectionId=connection)

    def _call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = getattr(_api(self._url), operation)(**arguments)
        except ClientError as error:
            if error.response["Error"]["Code"] in ("GoneException", "410"):
                raise Gone(arguments["ConnectionId"]) from None
            raise
        return answer


@cache
def _api(url: str) -> Any:
    import boto3
    from botocore.config import Config

    config = Config(retries={"mode": "standard", "max_attempts": 4}, connect_timeout=5, read_timeout=10)
    return boto3.client("apigatewaymanagementapi", endpoint_url=url, config=config)
