"""What the words of `python -m local` do: up, status, drop, down."""

from __future__ import annotations

import argparse
import json
import signal
import time
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from local import demo, deploy, recordings, stack
from local.progress import Bar
from local.recordings import Dropped, Result
from local.stack import Stack


def up(options: argparse.Namespace) -> int:
    """Bring the stack up; with --demo show it at work; stay until Ctrl-C unless --detach or --once."""
    running = stack.find(options.state)
    if running:
        print(f"a stack is up already at {running.endpoint} (pid {running.state.pid}): using it")
        return 0 if show(running, options) else 1
    current, stays = start(options), False
    try:
        good = show(current, options)
        stays = options.detach
        if not (options.detach or options.once):
            watch(current)
    finally:
        if not stays:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # an impatient second Ctrl-C would leave the emulator behind
            current.stop()
            print("\nthe stack is down")
    return 0 if good else 1


def show(current: Stack, options: argparse.Namespace) -> bool:
    """The demonstration, if it was asked for, and where things are; whether all went well."""
    good = demo.run(current, demo.require_samples()) if options.demo else True
    good = (demo.call(options.state) and good) if options.demo else good
    print(("\n" if options.demo else "") + demo.where(current))
    return good


def start(options: argparse.Namespace) -> Stack:
    """Start and deploy with a progress bar."""
    # Being told to end, or losing the terminal, ends the stack as Ctrl-C does.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as it is under nohup
            signal.signal(number, interrupt)
    began = time.monotonic()
    with Bar("deploying", deploy.steps()) as bar:
        current = stack.up(options.state, options.port, dict(options.set), bar.step)
        bar.step(f"up in {time.monotonic() - began:.1f} s", by=bar.total)
    return current


def interrupt(number: int, frame: object) -> None:
    """Handle a signal as Ctrl-C."""
    raise KeyboardInterrupt


def watch(current: Stack) -> None:
    """Print each transcript that is finished from now on, until Ctrl-C."""
    print("\nup until Ctrl-C; transcripts of what is dropped meanwhile appear here", flush=True)
    since, seen = demo.now(), set[tuple[str, str]]()
    try:
        while True:
            for job in recordings.finished(current, since):
                if (mark := (job["key"], job["updated_at"])) not in seen:
                    seen.add(mark)
                    print(arrived(current, job), flush=True)
            time.sleep(0.5)
    except KeyboardInterrupt:
        return


def arrived(current: Stack, job: dict[str, object]) -> str:
    """A finished job that somebody else dropped, described; its latency is read off the job."""
    created, updated = (datetime.fromisoformat(str(job[name])) for name in ("created_at", "updated_at"))
    dropped = Dropped(Path(str(job["key"])), str(job["key"]), 0.0)
    return demo.described(
        Result(dropped, (updated - created).total_seconds(), job, recordings.transcript(current, job))
    )


def status(options: argparse.Namespace) -> int:
    """Say where everything is."""
    found = stack.require(options.state).describe()
    print(json.dumps(found, indent=2) if options.json else table(found))
    return 0


def table(found: dict[str, object]) -> str:
    """The description of a stack as two columns."""
    lines = []
    for name, value in found.items():
        values = [f"{k} = {v}" for k, v in value.items()] if isinstance(value, dict) else value
        rows = values if isinstance(values, list) else [str(values)]
        lines += [f"{name if at == 0 else '':<10} {row}" for at, row in enumerate(rows or ["none"])]
    return "\n".join(lines)


def drop(options: argparse.Namespace) -> int:
    """Drop recordings and print their transcripts."""
    current = stack.require(options.state)
    since = demo.now()
    good = True
    for result in recordings.results(
        current, [recordings.drop(current, path) for path in options.files], since, options.timeout
    ):
        print(demo.described(result))
        for uri in result.job.get("outputs", []):
            print(f"    {current.endpoint}/{quote(str(uri).removeprefix('s3://'))}")
        good = good and not result.failed
    return 0 if good else 1


def down(options: argparse.Namespace) -> int:
    """End the stack that was started here, and nothing else."""
    current = stack.find(options.state)
    if current is None:
        print("no stack is up here")
        return 0
    current.stop()
    print(f"the stack at {current.endpoint} is down")
    return 0


def assignment(text: str) -> tuple[str, str]:
    """`Name=Value` of a template parameter."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r}: expected Name=Value, a parameter of template.yaml")
    return name, value
