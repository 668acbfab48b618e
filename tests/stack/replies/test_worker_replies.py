"""A worker as it is deployed, with real video streams, leases and events: what it says, and what it says of that."""

from __future__ import annotations

import json
from base64 import b64decode
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from cloud import storage
from cloud.calls.call import Call
from cloud.calls.leases import LeaseTable
from cloud.calls.outlet import Outlet
from cloud.calls.told import iso
from cloud.clients import client
from cloud.replies import records
from cloud.replies.conversation import Conversation
from cloud.replies.speaking import Outcome
from cloud.settings import LiveWorkerSettings, load
from cloud.video.consumer import Consumer, Patience
from cloud.video.getmedia import Start
from cloud.video.putmedia import PutMedia
from speech.audio import pcm
from speech.media.call_events import Audio, AudioTrack
from speech.media.writer import PutMediaWriter, l16_track

from local.calls.resources import BUCKET, TABLE
from tests.stack.calls import process
from tests.stack.calls.conftest import LEASE_S, leases, services, video_endpoint
from tests.stack.replies import voice
from tests.tiny.sound import say

__all__ = ["leases", "services", "video_endpoint"]  # fixtures
RATE, BEGAN_S = 8000, 1_700_000_000.0
TAGS = {"ContactId": "c"}
_names = (f"asked-{number}" for number in count())


