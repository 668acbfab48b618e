"""The WebSocket of the running stack, by a real client: streams, handshakes, wrong messages, what is left behind."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
import pytest
from speech.asr.recognizer import Recognizer
from speech.events import Final
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from local.stack import Stack
from tests.contract.house import ROOT
from tests.stack.door.conftest import TINY
from tests.stack.door.door import Door
from tests.stack.door.wire import PATIENCE_S, messages, start, token, wire
from tests.tiny.sound import say

SPEECH = say("cat dog 1.6 twenty two", before_s=0.2, after_s=0.3)
SILENCE = {"type": "audio", "stream": "a", "sequence": 0, "audio": "AAAA" * 400}


def in_one_piece(samples: np.ndarray) -> list[tuple[str, float, float]]:
    stream = Recognizer.load(TINY / "tones").stream(16000)
    events = [*stream.receive(samples), *stream.finish()]
    return [(e.text, round(e.start_s, 3), round(e.end_s, 3)) for e in events if isinstance(e, Final)]


def items(stack: Stack, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = stack.client("dynamodb").scan(TableName=stack.outputs[table])["Items"]
    return found


def test_two_streams_on_one_connection_give_what_each_gives_alone(door: Door) -> None:
    other = say("go gag 1.6 tad", before_s=0.1, after_s=0.4)
    with wire(door.stack) as line:
        line.send(start("a"), start("b"))
        line.until("started", "a")
        line.until("started", "b")
        pairs = zip(messages(SPEECH, "a", 0.2), messages(other, "b", 0.2), strict=False)
        for pair in pairs:
            line.send(*pair)
        line.send(*messages(SPEECH, "a", 0.2)[-3:], *messages(other, "b", 0.2)[-3:])  # the rest, and some once more
        line.until("done", "a")
        if not any(record["type"] == "done" and record["stream"] == "b" for record in line.heard):
            line.until("done", "b")
    for stream, samples in (("a", SPEECH), ("b", other)):
        told = [(final["text"], final["start_s"], final["end_s"]) for final in line.finals(stream)]
        assert told == in_one_piece(samples)
    assert {"turn_start", "partial", "turn_end"} <= {record["type"] for record in line.heard}


def test_shuffled_and_repeated_messages_in_a_process_each_give_the_same_transcript(door: Door) -> None:
    """Two fresh processes at a time, against the tables of the stack; the answers come by the open connection."""
    environment = process_environment(door)
    speech = say("cat 1.4 dog", before_s=0.1, after_s=0.2)
    sent = messages(speech, "fresh", 0.6)  # as much as a frame takes
    chance = random.Random(4)
    again = chance.sample(sent, 2)
    deliveries = chance.sample([*sent, *again], len(sent) + len(again))
    with wire(door.stack) as line:
        line.send(start("fresh"))
        line.until("started", "fresh")
        (connection,) = {i["connection"]["S"] for i in items(door.stack, "StreamTable") if i["stream"]["S"] == "fresh"}
        for at in range(0, len(deliveries), 2):
            running = [(in_a_process(environment), event(connection, one)) for one in deliveries[at : at + 2]]
            for process, told in running:
                out, errors = process.communicate(told, timeout=PATIENCE_S)
                assert process.returncode == 0, out + errors
        line.until("done", "fresh")
    told = [(final["text"], final["start_s"], final["end_s"]) for final in line.finals("fresh")]
    assert told == in_one_piece(speech)


def process_environment(door: Door) -> dict[str, str]:
    """What a process needs to be the socket function of the stack."""
    configuration = door.stack.client("lambda").get_function_configuration(FunctionName=door.name("SocketFunction"))
    environment = os.environ | configuration["Environment"]["Variables"]
    environment |= {"AWS_ENDPOINT_URL": door.stack.endpoint, "AWS_ACCESS_KEY_ID": "test", "OMP_NUM_THREADS": "1"}
    environment |= {"AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": door.stack.state.region}
    environment |= {"POWERTOOLS_TRACE_DISABLED": "true", "SPEAK_S": "600"}
    return environment


def in_a_process(environment: dict[str, str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.stack.door.one_message"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def event(connection: str, message: dict[str, Any]) -> str:
    situation = json.loads((ROOT / "events" / "socket" / "audio.json").read_text())
    situation["requestContext"]["connectionId"] = connection
    return json.dumps(situation | {"body": json.dumps(message)})


@pytest.mark.parametrize("which", ["none", "forged", "expired", "for another door"])
def test_a_handshake_without_a_good_token_is_refused(door: Door, which: str) -> None:
    bad = {
        "none": "",
        "forged": "?token=" + token(door.stack, key=b"k" * 64),
        "expired": "?token=" + token(door.stack, age_s=90),
        "for another door": "?token=" + token(door.stack, purpose="upload"),
    }[which]
    with (
        pytest.raises(InvalidStatus) as refusal,
        connect(door.name("SocketUrl") + bad, open_timeout=PATIENCE_S),
    ):
        pass
    assert refusal.value.response.status_code == (401 if which == "none" else 403)


def test_a_token_from_the_rest_api_opens_it(door: Door) -> None:
    request = Request(f"{door.stack.api_url}/tokens", data=b'{"subject": "frank"}', method="POST")
    request.add_header("content-type", "application/json")
    request.add_header("authorization", f"Bearer {door.stack.api_key}")
    with urlopen(request, timeout=PATIENCE_S) as answer:
        given = json.loads(answer.read())["token"]
    with connect(f"{door.name('SocketUrl')}?token={given}", open_timeout=PATIENCE_S) as socket:
        socket.send(json.dumps(start("a")))
        assert json.loads(socket.recv(timeout=PATIENCE_S))["type"] == "started"


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("hello?", "bad_json"),
        ('{"type": "$disconnect"}', "unknown_type"),
        ('{"type": {"type": "audio"}}', "unknown_type"),
        ('{"type": "🙂", "stream": "a"}', "unknown_type"),
        ({"type": "synthesize", "stream": "a"}, "unknown_type"),
        (start("a", rate=7), "bad_format"),
        (SILENCE | {"sequence": 99}, "sequence_gap"),
        (SILENCE | {"audio": "!"}, "bad_audio"),
        (SILENCE | {"audio": "A" * 200_000}, "message_too_large"),
        (SILENCE | {"stream": "b"}, "unknown_stream"),
    ],
)
def test_a_wrong_message_is_refused_by_name_and_the_stream_goes_on(door: Door, message: Any, code: str) -> None:
    with wire(door.stack) as line:
        line.send(start("a"))
        line.until("started")
        line.send(message)
        assert line.until("error")["code"] == code
        line.send(*messages(np.zeros(1600), "a", 0.1))
        assert line.until("done")["audio_s"] == 0.1


def test_nothing_is_left_when_a_connection_ends(door: Door) -> None:
    def left() -> list[str]:
        """The streams of this test in the table; others' may be on their way out."""
        return [name for item in items(door.stack, "StreamTable") if (name := item["stream"]["S"]).startswith("left")]

    with wire(door.stack, subject="erin") as line:
        line.send(start("left-a"), start("left-b"))
        line.until("started", "left-b")
        line.send(*messages(SPEECH, "left-a", 0.2)[:4])
        line.until("partial")
        assert sorted(left()) == ["left-a", "left-b"]
    door.wait(lambda: not left(), "the streams to be forgotten")
    subjects = {item["subject"]["S"] for item in items(door.stack, "ConnectionTable") if "subject" in item}
    assert "erin" not in subjects


