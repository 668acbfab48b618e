"""Worker processes side by side: the entry point that a container has, with the variables of the template's task."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections import deque
from pathlib import Path

from local.calls import live_worker, resources
from local.calls.services import REPLIES
from local.state import LocalError

READY = "ready for"  # what a worker logs once it takes calls
# Short, so that one sees a dead worker followed; all else is as in the template.
PARAMETERS = {"CallLeaseSeconds": "2", "CallCheckpointSeconds": "1", "Formats": "json", "LogLevel": "INFO"}
LOG_LINES = 30  # kept of each worker, to be shown if it ends by itself


class Workers:
    """Worker processes side by side. Use as a context manager, within `services`."""

    def __init__(self, folder: Path, bundle: Path, voice: Path | None, respond: str = "none", model: str = "") -> None:
        """`folder` is for their signs of life; `voice` is the bundle that replies are spoken with, None: no replies."""
        self._folder = folder
        self._variables = environment(bundle, voice, respond if voice else "none", model)
        self._ready: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._processes: dict[int, tuple[subprocess.Popen[str], deque[str]]] = {}
        self.started = 0

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        for pid in list(self._processes):
            self.kill(pid)

    def start(self, count: int) -> None:
        """So many; returns when all are ready."""
        command = [sys.executable, str(live_worker.APP)]
        for number in range(count):
            variables = os.environ | self._variables | {"HEARTBEAT_FILE": str(self._folder / f"heartbeat-{number}")}
            process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                env=variables,
                start_new_session=True,  # Ctrl-C is ours to handle
            )
            log: deque[str] = deque(maxlen=LOG_LINES)
            self._processes[process.pid] = process, log
            threading.Thread(target=self._read, args=(process, log), daemon=True).start()
        self.started = count
        while count:
            try:
                self._ready.get(timeout=0.1)
                count -= 1
            except queue.Empty:
                self.check()

    def kill(self, pid: int) -> None:
        """As a machine dies: nothing is put in order."""
        process, _ = self._processes.pop(pid)
        process.kill()
        process.wait()

    def check(self) -> None:
        """Raises LocalError when a worker has ended by itself."""
        for process, log in self._processes.values():
            if process.poll() is not None:
                raise LocalError(f"a worker ended (exit {process.returncode}):\n{''.join(log)}")

    def _read(self, process: subprocess.Popen[str], log: deque[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            log.append(line)
            if READY in line:
                self._ready.put(process.pid)


def environment(bundle: Path, voice: Path | None, respond: str, model: str) -> dict[str, str]:
    """Variables of a worker of the services in this process's environment."""
    from cloud.clients import client

    named = {
        "CallTable": resources.TABLE,
        "WatcherTable": resources.WATCHERS,
        "OutputBucket": resources.BUCKET,
        "TranscriptStream": resources.STREAM,
        "CallsQueue": client("sqs").get_queue_url(QueueName=resources.QUEUE)["QueueUrl"],
    }
    who = {"Responder": respond, "ReplyStream": REPLIES}
    if respond not in ("echo", "none"):
        who |= {"Responder": "chat", "ResponderAddress": respond, "ResponderModel": model or "none", **_secret()}
    return live_worker.task(PARAMETERS | who, named) | {
        "AWS_DEFAULT_REGION": os.environ["AWS_DEFAULT_REGION"],
        "MODELS_DIR": "/",
        "ASR_BUNDLE": str(bundle.resolve()),
        "TTS_BUNDLE": str(voice.resolve()) if voice else "none",
        "CONNECTIONS_URL": os.environ["AWS_ENDPOINT_URL"],  # nobody watches
    }


def _secret() -> dict[str, str]:
    """The key of a chat endpoint, where this process has one, as a worker has it: by reference."""
    from cloud.clients import client

    key = os.environ.get("OPENAI_API_KEY")
    if not key:
        return {}
    made = client("secretsmanager").create_secret(Name="responder", SecretString=key)
    return {"ResponderSecretArn": made["ARN"]}
