"""Many WebSockets at once, each with speech of its own: nothing lost, nothing crossed, memory flat. It ends by itself.

    .venv/bin/python -m tests.bench.sockets [--sockets 50] [--minutes 5] [--within 3600]

Words are runs of tones and the model is the tiny one that hears them, so that time is compressed and what was said is
known exactly. A message is as much mu-law as a frame takes, 3 s. All speak in five equal shares and wait for each
other after each; memory is looked at there. The first share warms everything up, the others have to leave it as it is.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from threading import Barrier, BrokenBarrierError

import numpy as np
from speech.cli import bench
from websockets.exceptions import InvalidStatus

from local import stack
from local.commands import interrupt
from local.progress import Bar
from local.stack import Stack
from tests.bench.evidence import EMULATOR, Heard, Sample, growth, judged, sample
from tests.bench.speaker import Speaker
from tests.functions.socket.door import audio, end
from tests.stack.door.conftest import BUNDLES
from tests.stack.door.wire import Wire, start, wire
from tests.tiny.build import LEXICON
from tests.tiny.sound import say

COMMAND = "python -m tests.bench.sockets"
RATE = 8000
MESSAGE = 3 * RATE
TURN_S = 7.5
SHARES = 5
NAME = "speech"  # of every stream: connections keep them apart
WORDS = [word for word in LEXICON if word not in ("twenty", "two")]  # those that stay as they were said
AT_ONCE = 4  # handshakes
NOTED_S = 30  # between two lines in a log
FLAT = 1.05  # memory at the end over memory after the first share
SOCKET = "Socket"  # the function's process, by name


def script(seed: int, turns: int) -> list[str]:
    """What one socket says in a share: turns of some words, in 3 to 6 s, with a pause behind each."""
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.randint(6, 10))) for _ in range(turns)]


def speech(turns: list[str]) -> np.ndarray:
    """The turns as sound (n,), each as long as another with its pause."""
    sounds = [say(turn, RATE, before_s=0.2) for turn in turns]
    return np.concatenate([np.pad(sound, (0, round(TURN_S * RATE) - len(sound))) for sound in sounds])


class Overdue(Exception):
    """The whole took longer than it may."""


@dataclass
class Meeting:
    """Where the sockets wait for each other after each share, while memory is looked at."""

    running: Stack
    sockets: int
    turns: int  # of each socket in each share
    ends_s: float  # monotonic time at which the load test is given up
    speakers: list[Speaker] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    refused: int = 0  # handshakes that had to be tried again

    def __post_init__(self) -> None:
        self.over = threading.Event()
        self.handshakes = threading.Semaphore(AT_ONCE)
        self._barrier = Barrier(self.sockets, self._look)

    @property
    def left_s(self) -> float:
        """Seconds until the end, one at least."""
        return max(1.0, self.ends_s - time.monotonic())

    def join(self) -> None:
        """Waits for all others. Raises BrokenBarrierError if one of them failed."""
        self._barrier.wait(self.left_s)

    def break_up(self) -> None:
        """One failed: nobody waits for it."""
        self.over.set()
        self._barrier.abort()

    def taken(self) -> int:
        """Messages that the records heard so far say have been taken."""
        return sum(speaker.received for speaker in self.speakers)

    def _look(self) -> None:
        if self.taken():  # at the first meeting all sockets are open, and nothing was said
            self.samples.append(sample(self.running.state.pid, self.taken()))


def opened(meeting: Meeting, number: int, open_while: ExitStack) -> Wire:
    """A connection, tried again as clients do where the server is too busy to say who may open one.

    The emulator starts a process of the authoriser for each handshake that finds all others at work: with many at once
    a few cores need longer for that than the authoriser may take, and a handshake ends with 500.
    """
    pause_s = 1.0
    while True:
        try:
            with meeting.handshakes:
                return open_while.enter_context(wire(meeting.running, subject=f"subject-{number}"))
        except (InvalidStatus, TimeoutError) as refused:
            final = isinstance(refused, InvalidStatus) and refused.response.status_code < 500
            if final or time.monotonic() > meeting.ends_s:
                raise
        meeting.refused += 1
        if meeting.over.wait(pause_s * random.uniform(0.5, 1.5)):
            raise BrokenBarrierError
        pause_s = min(20.0, 2 * pause_s)


def converse(meeting: Meeting, number: int) -> Heard:
    """One socket from opening to done."""
    said, sent = list[str](), 0
    try:
        with ExitStack() as open_while:
            line = opened(meeting, number, open_while)
            line.patience_s = meeting.left_s
            line.send(start(NAME, RATE, encoding="pcm_mulaw"))
            line.until("started")
            speaker = Speaker(line)
            meeting.speakers.append(speaker)
            meeting.join()
            for share in range(SHARES):
                turns = script(1000 * number + share, meeting.turns)
                samples = speech(turns)
                for at in range(0, len(samples), MESSAGE):
                    speaker.say(audio(0, samples[at : at + MESSAGE], NAME, "pcm_mulaw"))
                last = share == SHARES - 1
                speaker.say(end(0, NAME, "stop" if last else "finalize"))
                said, sent = said + turns, sent + len(samples)
                speaker.until("done" if last else "finalized", meeting.ends_s)
                meeting.join()
        return judged(said, sent / RATE, line.heard)
    except TimeoutError:
        meeting.break_up()
        raise Overdue(f"socket {number} was not done in time, after {len(said)} turns") from None
    except BaseException:
        meeting.break_up()
        raise


def watch(meeting: Meeting, talks: list[Future[Heard]], messages: int) -> None:
    """A bar of the messages taken and a line for each meeting, until all have ended or one has failed."""
    began, told, noted = time.monotonic(), 0, 0.0
    with Bar("speaking", messages) as bar:
        ended = False
        while not ended:
            done, waiting = wait(talks, timeout=1, return_when=FIRST_EXCEPTION)
            ended = not waiting or any(talk.exception() for talk in done)
            passed = time.monotonic() - began
            for one in meeting.samples[told:]:
                sizes = ", ".join(f"{name} {one.of(name):.1f}" for name in one.names())
                bar.say(f"{passed:6.0f} s: {one.messages} messages; MB: {sizes}")
                told += 1
            bar.step(f"{passed:.0f} s", by=meeting.taken() - bar.done)
            if not sys.stdout.isatty() and passed > noted + NOTED_S:  # a log has no bar
                bar.say(bar.text())
                noted = passed


def talked(meeting: Meeting, messages: int) -> list[Heard]:
    """What all heard. Raises what went wrong with the first that failed; the stack is down then or later."""
    with ThreadPoolExecutor(meeting.sockets) as pool:
        talks = [pool.submit(converse, meeting, number) for number in range(meeting.sockets)]
        try:
            watch(meeting, talks, messages)
        finally:
            meeting.break_up()
            meeting.running.stop()
    failed = [error for talk in talks if (error := talk.exception())]
    for error in sorted(failed, key=lambda one: isinstance(one, BrokenBarrierError)):
        raise error
    return [talk.result() for talk in talks]


def measure(sockets: int, minutes: float, within_s: float) -> Iterator[bench.Row]:
    """The rows of the table."""
    changed, began = {"MostConnections": str(sockets), **BUNDLES}, time.monotonic()
    turns = max(1, round(minutes * 60 / TURN_S / SHARES))
    messages = sockets * SHARES * (-(-round(turns * TURN_S * RATE) // MESSAGE) + 1)
    with tempfile.TemporaryDirectory() as folder:
        running = stack.up(Path(folder), 0, changed, lambda note: None)
        meeting = Meeting(running, sockets, turns, began + within_s)
        heard = talked(meeting, messages)
    yield bench.Row("sockets", float(sockets), "at once", "", COMMAND)
    yield bench.Row("sockets_speech", float(sockets * turns * SHARES * TURN_S), "s", "", COMMAND)
    yield bench.Row("sockets_took", time.monotonic() - began, "s", "", COMMAND)
    yield bench.Row("sockets_opened_again", float(meeting.refused), "times", "", COMMAND)
    again = sum((speaker.troubles for speaker in meeting.speakers), Counter[str]())
    print(*(f"set right by sending again: {code}, {count} times" for code, count in again.items()), sep="\n")
    yield bench.Row("sockets_said_again", float(again.total()), "times", "", COMMAND)
    yield bench.Row("sockets_messages", float(meeting.samples[-1].messages), "taken", f"{messages}", COMMAND)
    yield bench.Row("sockets_turns", float(sum(one.turns for one in heard)), "turns", "", COMMAND)
    yield bench.Row("sockets_turns_wrong", float(sum(one.wrong for one in heard)), "turns", "0", COMMAND)
    faults = [f"socket {number}: {fault}" for number, one in enumerate(heard) for fault in one.faults]
    print(*faults[:20], sep="\n", end="\n" if faults else "", file=sys.stderr)
    yield bench.Row("sockets_faults", float(len(faults)), "", "0", COMMAND)
    # The emulator keeps logs in its memory, and is no part of what ships.
    for what, name, must in (("function", SOCKET, f"{FLAT} or less"), ("emulator", EMULATOR, "")):
        ratio, each = growth(meeting.samples, name)
        yield bench.Row(f"sockets_{what}_memory", meeting.samples[-1].of(name), "MB", "", COMMAND)
        yield bench.Row(f"sockets_{what}_growth", ratio, "ratio", must, COMMAND)
        yield bench.Row(f"sockets_{what}_per_message", each, "bytes", "", COMMAND)


def missed(row: bench.Row) -> bool:
    """Whether a row is not what it must be."""
    if row.must.endswith(" or less"):
        return not row.value <= float(row.must.removesuffix(" or less"))
    return bool(row.must) and row.value != float(row.must)


def main() -> int:
    """Measure, print and judge; 1 if anything was lost or crossed, or memory grew, or time ran out."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--sockets", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=5.0, help="of speech on each socket (5)")
    parser.add_argument("--within", type=float, default=3600.0, help="give up after so many seconds (3600)")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, interrupt)  # being told to end takes the stack down, as Ctrl-C does
    print(bench.machine(), flush=True)
    try:
        rows = list(measure(arguments.sockets, arguments.minutes, arguments.within))
    except (Overdue, KeyboardInterrupt) as ended:
        print(f"FAILED: {ended or 'it was told to end'}")
        return 1
    for row in rows:
        print(bench.line(row), flush=True)
    bad = [row.name for row in rows if missed(row)]
    print(f"FAILED: {', '.join(bad)}" if bad else "passed: nothing lost, nothing crossed, memory flat")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
