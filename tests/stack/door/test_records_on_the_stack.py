"""Audio records through the running stack: Kinesis -> Lambda -> Kinesis and the event bus."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from local import live
from tests.contract.house import ROOT
from tests.stack.door.door import Door, wav
from tests.tiny.sound import say

SPEECH = say("cat dog 1.6 twenty two", before_s=0.2, after_s=0.3)


def results(door: Door, stream: str) -> list[dict[str, Any]]:
    """What the transcript stream has of a stream, once it has ended."""
    found: list[dict[str, Any]] = []

    def ended() -> bool:
        found[:] = [r for r in live.Results(door.stack, "TRIM_HORIZON").new() if r.get("stream") == stream]
        return any(result["type"] == "done" for result in found)

    door.wait(ended, f"the end of {stream}")
    return found


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_the_producer_puts_a_recording_in_and_prints_its_words(door: Door, tmp_path: Path, form: list[str]) -> None:
    (tmp_path / "a.wav").write_bytes(wav(SPEECH))
    key = f"produced{''.join(form)}"
    words = ["--state", str(door.stack.folder), "produce", str(tmp_path / "a.wav"), "--key", key, "--speed", "0", *form]
    command = [sys.executable, "-m", "local", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith(f"{key} ")]
    assert [line.rsplit("] ")[-1] for line in lines[:-1]] == ["Cat dog.", "22."]
    assert lines[-1] == f"{key} ended after {len(SPEECH) / 16000:.1f} s"


def test_results_are_numbered_complete_and_on_the_event_bus(door: Door, tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(wav(SPEECH))
    sqs, events = door.stack.client("sqs"), door.stack.client("events")
    arn = sqs.get_queue_attributes(QueueUrl=door.ears, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    events.put_rule(Name="words", EventPattern=json.dumps({"source": ["undertone.records"]}))
    events.put_targets(Rule="words", Targets=[{"Id": "ears", "Arn": arn}])
    for frame in live.frames(tmp_path / "a.wav"):
        door.stack.client("kinesis").put_record(
            StreamName=door.name("AudioStream"), PartitionKey="numbered", Data=frame.pack()
        )
    told = results(door, "numbered")
    assert [result["number"] for result in told] == list(range(len(told)))
    assert [result["raw_text"] for result in told if result["type"] == "final"] == ["cat dog", "twenty two"]

    def kinds() -> list[str]:
        return [one["detail-type"] for one in door.heard if one["detail"].get("stream") == "numbered"]

    door.wait(lambda: len(kinds()) == 3, "three events")
    assert sorted(kinds()) == ["Stream Ended", "Utterance Transcribed", "Utterance Transcribed"]
    events.remove_targets(Rule="words", Ids=["ears"])


def test_a_record_that_is_no_audio_holds_nobody_up(door: Door, tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(wav(SPEECH))
    kinesis, stream = door.stack.client("kinesis"), door.name("AudioStream")
    kinesis.put_record(StreamName=stream, PartitionKey="mixed", Data=b"hello?")
    for frame in live.frames(tmp_path / "a.wav"):
        kinesis.put_record(StreamName=stream, PartitionKey="mixed", Data=frame.pack())
    told = results(door, "mixed")
    assert [r.get("code") for r in told if r["type"] == "error"] == ["bad_record"]
    assert [r["raw_text"] for r in told if r["type"] == "final"] == ["cat dog", "twenty two"]
