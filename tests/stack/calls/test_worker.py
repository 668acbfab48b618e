"""Workers on the local stack: real video streams, leases and checkpoints; killed, handed over, many calls at once."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from cloud import storage
from cloud.calls.call import Call
from cloud.calls.leases import LeaseTable
from cloud.calls.worker import Worker, WorkerSettings
from cloud.clients import client
from cloud.live.told import Told
from cloud.video.consumer import Patience
from cloud.video.getmedia import Start
from cloud.video.putmedia import PutMedia
from speech.text.transcript import Transcript

from local.calls.resources import BUCKET
from tests.stack.calls import talk
from tests.stack.calls.conftest import LEASE_S
from tests.stack.calls.test_session import RECORDS, TRANSCRIPT

SETTINGS = WorkerSettings(
    BUCKET, "calls/", checkpoint_s=0.0, look_s=0.0, wait_s=0.01, turn_bytes=20_000, patience=Patience(retry_s=0.0)
)
NOW_S = 1_800_000_000.0
_names = (f"talk-{number}" for number in count())


class Killed(BaseException):
    """A worker is no more."""


@dataclass
class Book:
    """Where results go: each numbered record once, and it must be the same each time it is told."""

    dies: Callable[[], bool] = lambda: False  # asked behind what was told: it was, but nobody could write that down

    records: dict[str, dict[tuple[int, int], Told]] = field(default_factory=dict)
    ends: dict[str, tuple[Transcript, str]] = field(default_factory=dict)
    told: int = 0

    def tell(self, call: Call, records: list[Told]) -> None:
        self.told += len(records)
        for record in records:
            if "number" in record:
                place = record["channel"], record["number"]
                assert self.records.setdefault(call.id, {}).setdefault(place, record) == record
        if self.dies():
            raise Killed

    def ended(self, call: Call, transcript: Transcript, reason: str) -> None:
        assert self.ends.setdefault(call.id, (transcript, reason)) == (transcript, reason)


class Crew:
    """Workers that share a clock and a book, one after another or side by side."""

    def __init__(self, leases: LeaseTable, **changed: Any) -> None:
        self.leases, self.book, self.now_s = leases, Book(), NOW_S
        self.settings = WorkerSettings(**({name: getattr(SETTINGS, name) for name in SETTINGS.__slots__} | changed))
        self.all: list[Worker] = []

    def hire(self) -> Worker:
        owner = f"worker-{len(self.all)}"
        self.all.append(Worker(self.settings, talk.RECOGNIZER, self.leases, self.book, owner, clock=lambda: self.now_s))
        return self.all[-1]

    def kill(self, worker: Worker) -> None:
        """As far as others can see, what a SIGKILL does: it writes nothing more, and its leases run out."""
        worker.feed.close()
        self.now_s += LEASE_S + 1

    def add(self) -> str:
        """A call whose whole stream is kept by the service; its id."""
        name = next(_names)
        client("kinesisvideo").create_stream(StreamName=name, DataRetentionInHours=1)
        PutMedia.open(name, start_s=talk.BEGAN_S).finish(b"".join(talk.upload()))
        self.leases.add(Call(name, name, Start("PRODUCER_TIMESTAMP", timestamp_s=talk.BEGAN_S)), self.now_s)
        return name

    def finish(self, worker: Worker, *calls: str) -> None:
        while not set(calls) <= self.book.ends.keys():
            worker.turn()

    def finish_among_deaths(self, call: str) -> None:
        """One worker after another, as long as the book lets them die."""
        while call not in self.book.ends:
            worker = self.hire()
            try:
                self.finish(worker, call)
            except Killed:
                self.kill(worker)
            finally:
                worker.feed.close()


@pytest.fixture
def crew(leases: LeaseTable) -> Iterator[Crew]:
    made = Crew(leases)
    yield made
    for worker in made.all:
        worker.feed.close()


def right(crew: Crew, call: str) -> bool:
    """Whether a call ended as it should, and was told whole."""
    assert crew.book.ends[call] == (TRANSCRIPT, "contact")
    expected = {(record["channel"], record["number"]): record for record in RECORDS}
    assert crew.book.records[call] == expected
    return True


def test_a_call_is_taken_heard_and_ended(crew: Crew) -> None:
    call, worker = crew.add(), crew.hire()
    crew.finish(worker, call)
    assert right(crew, call)
    assert worker.held == {}
    assert crew.leases.read(call)["status"] == "ENDED"
    assert client("s3").list_objects_v2(Bucket=BUCKET, Prefix=f"calls/{call}/").get("KeyCount", 0) == 0


@pytest.mark.parametrize("seed", range(2))
def test_killed_again_and_again_it_ends_in_the_same_transcript(crew: Crew, seed: int) -> None:
    chance, call = random.Random(seed), crew.add()
    crew.book.dies = lambda: chance.random() < 0.4
    crew.finish_among_deaths(call)
    assert len(crew.all) > 2
    assert right(crew, call)


WORKER = """
import sys
from cloud.calls.leases import LeaseTable
from cloud.calls.worker import Worker
from local.calls.resources import TABLE
from tests.stack.calls import conftest, talk
from tests.stack.calls.test_worker import SETTINGS