def ask(text: str) -> tuple[str, PutMedia, PutMediaWriter]:
    """Somebody calls, says a text and waits: the call, and the line that is still open."""
    name = next(_names)
    for stream in (name, f"replies-{name}"):
        client("kinesisvideo").create_stream(StreamName=stream, DataRetentionInHours=1)
    data = pcm.encode(say(text, RATE, before_s=0.4, after_s=3.0), "pcm_s16le")
    line, writer = PutMedia.open(name, start_s=BEGAN_S), PutMediaWriter([l16_track(1, "AUDIO_FROM_CUSTOMER")])
    parts = [writer.block(1, at // 16, data[at : at + 1024], TAGS) for at in range(0, len(data), 1024)]
    line.send(b"".join(parts))
    return name, line, writer


def hang_up(line: PutMedia, writer: PutMediaWriter) -> None:
    later = writer.begin(60_000, TAGS) + writer.block(1, 60_000, bytes(1024)) + writer.finish({"ContactId": "another"})
    line.finish(later)


def test_a_deployed_worker_answers_and_tells_of_it(leases: LeaseTable, tmp_path: Path) -> None:
    name, line, writer = ask("cat dog")
    leases.add(Call(name, name, Start("EARLIEST")), 0.0)
    events = process.Events(name)
    with process.worker(tmp_path, RESPONDER="echo", REPLY_STREAM="replies-{call}") as worker:
        process.until(worker, "ready")
        process.send(name)
        started, ended = events.until("reply_start"), events.until("reply_end")
        hang_up(line, writer)
        events.until("call_completed")
    assert (ended["text"].lower(), ended["interrupted"], ended["failed"]) == ("cat dog.", False, "")
    assert started["reply"] == ended["reply"] == "1-1"
    assert started["turn"] == ended["turn"] == next(e["number"] for e in events.all if e["type"] == "turn_end")
    # The call's clock begins with its first sound, which the worker had not heard when it took the call.
    late_s = datetime.fromisoformat(started["at"]).timestamp() - BEGAN_S - started["turn_end_s"]
    assert started["latency_ms"] == pytest.approx(1000 * late_s, abs=2)
    assert "reply_audio" not in {event["type"] for event in events.all}  # sound is for those that watch
    noted = Conversation.from_json(LeaseTable(TABLE, LEASE_S).read(name)["conversation"])
    assert [(turn.who, turn.text.lower()) for turn in noted.turns] == [("caller", "cat dog."), ("reply", "cat dog.")]
    assert not noted.speaking
    expected = voice.spoken(ended["text"])
    track, sound = heard(f"replies-{name}", len(expected))
    assert track.format is not None
    assert (track.format.encoding, track.format.rate) == ("pcm_mulaw", 8000)
    assert sound[: len(expected)] == expected


LONG = " ".join(["cat dog go tad two oak"] * 6)
SOME = 12000  # bytes of mu-law: a second and a half


def test_a_reply_that_the_callers_hang_up_has_cut_is_in_the_record_as_far_as_it_was_heard(
    leases: LeaseTable, tmp_path: Path
) -> None:
    name, line, writer = ask(LONG)
    leases.add(Call(name, name, Start("EARLIEST")), 0.0)
    events = process.Events(name)
    with process.worker(tmp_path, RESPONDER="echo", REPLY_STREAM="replies-{call}") as worker:
        process.until(worker, "ready")
        process.send(name)
        started = events.until("reply_start")
        heard(f"replies-{name}", SOME)  # more than its first word
        hang_up(line, writer)
        done = events.until("call_completed")
    *_, ended, last = [event for event in events.all if event["type"] not in ("turn_start", "turn_end", "final")]
    assert (ended["type"], ended["reply"], ended["interrupted"], last) == ("reply_end", started["reply"], True, done)
    assert 0 < len(ended["text"]) < len(LONG)
    assert ended["start_at"] == started["at"] < ended["end_at"] <= ended["told_at"]
    written = {
        form: storage.read_bytes(BUCKET, f"transcripts/calls/{name}.{form}").decode() for form in done["outputs"]
    }
    results = json.loads(written["json"])["results"]
    assert results["speakers"] == {"ch_0": "customer", "ch_1": "reply"}
    [segment] = [one for one in results["audio_segments"] if one["channel_label"] == "ch_1"]
    assert segment["transcript"] == ended["text"]
    assert float(segment["start_time"]) == pytest.approx(ended["start_s"], abs=0.1)
    assert written["txt"].endswith(f"reply: {ended['text']}\n")
    assert "reply: Cat" in written["srt"]
    assert "<v reply>Cat" in written["vtt"]


def test_a_call_that_is_handed_over_keeps_what_was_said_in_reply(leases: LeaseTable, tmp_path: Path) -> None:
    name, line, writer = ask("cat dog")
    leases.add(Call(name, name, Start("EARLIEST")), 0.0)
    events = process.Events(name)
    with process.worker(tmp_path, RESPONDER="echo") as worker:
        process.until(worker, "ready")
        process.send(name)
        ended = events.until("reply_end")
        worker.terminate()
        assert worker.wait(60) == 0
    with process.worker(tmp_path, RESPONDER="echo") as worker:
        process.until(worker, "ready")
        hang_up(line, writer)
        events.until("call_completed")
    results = json.loads(storage.read_bytes(BUCKET, f"transcripts/calls/{name}.json"))["results"]
    assert [one["transcript"] for one in results["audio_segments"]] == ["Cat dog.", ended["text"]]
    assert results["speakers"] == {"ch_0": "customer", "ch_1": "reply"}


def heard(stream: str, enough: int) -> tuple[AudioTrack, bytes]:
    """What was spoken into a stream, as soon as that is so many bytes."""
    consumer, track, sound = Consumer(stream, Start("EARLIEST"), patience=Patience(idle_s=600)), None, b""
    for event in consumer.events():
        if isinstance(event, AudioTrack):
            track = event
        elif isinstance(event, Audio):
            sound += event.data
        if len(sound) >= enough:
            consumer.stop()
    assert track is not None
    return track, sound


class Watching:
    """Who watches calls."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def send(self, events: list[dict[str, Any]]) -> None:
        self.events += events


def test_watchers_get_the_sound_and_the_stream_the_rest(leases: LeaseTable, tmp_path: Path) -> None:
    settings = load(LiveWorkerSettings, process.environment(tmp_path))
    watching, events = Watching(), process.Events("watched")
    outlet = Outlet(settings, watching, clock=lambda: BEGAN_S + 20)  # type: ignore[arg-type]
    call = Call("watched", "stream", Start("EARLIEST"), began_ms=round(1000 * BEGAN_S))
    outcome = Outcome("Yes, sir.", "Yes,", "sir.", interrupted=True, failed="", words=(("Yes,", 0.05, 0.25),))
    end = records.ended("1-2", 7, 9.5, BEGAN_S + 10.75, outcome)
    speech = voice.voice()
    chunk = next(speech.receive("Yes, sir. "))
    sound = records.sound("1-2", 0, chunk, "Yes, sir. ", "pcm_mulaw", 8000)
    outlet.reply(call, [records.started("1-2", 7, 9.5, BEGAN_S + 10.75), sound, end])
    outlet.settle()
    outlet.close()
    start, heard, end = watching.events
    assert (start["latency_ms"], start["at"], start["told_at"]) == (1250, "2023-11-14T22:13:30.750Z", iso(BEGAN_S + 20))
    assert b64decode(heard["audio"]) == chunk.audio
    assert (end["text"], end["interrupted"], end["call"]) == ("Yes,", True, "watched")
    events.until("reply_end")
    assert events.all == [start, end]
