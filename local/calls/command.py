"""`python -m local call FILE`: a recorded call, live: into a video stream, out of it to a worker, and as words here."""

from __future__ import annotations

import argparse
import json
import queue
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from local.calls.processes import Workers
from local.calls.services import CALL, holder, services
from local.state import LocalError

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
