"""`python -m local call FILE --page`: the recording as a call of the stack that is up, so that its page shows it.

The worker is the template's own, as `python -m local.calls.live_worker` runs it, for as long as the call takes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from speech.errors import BadInput

from local import stack
from local.calls import caller, live_worker
from local.calls.services import forget, restore
from local.kvs.background import Background
from local.kvs.settings import Settings
from local.live import Results
from local.stack import Stack
from local.state import LocalError

ALIVE_S = 3.0  # a worker touches its heartbeat each second
HOLD_S = 4.0  # of the call behind the recording: by then its last turn has ended
PAUSE_S = 0.1  # between two looks at what was told
OVER = ("call_completed", "call_failed")


@dataclass
class Turns:
    """Whose turn it is: the caller stays on the line until every turn has ended and was answered."""

    answered: bool  # whether anybody answers at all
    begun: int = -1  # number of the record with which the caller's last turn began
    ended: int = -1
    reply: int = -1  # number of the turn's end that the last reply was for

    def take(self, event: dict[str, Any]) -> None:
        """What was told of the call."""
        if event["type"] == "reply_end":
            self.reply = max(self.reply, event["turn"])
        elif event.get("speaker") == "customer" and event["type"] == "turn_start":
            self.begun = event["number"]
        elif event.get("speaker") == "customer" and event["type"] == "turn_end":
            self.ended = event["number"]
            if event["reason"] == "nothing_said":
                self.reply = event["number"]

    @property
    def over(self) -> bool:
        """Whether nobody speaks, and nobody is going to."""
        return self.begun <= self.ended and (not self.answered or self.reply >= self.ended)


def run(options: argparse.Namespace) -> int:
    """Play it into the stack that is up; the page shows the rest."""
    if options.kill or options.json or options.wav or options.bundle or options.voice_bundle:
        raise LocalError("--page goes with --speed, --respond and --model alone: all else is the stack's")
    try:
        samples, rate = caller.read(options.file)
    except (BadInput, OSError) as error:
        raise LocalError(str(error)) from None
    reason = play(options.state, options.file.stem, samples, rate, options.speed, responder(options))
    print(f"the call is over: {reason}")
    return 0


def responder(options: argparse.Namespace) -> dict[str, str]:
    """The worker's variables of who answers."""
    if options.respond in ("echo", "none"):
        return {"RESPONDER": options.respond}
    if not options.respond.startswith(("http://", "https://")):
        raise LocalError(f"--respond {options.respond}: expected echo, none or a URL")
    return {"RESPONDER": "chat", "RESPONDER_ADDRESS": options.respond, "RESPONDER_MODEL": options.model or "none"}


def play(state: Path, name: str, samples: caller.Samples, rate: int, speed: float, respond: dict[str, str]) -> str:
    """Samples (n, channels) as a call to its end, on a stream of this name or nearly; why the call ended."""
    current = stack.require(state)
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", name)[:64] or "call"
    with worker(current, state, respond) as process:
        boto3.client("kinesisvideo").create_stream(StreamName=name, DataRetentionInHours=1)
        results = Results(current, "LATEST")
        call = begin(current, name)
        print(f"the page shows call {call} under Live calls: {current.page_url}", flush=True)
        spoken_s, at_s, hang_up = len(samples) / rate, 0.0, threading.Event()
        failed: list[Exception] = []

        def note(began_s: float, now_s: float) -> None:
            nonlocal at_s
            at_s = now_s

        def send() -> None:
            try:
                caller.play(name, call, samples, rate, speed, hang_up, note)
            except Exception as error:
                failed.append(error)

        threading.Thread(target=send, daemon=True).start()
        turns = Turns(answered=respond["RESPONDER"] != "none")
        while True:
            for event in results.new():
                if event.get("call") == call:
                    turns.take(event)
                    if event["type"] in OVER:
                        return str(event["reason"])
            if failed:
                raise LocalError(f"the call cannot be sent: {failed[0]}")
            if process.poll() is not None:
                raise LocalError(f"the worker ended (exit {process.returncode}); {log(state)} says why")
            if at_s >= spoken_s + HOLD_S and turns.over:
                hang_up.set()
            time.sleep(PAUSE_S)


def begin(current: Stack, name: str) -> str:
    """The stack hears of a call; its id."""
    headers = {"x-api-key": current.api_key, "Content-Type": "application/json"}
    body = json.dumps({"stream": name, "start": "earliest"}).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(f"{current.api_url}/calls", body, headers)) as answer:
            return str(json.load(answer)["id"])
    except urllib.error.HTTPError as error:
        raise LocalError(f"the call cannot be begun: {error.read().decode(errors='replace')}") from None


@contextmanager
def worker(current: Stack, state: Path, changed: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A worker of a stack and an endpoint of video streams, which this process uses too."""
    heartbeat = state / "heartbeat"
    if heartbeat.exists() and time.time() - heartbeat.stat().st_mtime < ALIVE_S:
        raise LocalError("a worker of this stack is up already, and would take the call: end it first")
    with ExitStack() as held:
        kvs = held.enter_context(Background(state / "kvs", Settings(region=current.state.region)))
        found = live_worker.services(current, kvs)
        variables = live_worker.environment(current, state) | found | changed
        held.callback(forget)
        held.callback(restore(found | {"AWS_DEFAULT_REGION": current.state.region}))
        forget()
        output = held.enter_context(log(state).open("wb"))
        command = [sys.executable, str(live_worker.APP)]
        process = subprocess.Popen(command, env=os.environ | variables, stdout=output, stderr=output)
        held.callback(end, process, heartbeat)
        yield process


def end(process: subprocess.Popen[bytes], heartbeat: Path) -> None:
    """A worker puts down what it holds."""
    process.send_signal(signal.SIGTERM)
    process.wait()
    heartbeat.unlink(missing_ok=True)


def log(state: Path) -> Path:
    """What the worker says."""
    return state / "worker.log"
