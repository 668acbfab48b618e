"""`python -m local`: up, status, drop, down, each beside whatever else runs on the machine."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from local import demo, emulator, state
from local.stack import Stack
from local.state import LocalError, State
from tests.contract.house import ROOT


def local(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "local", "--state", str(folder), *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def test_a_stack_comes_up_says_where_everything_is_and_goes_down(tmp_path: Path) -> None:
    assert local(tmp_path, "up", "--detach", "--port", "0").returncode == 0
    found = json.loads(local(tmp_path, "status", "--json").stdout)
    try:
        assert found["endpoint"].startswith("http://127.0.0.1:")
        assert found["outputs"]["InputBucket"] in found["buckets"]
        assert found["outputs"]["RecordingsQueueUrl"] in found["queues"]
        assert found["outputs"]["JobTable"] in found["tables"]
        assert found["outputs"]["TranscribeFunction"] in found["functions"]
        assert found["api"]["url"] == found["outputs"]["ApiUrl"] + "/v1"
        assert len(found["api"]["key"]) >= 20
        assert found["api"]["key"] in (said := local(tmp_path, "up", "--detach").stdout)
        assert found["api"]["url"] in said
        assert found["page"] in said
        assert found["page"] == f"{found['outputs']['ConsoleUrl']}#key={found['api']['key']}"
        assert "using it" in local(tmp_path, "up", "--detach").stdout
    finally:
        assert local(tmp_path, "down").returncode == 0
    assert not state.is_emulator(found["pid"])
    assert "no stack is up here" in local(tmp_path, "status").stderr


def test_it_listens_on_127_0_0_1_only(stack: Stack) -> None:
    own = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = {entry[1] for entry in own if entry[3] == "0A"}
    port = f"{stack.state.port:04X}"
    assert {address for address in listening if address.endswith(port)} == {f"0100007F:{port}"}
    v6 = Path("/proc/net/tcp6")
    assert not v6.exists() or f":{port} " not in v6.read_text()


def test_a_taken_port_is_named_when_it_was_asked_for_and_avoided_when_not(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(LocalError, match=f"port {port} on 127.0.0.1 is taken"):
            emulator.choose_port(port)
        monkeypatch.setattr(emulator, "PREFERRED_PORT", port)
        assert emulator.choose_port(None) != port


def test_no_connection_of_a_neighbour_can_take_a_port_that_was_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]  # from where outgoing connections get theirs
        assert taken not in emulator.OWN_PORTS
        monkeypatch.setattr(emulator, "OWN_PORTS", (taken, free := emulator.choose_port(0)))
        assert {emulator.choose_port(0) for _ in range(20)} == {free}


def test_what_a_dead_stack_left_is_cleared_away(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    State(ended.pid, 1, "log", "us-east-1").save(tmp_path)
    assert state.load(tmp_path) is None
    assert not (tmp_path / "stack.json").exists()


def test_a_half_written_state_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / "stack.json").write_text('{"pid": 12')
    assert state.load(tmp_path) is None


def test_another_program_with_the_old_pid_is_not_taken_for_the_emulator(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        State(other.pid, 1, "log", "us-east-1").save(tmp_path)
        assert state.load(tmp_path) is None
        assert other.poll() is None
        other.communicate(b"\n")


def test_a_missing_file_and_an_unknown_parameter_are_named(stack: Stack, tmp_path: Path) -> None:
    assert "nowhere.wav is not a file" in local(stack.folder, "drop", "nowhere.wav").stderr
    answer = local(tmp_path, "up", "--detach", "--port", "0", "--set", "Speed=9")
    assert "template.yaml has no parameter 'Speed'" in answer.stderr
    assert state.load(tmp_path) is None


def test_the_demonstration_transcribes_every_sample(stack: Stack) -> None:
    assert demo.run(stack, demo.samples())
