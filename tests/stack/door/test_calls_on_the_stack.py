"""Live calls on the whole stack: begun and read by the REST API, watched over the WebSocket, heard by a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
import requests
from cloud.clients import client
from cloud.video.putmedia import PutMedia
from speech.text.transcript import to_text

from local.calls import live_worker
from local.kvs.background import Background
from local.kvs.settings import Settings
from tests.stack.calls import talk
from tests.stack.calls.conftest import KEYS, forget
from tests.stack.calls.test_session import TRANSCRIPT
from tests.stack.door.door import Door
from tests.stack.door.wire import wire

CALL = "front-desk-1"


@pytest.fixture
def video(door: Door, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The variables of a worker, with an endpoint of video streams that this process uses too."""
    with Background(tmp_path / "kvs", Settings(calls_per_s=0)) as kvs, pytest.MonkeyPatch.context() as changed:
        found = live_worker.services(door.stack, kvs)
        for name, value in (KEYS | found).items():
            changed.setenv(name, value)
        changed.setattr(boto3, "DEFAULT_SESSION", None)
        forget()
        yield live_worker.environment(door.stack, tmp_path) | found | {"CALL_IDLE_S": "600"}
    forget()


def ask(door: Door, method: str, path: str, **more: Any) -> requests.Response:
    headers = {"x-api-key": door.stack.api_key}
    return requests.request(method, f"{door.stack.api_url}{path}", headers=headers, timeout=60, **more)


def test_a_call_is_begun_watched_ended_and_read(door: Door, video: dict[str, str]) -> None:
    client("kinesisvideo").create_stream(StreamName=CALL, DataRetentionInHours=1)
    request = {"stream": CALL, "id": CALL, "start": "earliest"}
    begun = ask(door, "POST", "/calls", json=request)
    assert (begun.status_code, begun.json()["status"]) == (201, "QUEUED")
    assert ask(door, "POST", "/calls", json=request).json()["id"] == CALL
    upload, data = PutMedia.open(CALL, start_s=talk.BEGAN_S), b"".join(talk.upload())
    command = [sys.executable, str(live_worker.APP)]
    with wire(door.stack, calls=(CALL,)) as line, subprocess.Popen(command, env=os.environ | video) as worker:
        try:
            line.send({"type": "watch", "call": CALL})
            assert line.until("watching")["call"] == CALL
            started = line.until("so_far")  # a worker has the call
            assert [record["type"] for record in started["records"]] == ["call_started"]
            upload.send(data[: len(data) // 2])
            first = line.until("final")
            assert (first["call"], first["text"]) == (CALL, "Cat dog.")
            with wire(door.stack, calls=(CALL,)) as late:
                late.send({"type": "watch", "call": CALL})
                past = late.until("so_far")
            assert next(one["text"] for one in past["records"] if one["type"] == "final") == "Cat dog."
            assert past["next"]["0"] > first["number"]
            assert ask(door, "GET", f"/calls/{CALL}").json()["status"] == "IN_PROGRESS"
            assert ask(door, "GET", f"/calls/{CALL}/transcript").status_code == 409
            line.send({"type": "unwatch", "call": "another"}, {"type": "watch", "call": "no call!"})
            assert line.until("unwatched")["call"] == "another"
            assert line.until("error")["code"] == "bad_call"
            line.send({"type": "watch", "call": "another"})
            assert line.until("error")["code"] == "not_allowed"
            # The stream goes on with another call.
            upload.finish(data[len(data) // 2 :])
            done = line.until("call_completed")
        finally:
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(60) == 0
    assert done["reason"] == "contact"
    over = ask(door, "GET", f"/calls/{CALL}").json()
    assert (over["status"], over["reason"], over["began_at"]) == ("COMPLETED", "contact", "2023-11-14T22:13:20.250Z")
    assert ask(door, "GET", f"/calls/{CALL}/transcript?format=txt").text == to_text(TRANSCRIPT)
    assert [call["id"] for call in ask(door, "GET", "/calls?open=false").json()["data"]] == [CALL]
    assert ask(door, "GET", "/calls?open=true").json()["data"] == []


def test_what_names_no_call_is_refused(door: Door) -> None:
    refused = ask(door, "POST", "/calls", json={"stream": "no stream!"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "bad_call")
    refused = ask(door, "POST", "/calls", json={"stream": "front-desk", "start": {"timestamp_s": -1}})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "bad_call")
    for method, path in (("GET", "/calls/nobody"), ("POST", "/calls/nobody/end"), ("GET", "/calls/nobody/transcript")):
        missing = ask(door, method, path)
        assert (missing.status_code, missing.json()["error"]["code"]) == (404, "call_not_found")


def test_a_call_that_nobody_hears_yet_can_be_ended(door: Door) -> None:
    begun = ask(door, "POST", "/calls", json={"stream": "front-desk"}).json()
    ended = ask(door, "POST", f"/calls/{begun['id']}/end")
    assert (ended.status_code, ended.json()["status"]) == (200, "QUEUED")  # whoever takes it finds that it is over