def test_a_subject_that_has_enough_connections_is_refused(door: Door) -> None:
    client, name = door.stack.client("dynamodb"), door.name("ConnectionTable")
    held = [f"connection-{number}" for number in range(50)]
    young = {"subject": {"S": "bob"}, "opened_s": {"N": "9999999999"}}
    for one in held:
        client.put_item(TableName=name, Item={"id": {"S": one}} | young)
    client.put_item(TableName=name, Item={"id": {"S": "subject#bob"}, "holds": {"SS": held}})
    with pytest.raises(InvalidStatus), wire(door.stack, subject="bob"):
        pass
    with wire(door.stack, subject="carol") as line:
        line.send(start("a"))
        line.until("started")
    for one in [*held, "subject#bob"]:
        client.delete_item(TableName=name, Key={"id": {"S": one}})


def test_the_sweep_forgets_who_is_gone(door: Door) -> None:
    client, name = door.stack.client("dynamodb"), door.name("ConnectionTable")
    gone = {"id": {"S": "gone"}, "subject": {"S": "dora"}, "opened_s": {"N": "1000000000"}}
    client.put_item(TableName=name, Item=gone)
    client.put_item(TableName=name, Item={"id": {"S": "subject#dora"}, "holds": {"SS": ["gone", "other"]}})
    answer = door.stack.client("lambda").invoke(
        FunctionName=door.name("SocketFunction"), Payload=(ROOT / "events/socket/sweep.json").read_bytes()
    )
    assert json.loads(answer["Payload"].read()) == {"ended": 1}
    kept = client.get_item(TableName=name, Key={"id": {"S": "subject#dora"}})["Item"]
    assert kept["holds"] == {"SS": ["other"]}
    assert "Item" not in client.get_item(TableName=name, Key={"id": {"S": "gone"}})
