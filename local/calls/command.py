"""`python -m local call FILE`: a recorded call, live: into a video stream, out of it to a worker, and as words here."""

from __future__ import annotations

import argparse
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from local.state import ROOT, LocalError

CALL = "call"
CLEAR = "\r\033[K" if sys.stdout.isatty() else ""  # the line with the partial
Moments = queue.Queue[tuple[float, float] | Exception]  # (when the call began, how many of its seconds have been)


def add(words: Any) -> None:
    """The word `call` and its options."""
    word = words.add_parser("call", help="play a recording as a live call and watch its transcript appear")
    word.add_argument("file", type=Path, metavar="FILE")
    word.add_argument(
        "--kill", action="store_true", help="kill the worker in the middle; another one goes on with the call"
    )
    word.add_argument("--json", action="store_true", help="only the final transcript and every latency, for programs")
    word.add_argument("--speed", type=float, default=1.0, metavar="N", help="times as fast as it was spoken")
    word.add_argument("--bundle", metavar="DIR", help="the model; as a rule the one in models/bundles")
    word.set_defaults(run=run)


@dataclass
class Heard:
    """What workers told; what is told again after a death counts once."""

    speed: float
    began_s: float = 0.0  # when the call began, in seconds since 1970
    latencies_ms: list[int] = field(default_factory=list)  # from the end of a final's last word to its being told
    told: set[tuple[int, int]] = field(default_factory=set)
    transcript: dict[str, Any] | None = None

    def finals(self, line: dict[str, Any]) -> Iterator[tuple[dict[str, Any], int]]:
        """(final, latency in ms) of those in a line that are new."""
        for record in line.get("records", ()):
            place = record["channel"], record.get("number", -1)
            if record["type"] == "final" and place not in self.told:
                self.told.add(place)
                self.latencies_ms.append(round(1000 * (line["at_s"] - self.began_s - record["end_s"] / self.speed)))
                yield record, self.latencies_ms[-1]


def run(options: argparse.Namespace) -> int:
    """Play, show, and say how late each final was."""
    from speech.cli import bundles
    from speech.errors import BadInput

    from local.calls import caller

    try:
        samples, rate = caller.read(options.file)
        bundle = bundles.find(options.bundle)
    except (BadInput, OSError) as error:
        raise LocalError(str(error)) from None
    heard = Heard(options.speed)
    with services(), Workers(bundle) as workers:
        workers.start(2 if options.kill else 1)
        kill_s = len(samples) / rate / 2 if options.kill else None
        moments: Moments = queue.Queue()

        def play() -> None:
            try:
                caller.play(CALL, CALL, samples, rate, options.speed, lambda *moment: moments.put(moment))
            except Exception as error:
                moments.put(error)

        threading.Thread(target=play, daemon=True).start()
        follow(heard, workers, moments, kill_s, options.json)
    said = {"transcript": heard.transcript, "final_latency_ms": heard.latencies_ms, "workers": workers.started}
    print(json.dumps(said) if options.json else summary(heard, workers.started))
    return 0


def follow(heard: Heard, workers: Workers, moments: Moments, kill_s: float | None, quiet: bool) -> None:
    """Show what is told until the call has ended; kill the worker when `kill_s` seconds of the call have been."""
    at_s = 0.0
    while heard.transcript is None:
        while not moments.empty():
            moment = moments.get()
            if isinstance(moment, Exception):
                raise LocalError(f"the call cannot be sent: {moment}")
            heard.began_s, at_s = moment
        if kill_s is not None and at_s >= kill_s and (pid := holder()):
            kill_s = None
            workers.kill(pid)
            if not quiet:
                print(f"{CLEAR}{at_s:7.1f} s  the worker is killed; another one takes the call")
        if line := workers.line():
            heard.transcript = line.get("transcript")
            if not quiet:
                show(heard, line)
            else:
                list(heard.finals(line))


def show(heard: Heard, line: dict[str, Any]) -> None:
    """Partials on the last line of the terminal, finals above."""
    for final, latency_ms in heard.finals(line):
        head = f"{final['start_s']:7.1f} s  {final['speaker']:<9}"
        print(f"{CLEAR}{head} {final['text']}   ({latency_ms / 1000:.2f} s after it was said)")
    partials = [record for record in line.get("records", ()) if record["type"] == "partial" and record["text"]]
    if partials and sys.stdout.isatty():
        print(f"{CLEAR}           {partials[-1]['speaker']:<9} {partials[-1]['text'][-90:]}", end="", flush=True)


def summary(heard: Heard, workers: int) -> str:
    """How it went."""
    late = sorted(heard.latencies_ms) or [0]
    by = f" by {workers} workers, one after the other" if workers > 1 else ""
    times = f"{late[len(late) // 2] / 1000:.2f} s (median) after they were said, {late[-1] / 1000:.2f} s at most"
    return f"\n{len(heard.told)} finals{by}; {times}"


class Workers:
    """Worker processes side by side; their lines come in order."""

    def __init__(self, bundle: Path) -> None:
        self._bundle = bundle
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
        command = [sys.executable, "-m", "local.calls.worker", "--bundle", str(self._bundle)]
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


@contextmanager
def services() -> Iterator[None]:
    """The embedded AWS and the endpoint of Kinesis Video Streams, in the environment, with a call in them."""
    import boto3
    from cloud.calls.call import Call
    from cloud.calls.leases import LeaseTable
    from cloud.video.getmedia import Start

    from local import emulator
    from local.calls import resources
    from local.kvs.background import Background
    from local.kvs.settings import Settings

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        process = emulator.start(port := emulator.choose_port(0), folder)
        stack.callback(emulator.stop, process.pid)
        kvs = stack.enter_context(Background(folder / "kvs", Settings()))
        found = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ENDPOINT_URL_KINESIS_VIDEO": kvs.url,
            "AWS_CA_BUNDLE": kvs.ca,
            "AWS_DEFAULT_REGION": emulator.REGION,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
        }
        stack.callback(restore(found))
        resources.create(found["AWS_ENDPOINT_URL"])
        boto3.client("kinesisvideo").create_stream(StreamName=CALL, DataRetentionInHours=24)
        LeaseTable(resources.TABLE, 1.0).add(Call(CALL, CALL, Start("EARLIEST"), contact_id=CALL), 0.0)
        yield


def holder() -> int | None:
    """Process id of the worker that has the call, once one has."""
    from cloud.calls.leases import LeaseTable

    from local.calls import resources

    owner = LeaseTable(resources.TABLE, 0.0).read(CALL).get("owner")
    return int(owner) if owner else None


def restore(found: dict[str, str]) -> Callable[[], None]:
    """Set variables; what is given back undoes it."""
    before = dict(os.environ)
    os.environ.update(found)

    def undo() -> None:
        for name in found:
            os.environ.pop(name)
        os.environ.update(before)

    return undo