class Loud:
    told = 0

    def tell(self, call, records):
        self.told += len(records)
        if self.told > 20:
            print("I have told some", flush=True)
            sys.stdin.read()

worker = Worker(SETTINGS, talk.RECOGNIZER, LeaseTable(TABLE, conftest.LEASE_S), Loud(), "process")
while True:
    worker.turn()
"""


def test_a_process_that_is_killed_is_followed(crew: Crew) -> None:
    call = crew.add()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", WORKER], env=environment, text=True, **pipes) as process:
        assert process.stdout is not None
        assert any("I have told some" in line for line in process.stdout)
        process.kill()
    held = crew.leases.read(call)
    assert (held["owner"], held["status"]) == ("process", "OPEN")
    assert held["checkpoint"]
    crew.now_s = held["lease_until_s"] + 1
    crew.finish(crew.hire(), call)
    assert crew.book.ends[call] == (TRANSCRIPT, "contact")


def test_a_call_that_is_handed_over_goes_on_at_once(crew: Crew) -> None:
    call, first = crew.add(), crew.hire()
    while not crew.book.told:
        first.turn()
    first.hand_over()
    second = crew.hire()
    crew.finish(second, call)
    assert right(crew, call)
    assert second.leases.read(call)["generation"] == 2


def test_a_worker_that_was_only_slow_stops_when_it_finds_out(crew: Crew) -> None:
    call, slow = crew.add(), crew.hire()
    while not slow.held:
        slow.turn()
    crew.now_s += LEASE_S + 1
    quick = crew.hire()
    quick.turn()
    slow.turn()
    assert slow.held == {}
    crew.finish(quick, call)
    assert right(crew, call)


def test_many_calls_are_recognised_together_up_to_the_limit(leases: LeaseTable) -> None:
    crew = Crew(leases, most_calls=2)
    calls, worker, other = [crew.add() for _ in range(3)], crew.hire(), crew.hire()
    worker.turn()
    assert len(worker.held) == 2
    other.turn()
    assert len(other.held) == 1
    assert not worker.held.keys() & other.held.keys()
    while crew.book.ends.keys() != set(calls):
        worker.turn()
        other.turn()
    assert all(right(crew, call) for call in calls)


def test_a_call_whose_stream_is_not_there_fails_alone(crew: Crew) -> None:
    crew.leases.add(Call("lost", "no-such-stream", Start("EARLIEST")), crew.now_s)
    good, worker = crew.add(), crew.hire()
    crew.finish(worker, good, "lost")
    assert crew.book.ends["lost"][1] == "failed"
    assert right(crew, good)


@pytest.mark.parametrize("there", [True, False])
def test_without_a_checkpoint_that_can_be_read_the_call_begins_anew(crew: Crew, there: bool) -> None:
    call, first = crew.add(), crew.hire()
    while not crew.book.told:
        first.turn()
    first.hand_over()
    key = str(crew.leases.read(call)["checkpoint"])
    if there:
        storage.write_bytes(BUCKET, key, b"of another version")
    else:
        storage.delete_all(BUCKET, [key])
    crew.finish(crew.hire(), call)
    assert right(crew, call)
