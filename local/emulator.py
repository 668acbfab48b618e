"""Start and end the embedded AWS (ministack), on 127.0.0.1 only."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from local.state import ROOT, LocalError, is_emulator

PREFERRED_PORT = 4566  # where AWS emulators are looked for
OWN_PORTS = range(20_000, 32_768)  # below those that outgoing connections are given, which might take ours meanwhile
REGION = "us-east-1"
HOST = "127.0.0.1"
START_S = 90.0  # seconds; a start takes one or two, on a machine that is busy with other things many more


def choose_port(wanted: int | None) -> int:
    """The port to listen on: `wanted`, else the usual one, else any free one (also for 0)."""
    if wanted:
        if not is_free(wanted):
            raise LocalError(f"port {wanted} on {HOST} is taken: give another with --port (0: any free one)")
        return wanted
    if wanted is None:
        if is_free(PREFERRED_PORT):
            return PREFERRED_PORT
        print(f"port {PREFERRED_PORT} is taken by another program: using a free one instead")
    while not is_free(port := secrets.choice(OWN_PORTS)):
        pass
    return port


def is_free(port: int) -> bool:
    """Whether this process could listen on the port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def environment(port: int, folder: Path) -> dict[str, str]:
    """The emulator's environment, which the functions it runs inherit: no real AWS account can leak in."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PYTHON"))}
    return kept | {
        "BIND_HOST": HOST,
        "GATEWAY_PORT": str(port),
        "MINISTACK_HOST": HOST,
        "MINISTACK_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "STATE_DIR": str(folder / "emulator"),
        "TMPDIR": str(folder / "tmp"),
        "OMP_NUM_THREADS": "1",  # as many recordings side by side as there are cores, each on one thread
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def start(port: int, folder: Path) -> subprocess.Popen[bytes]:
    """Start the emulator in a process group of its own and wait until it answers."""
    python = ROOT / ".venv-stack" / "bin" / "python"
    if not python.exists():
        raise LocalError("the embedded AWS is not installed: run `make setup` first")
    shutil.rmtree(folder / "tmp", ignore_errors=True)  # what an emulator that was killed has left
    (folder / "tmp").mkdir(parents=True)
    with (folder / "emulator.log").open("wb") as log:
        process = subprocess.Popen(
            [python, "-m", "ministack"],
            cwd=folder,
            env=environment(port, folder),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_until_ready(process, port, folder / "emulator.log")
    except BaseException:
        stop(process.pid)
        raise
    return process


def wait_until_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Return once the emulator says that it is ready; raise with its own words when it ends instead."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-5:])
            raise LocalError(f"the embedded AWS ended (exit {process.returncode}) at its start; {log} says:\n{tail}")
        if answers(port):
            return
        time.sleep(0.05)
    raise LocalError(f"the embedded AWS did not answer on port {port} within {START_S:.0f} s; its log: {log}")


def answers(port: int) -> bool:
    """Whether an emulator is up on the port."""
    try:
        with urllib.request.urlopen(f"http://{HOST}:{port}/_ministack/health", timeout=2) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def stop(pid: int, patience_s: float = 5.0) -> None:
    """End the emulator of this pid and the functions it runs: politely, then for good."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(pid, number)
        except ProcessLookupError:
            return
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            if not is_emulator(pid):
                break
            time.sleep(0.05)
