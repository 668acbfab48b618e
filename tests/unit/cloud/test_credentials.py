"""A call outlasts the credentials of its worker: a client that was made once signs each request with those of now."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import count
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from cloud import clients


class Role(BaseHTTPRequestHandler):
    """Where a Fargate task asks for its role's credentials; these last for a minute, so that each is the last."""

    numbers = count()

    def do_GET(self) -> None:
        ends = datetime.now(UTC) + timedelta(minutes=1)
        keys = {"AccessKeyId": f"KEY{next(self.numbers)}", "SecretAccessKey": "secret", "Token": "token"}
        body = json.dumps(keys | {"Expiration": ends.strftime("%Y-%m-%dT%H:%M:%SZ")}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Nothing."""


@pytest.fixture
def task(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An environment as Fargate makes it."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "none")
    monkeypatch.setenv("AWS_CONFIG_FILE", "none")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    server = HTTPServer(("127.0.0.1", 0), Role)
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"http://127.0.0.1:{server.server_port}/role")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    clients.client.cache_clear()
    clients.credentials.cache_clear()
    yield
    clients.client.cache_clear()
    clients.credentials.cache_clear()
    server.shutdown()
    thread.join()
    server.server_close()


def test_each_request_is_signed_with_the_credentials_of_now(task: None) -> None:
    signed: list[str] = []

    def answer(request: Any, **_: Any) -> AWSResponse:
        signed.append(request.headers["Authorization"].decode())
        return AWSResponse(request.url, 200, {}, Answer())

    service = clients.client("kinesisvideo")
    service.meta.events.register("before-send.kinesisvideo.*", answer)
    for _ in range(2):
        assert clients.client("kinesisvideo").list_streams()["StreamInfoList"] == []
    keys = [header.partition("Credential=")[2].partition("/")[0] for header in signed]
    assert all(key.startswith("KEY") for key in keys)
    assert keys[0] != keys[1]


def test_so_is_an_upload(task: None) -> None:
    first, second = (clients.credentials().get_frozen_credentials().access_key for _ in range(2))
    assert first != second


class Answer:
    """The body of an answer with nothing in it."""

    def stream(self, *_: Any, **__: Any) -> Iterator[bytes]:
        yield b'{"StreamInfoList": []}'
