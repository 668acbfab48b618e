"""`python -m local kvs` as a person runs it: what it prints is what clients need."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import boto3
import pytest

from local.__main__ import main, parser
from tests.contract.house import ROOT


def test_what_it_prints_is_what_clients_need(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-m", "local", "--state", str(tmp_path), "kvs", "--port", "0", "--key", "me:secret"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        exports: dict[str, str] = {}
        while "AWS_SECRET_ACCESS_KEY" not in exports:
            line = process.stdout.readline()
            assert line, "it ended"
            if found := re.match(r"  export (\w+)=(.*)", line):
                exports[found[1]] = found[2]
        for name, value in exports.items():
            monkeypatch.setenv(name, value)
        session = boto3.session.Session()
        client = session.client("kinesisvideo")
        client.create_stream(StreamName="mine")
        assert [stream["StreamName"] for stream in client.list_streams()["StreamInfoList"]] == ["mine"]
        process.send_signal(signal.SIGTERM)
        assert "what it held is gone" in process.stdout.read()
    assert process.returncode == 0
    assert (tmp_path / "kvs" / "ca.key").stat().st_mode & 0o077 == 0


def test_a_port_that_is_taken_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["--state", str(tmp_path), "kvs", "--port", str(port)]) == 1
    assert f"ports {port} to {port + 3}" in capsys.readouterr().err


def test_a_key_without_a_secret_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["kvs", "--key", "alone"])
    assert "expected ID:SECRET" in capsys.readouterr().err
