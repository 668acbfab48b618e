"""Worker processes side by side, whose lines come in order."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from local.state import ROOT, LocalError


class Workers:
    """Worker processes side by side; their lines come in order."""

    def __init__(self, bundle: Path, voice: Path | None = None, respond: str = "none", model: str = "") -> None:
        """`voice` is the bundle that replies are spoken with; None: nothing is said in reply."""
        self._arguments = ["--bundle", str(bundle)]
        if voice:
            self._arguments += ["--voice-bundle", str(voice), "--respond", respond, "--model", model]
        self._lines: queue.Queue[dict[str, Any]] = queue.Queue()
        self._processes: dict[int, subprocess.Popen[str]] = {}
        self.started = 0

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        for pid in list(self._processes):
            self.kill(pid)

    def start(self, count: int) -> None:
        """So many; returns when all are ready."""
        command = [sys.executable, "-m", "local.calls.worker", *self._arguments]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        for _ in range(count):
            process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment)
            self._processes[process.pid] = process
            threading.Thread(target=self._read, args=(process,), daemon=True).start()
        self.started = count
        while count:
            line = self.line()
            count -= bool(line and "ready" in line)

    def kill(self, pid: int) -> None:
        """As a machine dies: nothing is put in order."""
        process = self._processes.pop(pid)
        process.kill()
        process.wait()

    def line(self) -> dict[str, Any] | None:
        """What was told next, if that is soon."""
        try:
            return self._lines.get(timeout=0.02)
        except queue.Empty:
            for process in self._processes.values():
                if process.poll() is not None:
                    raise LocalError(f"a worker ended (exit {process.returncode})") from None
            return None

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            try:
                self._lines.put(json.loads(line))
            except ValueError:
                continue  # cut off by a kill
