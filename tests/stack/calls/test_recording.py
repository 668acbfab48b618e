"""Recordings of calls on the local stack: out of a real archive into a real bucket, by whoever ends the call."""

from __future__ import annotations

import io
import json
import threading
from pathlib import Path

import numpy as np
import pytest
from cloud import storage
from cloud.calls.call import Call
from cloud.calls.leases import LeaseTable
from cloud.calls.outlet import Outlet
from cloud.calls.recorder import Recorder
from cloud.calls.recording import Stopped
from cloud.calls.sides import Plan
from cloud.calls.watcher_table import WatcherTable
from cloud.calls.watchers import Watchers
from cloud.calls.worker import Worker
from cloud.clients import client
from cloud.settings import LiveWorkerSettings, load
from cloud.sockets.client_side import ClientSide
from cloud.video.getmedia import Start
from cloud.video.putmedia import PutMedia
from speech.audio import pcm
from speech.audio.files import open_audio

from local.calls.resources import BUCKET
from tests.stack.calls import process, talk
from tests.stack.calls.conftest import LEASE_S
from tests.stack.calls.test_worker import NOW_S, SETTINGS


@pytest.fixture
def outlet(leases: LeaseTable, tmp_path: Path) -> Outlet:
    return made(tmp_path)


def made(folder: Path) -> Outlet:
    settings = load(LiveWorkerSettings, process.environment(folder, CALL_RECORDING="flac"))
    return Outlet(settings, Watchers(WatcherTable(settings.watcher_table), ClientSide(settings.connections_url)))


def send(leases: LeaseTable, name: str, hours: int) -> None:
    client("kinesisvideo").create_stream(StreamName=name, DataRetentionInHours=hours)
    PutMedia.open(name, start_s=talk.BEGAN_S).finish(b"".join(talk.upload()))
    leases.add(Call(name, name, Start("PRODUCER_TIMESTAMP", timestamp_s=talk.BEGAN_S)), NOW_S)


def finish(worker: Worker) -> None:
    while not worker.held:
        worker.turn()
    while worker.held:
        worker.turn()
    worker.feed.close()


def test_a_call_is_recorded_by_whoever_ends_it(leases: LeaseTable, outlet: Outlet, tmp_path: Path) -> None:
    """The first worker dies while it records, and has kept its lease until then."""
    name, begun, now_s = "recorded", threading.Event(), NOW_S

    def for_ever(plan: Plan, bucket: str, key: str, stopped: threading.Event) -> tuple[str, ...]:
        begun.set()
        stopped.wait()
        raise Stopped

    send(leases, name, 1)
    dying = made(tmp_path)
    dying._recorder = Recorder(BUCKET, str, for_ever)
    first = Worker(SETTINGS, talk.RECOGNIZER, leases, dying, "first", clock=lambda: now_s)
    while not begun.is_set():
        first.turn()
    now_s += LEASE_S - 1
    first.turn()
    held = leases.read(name)
    assert (held["status"], held["lease_until_s"]) == ("OPEN", now_s + LEASE_S)
    first.feed.close()
    now_s += LEASE_S + 1
    finish(Worker(SETTINGS, talk.RECOGNIZER, leases, outlet, "second", clock=lambda: now_s))
    dying.close()
    outlet.close()
    done = process.Events(name).until("call_completed")
    key = f"transcripts/calls/{name}.flac"
    assert (done["outputs"]["recording"], "warnings" in done) == (f"s3://{BUCKET}/{key}", False)
    with open_audio(io.BufferedReader(storage.open_object(BUCKET, key)), allow_av=False) as audio:
        found = np.concatenate(list(audio.blocks(8000)))
    voices = [pcm.decode(data, "pcm_s16le") for data in talk.voices()]
    assert audio.rate == talk.RATE
    assert np.array_equal(found, np.stack(voices, axis=1))


def test_a_call_that_cannot_be_recorded_is_transcribed_and_says_why(leases: LeaseTable, outlet: Outlet) -> None:
    name = "forgotten"
    send(leases, name, 0)
    finish(Worker(SETTINGS, talk.RECOGNIZER, leases, outlet, "alone", clock=lambda: NOW_S))
    outlet.close()
    done = process.Events(name).until("call_completed")
    assert set(done["outputs"]) == {"json", "srt", "vtt", "txt"}
    [warning] = done["warnings"]
    assert warning == ("the call was not recorded: the stream forgotten keeps nothing (its DataRetentionInHours is 0)")
    written = json.loads(storage.read_bytes(BUCKET, f"transcripts/calls/{name}.json"))
    assert warning in json.dumps(written, ensure_ascii=False)
