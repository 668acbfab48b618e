"""Many WebSockets at once, each with speech of its own: nothing lost, nothing crossed, memory flat. It ends by itself.

    .venv/bin/python -m tests.bench.sockets [--sockets 50] [--minutes 5] [--within 3600]

Words are runs of tones and the model is the tiny one that hears them, so that time is compressed and what was said is
known exactly. A message is as much mu-law as a frame takes, 2.4 s.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Barrier, Lock

import numpy as np
from speech.cli import bench

from local import stack
from local.stack import Stack
from tests.functions.socket.door import audio, end
from tests.stack.door.conftest import BUNDLES
from tests.stack.door.wire import Wire, start, wire
from tests.tiny.build import LEXICON
from tests.tiny.sound import say

COMMAND = "python -m tests.bench.sockets"
RATE = 8000
MESSAGE = round(2.4 * RATE)
ONE_BY_ONE = Lock()
WORDS = [word for word in LEXICON if word not in ("twenty", "two")]  # those that stay as they were said


def script(seed: int, minutes: float) -> list[str]:
    """What one socket says: turns of a few words, each in 2 s or so, with a pause behind."""
    chance = random.Random(seed)
    turns = [chance.choices(WORDS, k=chance.randint(2, 5)) for _ in range(round(minutes * 60 / 4))]
    return [" ".join(turn) for turn in turns]


def speech(turns: list[str]) -> np.ndarray:
    """The turns as sound (n,), four seconds each."""
    sounds = [say(turn, RATE, before_s=0.2) for turn in turns]
    return np.concatenate([np.pad(sound, (0, 4 * RATE - len(sound))) for sound in sounds])


class Overdue(Exception):
    """The whole took longer than it may."""


@dataclass
class Progress:
    """Of all sockets together, told while they are at work."""

    ends_s: float  # monotonic time at which the load test is given up
    messages: int = 0  # to be taken, of the sockets that are open
    lines: list[Wire] = field(default_factory=list)

    def taken(self) -> int:
        """Messages that the records heard so far say have been taken."""
        return sum(next((r["received"] for r in reversed(line.heard) if "received" in r), 0) for line in self.lines)

    @contextmanager
    def told(self, name: str) -> Iterator[None]:
        """A line on standard error every ten seconds, until the end of the block."""
        over, began = threading.Event(), time.monotonic()

        def tell() -> None:
            while not over.wait(10):
                text = f"{name}: {self.taken()} of {self.messages} messages, {time.monotonic() - began:.0f} s"
                print(text, file=sys.stderr, flush=True)

        teller = threading.Thread(target=tell, daemon=True)
        teller.start()
        try:
            yield
        finally:
            over.set()
            teller.join()


def converse(running: Stack, minutes: float, together: Barrier, progress: Progress, number: int) -> tuple[int, int]:
    """One socket from opening to done: turns that were said, and turns that came back as they were said."""
    turns, name = script(number, minutes), f"stream-{number}"
    samples = speech(turns)
    with ExitStack() as open_while:
        with ONE_BY_ONE:  # the embedded AWS has one process for the handshakes of all
            line = open_while.enter_context(wire(running, subject=f"subject-{number}"))
            line.patience_s = max(1.0, progress.ends_s - time.monotonic())
            line.send(start(name, RATE, encoding="pcm_mulaw"))
            line.until("started")
            progress.lines.append(line)
            progress.messages += -(-len(samples) // MESSAGE) + 1
        together.wait()
        count = 0
        for count, at in enumerate(range(0, len(samples), MESSAGE), 1):
            line.send(audio(count - 1, samples[at : at + MESSAGE], name, "pcm_mulaw"))
        line.send(end(count, name))
        try:
            line.until("done")
        except TimeoutError:
            raise Overdue(f"socket {number} was not done in time") from None
    assert {record["stream"] for record in line.heard} == {name}, "a record of another stream"
    heard = [final["raw_text"] for final in line.finals(name)]
    right = sum(one == other for one, other in zip(turns, heard, strict=False))
    return len(turns), right if len(heard) == len(turns) else 0


def memory_mb(running: Stack) -> dict[str, float]:
    """Resident memory of the emulator and of each function that it runs, by process."""
    found = dict[str, float]()
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            group = (status.parent / "stat").read_text().rsplit(")", 1)[1].split()[2]
            if int(group) == running.state.pid:
                size = next(int(line.split()[1]) for line in status.read_text().splitlines() if "VmRSS" in line)
                found[status.parent.name] = size / 1024
        except (OSError, StopIteration):
            continue  # it ended meanwhile, or has no memory of its own
    return found


def measure(sockets: int, minutes: float, within_s: float) -> Iterator[bench.Row]:
    """The rows of the table; two rounds, so that memory after the second can be held against that after the first."""
    changed = {"MostConnections": str(sockets), **BUNDLES}
    with tempfile.TemporaryDirectory() as folder:
        running = stack.up(Path(folder), 0, changed, lambda note: None)
        try:
            began, memory, said, right = time.monotonic(), list[dict[str, float]](), 0, 0
            for turn in (1, 2):
                progress = Progress(began + within_s)
                one = partial(converse, running, minutes / 2, Barrier(sockets), progress)
                with progress.told(f"round {turn} of 2"), ThreadPoolExecutor(sockets) as pool:
                    for turns, good in pool.map(one, range(sockets)):
                        said, right = said + turns, right + good
                memory.append(memory_mb(running))
            took = time.monotonic() - began
        finally:
            running.stop()
    yield bench.Row("sockets", float(sockets), "at once", "", COMMAND)
    yield bench.Row("sockets_speech", sockets * minutes * 60, "s", "", COMMAND)
    yield bench.Row("sockets_took", took, "s", "", COMMAND)
    yield bench.Row("sockets_turns", float(said), "turns", "", COMMAND)
    yield bench.Row("sockets_turns_wrong", float(said - right), "turns", "0", COMMAND)
    yield bench.Row("sockets_memory", sum(memory[1].values()), "MB", "", COMMAND)
    yield bench.Row("sockets_processes", float(len(memory[1])), "", "", COMMAND)
    # Of those that worked in both rounds: how many the emulator starts depends on what else the machine does.
    both = memory[0].keys() & memory[1].keys()
    growth = sum(memory[1][one] for one in both) / sum(memory[0][one] for one in both)
    yield bench.Row("sockets_memory_growth", growth, "ratio", "1.05 or less", COMMAND)


def main() -> int:
    """Measure and print; 1 if anything was lost or crossed."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--sockets", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=5.0, help="of speech on each socket (5)")
    parser.add_argument("--within", type=float, default=3600.0, help="give up after so many seconds (3600)")
    arguments = parser.parse_args()
    print(bench.machine())
    rows = list(measure(arguments.sockets, arguments.minutes, arguments.within))
    for row in rows:
        print(bench.line(row), flush=True)
    return int(any(row.name == "sockets_turns_wrong" and row.value for row in rows))


if __name__ == "__main__":
    sys.exit(main())
