"""Recordings are made one after the other: where each is, or why there is none; what nobody waits for is stopped."""

from __future__ import annotations

from dataclasses import replace
from threading import Event

import pytest
from cloud.calls.recorder import Recorded, Recorder
from cloud.calls.recording import Stopped, Unrecorded
from cloud.calls.sides import Plan


@pytest.fixture
def nothing() -> Plan:
    return Plan("id", 1_700_000_000_250, 8000, ())


def until(recorder: Recorder, made: Plan) -> Recorded:
    while (found := recorder.outcome(made.call, lambda: made)) is None:
        pass
    return found


def test_a_recorder_tells_where_it_is_or_why_there_is_none(nothing: Plan) -> None:
    def make(plan: Plan, bucket: str, key: str, stopped: Event) -> tuple[str, ...]:
        if plan.rate == 1:
            raise Unrecorded("no stream")
        return ("a little is missing",)

    recorder = Recorder("bucket", "calls/{}.flac".format, make)
    assert until(recorder, nothing) == Recorded("s3://bucket/calls/id.flac", ("a little is missing",))
    failing = replace(nothing, call="other", rate=1)
    assert until(recorder, failing) == Recorded("", ("the call was not recorded: no stream",))
    assert recorder.outcome("silent", lambda: None) == Recorded()


def test_a_recorder_stops_what_nobody_waits_for(nothing: Plan) -> None:
    begun, seen = Event(), Event()

    def make(plan: Plan, bucket: str, key: str, stopped: Event) -> tuple[str, ...]:
        begun.set()
        assert stopped.wait(60)
        seen.set()
        raise Stopped

    recorder = Recorder("bucket", str, make)
    assert recorder.outcome("id", lambda: nothing) is None
    assert begun.wait(60)
    recorder.close()
    assert seen.wait(60)
