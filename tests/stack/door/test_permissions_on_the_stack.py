"""The roles of the template, enforced by the emulator: each function may do what it does, on every way it can take."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from cloud.live.audio_format import AudioFormat
from cloud.records.frames import Frame

from local import live, template
from local import stack as stacks
from tests.functions.socket.talking import opening
from tests.stack.door.conftest import PARAMETERS
from tests.stack.door.door import Door, m4a, wav
from tests.stack.door.wire import messages, start, wire
from tests.tiny.sound import say

EVENTS = Path(__file__).resolve().parents[3] / "events"


def without_tls_rules() -> template.Template:
    """The template less its refusals of plain HTTP, which is all that the emulator speaks and which it would obey."""
    whole = template.read(template.TEMPLATE)
    for kind in ("AWS::S3::BucketPolicy", "AWS::SQS::QueuePolicy"):
        for name, properties in template.resources(whole, kind).items():
            kept = [rule for rule in properties["PolicyDocument"]["Statement"] if rule["Sid"] != "TlsOnly"]
            properties["PolicyDocument"]["Statement"] = kept
            if not kept:
                del whole["Resources"][name]
    return whole


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """A stack whose emulator checks every request of the functions against their roles."""
    rules = without_tls_rules()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTH", "true")
        patch.setattr(template, "read", lambda: rules)
        running = stacks.up(tmp_path_factory.mktemp("guarded"), 0, PARAMETERS, lambda note: None)
    try:
        yield Door.at(running)
    finally:
        running.stop()


def refusals(door: Door) -> list[str]:
    """What the emulator did not let the functions do."""
    return [line for line in door.stack.log().splitlines() if "is not authorized to perform" in line]


def test_the_roles_are_enough_for_a_recording(guarded: Door) -> None:
    guarded.drop("calls/a.wav", wav(say("cat", after_s=1), say("dog", before_s=2)))
    guarded.job("calls/a.wav", "COMPLETED")
    guarded.settle()
    assert refusals(guarded) == []


def test_the_roles_are_enough_for_the_decoder(guarded: Door) -> None:
    guarded.drop("b.m4a", m4a(say("cat", after_s=1)))
    guarded.job("b.m4a", "COMPLETED")
    guarded.settle()
    assert refusals(guarded) == []


def test_the_roles_are_enough_for_checkpoints(guarded: Door) -> None:
    with guarded.variables(CHECKPOINT_MARGIN_S="900"):
        guarded.drop("c.wav", wav(say("cat 12 dog", after_s=1)))
        guarded.job("c.wav", "COMPLETED")
    guarded.settle()
    assert refusals(guarded) == []


def test_the_roles_are_enough_to_fail_and_to_tell(guarded: Door) -> None:
    guarded.drop("d.wav", b"no recording" * 100)
    guarded.job("d.wav", "FAILED")
    guarded.settle()
    assert guarded.told("d.wav") == ["Transcript Failed"]
    assert refusals(guarded) == []


def test_the_roles_are_enough_for_the_websocket(guarded: Door) -> None:
    with wire(guarded.stack) as line:
        line.send(start("a"), *messages(say("cat", before_s=0.2), "a", 0.2))
        line.until("done")
        line.send("hello?")
        assert line.until("error")["code"] == "bad_json"
    table = {"TableName": guarded.name("ConnectionTable"), "FilterExpression": "attribute_exists(opened_s)"}
    guarded.wait(lambda: not guarded.stack.client("dynamodb").scan(**table)["Items"], "the connection to be forgotten")
    guarded.stack.client("lambda").invoke(FunctionName=guarded.name("SocketFunction"), Payload=b"{}")
    assert line.words("a") == ["cat"]
    assert refusals(guarded) == []


def test_the_roles_are_enough_to_speak_and_to_call_the_next_speaker(guarded: Door) -> None:
    with wire(guarded.stack) as line:
        line.send(opening("long", text="The cat is here. " * 60, finish=True))
        line.until("done")
    assert refusals(guarded) == []


def test_the_roles_are_enough_for_long_texts(guarded: Door) -> None:
    asked = {"model": "hum", "voice": "low", "input": "The cat is here. " * 40}
    with requests.Session() as session:
        session.headers["x-api-key"] = guarded.stack.api_key
        posted = session.post(f"{guarded.stack.api_url}/speech-jobs", json=asked, timeout=60)
        job = f"{guarded.stack.api_url}/jobs/{posted.json()['id']}"
        guarded.wait(lambda: session.get(job, timeout=60).json()["status"] == "COMPLETED", "the text to be spoken")
    assert refusals(guarded) == []


def test_the_roles_are_enough_for_records(guarded: Door) -> None:
    frame = Frame(AudioFormat("pcm_f32le", 16000, 1), 0, say("cat", before_s=0.2).astype("<f4").tobytes(), last=True)
    where = {"StreamName": guarded.name("AudioStream"), "PartitionKey": "guarded"}
    guarded.stack.client("kinesis").put_record(**where, Data=frame.pack())
    results = live.Results(guarded.stack, "TRIM_HORIZON")
    guarded.wait(lambda: any(result["type"] == "done" for result in results.new()), "the end of the stream")
    guarded.stack.client("lambda").invoke(FunctionName=guarded.name("RecordsFunction"), Payload=b"{}")
    assert refusals(guarded) == []


def test_the_roles_are_enough_for_the_api(guarded: Door) -> None:
    base, headers = guarded.stack.api_url, {"x-api-key": guarded.stack.api_key}

    def ask(method: str, path: str, **more: Any) -> requests.Response:
        return requests.request(method, f"{base}{path}", headers=headers, timeout=60, **more)

    form = ask("POST", "/uploads", json={"filename": "a.wav", "content_type": "audio/wav"}).json()
    sent = requests.post(form["url"], form["fields"], files={"file": wav(say("cat", after_s=1))}, timeout=60)
    assert sent.status_code == 204
    guarded.job(form["fields"]["key"], "COMPLETED")
    assert "cat" in ask("GET", f"/jobs/{form['id']}/transcript?format=txt").text.lower()
    assert ask("GET", f"/jobs/{'0' * 32}").status_code == 404
    assert ask("GET", "/jobs").json()["data"][0]["id"] == form["id"]
    assert ask("POST", "/tokens", json={}).status_code == 201
    for clip in (wav(say("cat", after_s=1)), m4a(say("cat", after_s=1))):
        heard = ask("POST", "/audio/transcriptions", data={"model": "tones"}, files={"file": ("a", clip)})
        assert heard.json()["text"] == "Cat."
    assert refusals(guarded) == []


def test_the_roles_are_enough_for_live_calls(guarded: Door) -> None:
    def ask(method: str, path: str, **more: Any) -> int:
        headers = {"x-api-key": guarded.stack.api_key}
        url = f"{guarded.stack.api_url}/calls{path}"
        return requests.request(method, url, headers=headers, timeout=60, **more).status_code

    assert ask("POST", "", json={"stream": "s", "id": "one"}) == 201
    assert [ask("GET", ""), ask("GET", "/one"), ask("POST", "/one/end")] == [200, 200, 200]
    for case in ("chime_caller_started", "chime_callee_started", "chime_caller_ended"):
        event = (EVENTS / "call_start" / f"{case}.json").read_bytes()
        answer = guarded.stack.client("lambda").invoke(FunctionName=guarded.name("CallStartFunction"), Payload=event)
        assert "FunctionError" not in answer
    with wire(guarded.stack, calls=("one",)) as line:
        line.send({"type": "watch", "call": "one"})
        line.until("watching")
        line.send({"type": "unwatch", "call": "one"})
        line.until("unwatched")
    assert refusals(guarded) == []


def test_a_role_may_not_write_where_recordings_come_in(guarded: Door) -> None:
    # The last one: what it is refused stays in the log that the others read.
    with guarded.variables(OUTPUT_BUCKET=guarded.name("InputBucket")):
        guarded.drop("e.wav", wav(say("cat", after_s=1)))
        assert "AccessDenied" in str(guarded.job("e.wav", "FAILED")["reason"])
