"""The worker's own entry point as a process: from a message to events, files and a metric; SIGTERM hands over."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from cloud.calls.call import Call
from cloud.calls.healthy import is_healthy
from cloud.calls.leases import LeaseTable
from cloud.clients import client
from cloud.video.getmedia import Start
from cloud.video.putmedia import PutMedia
from speech.text.transcript import to_text

from local.calls.resources import BUCKET
from tests.stack.calls import process, talk
from tests.stack.calls.test_session import RECORDS, TRANSCRIPT

BEGAN = "2023-11-14T22:13:20.250Z"


def begin(leases: LeaseTable, name: str) -> PutMedia:
    """A call that waits in the table and the queue, and its producer."""
    client("kinesisvideo").create_stream(StreamName=name, DataRetentionInHours=1)
    upload = PutMedia.open(name, start_s=talk.BEGAN_S)
    call = Call(name, name, Start("PRODUCER_TIMESTAMP", timestamp_s=talk.BEGAN_S))
    assert leases.add(call, 4_000_000_000.0, queued_s=30.0)  # far ahead: only the message tells of it
    process.send(name)
    return upload


def numbered(events: list[dict[str, Any]]) -> dict[tuple[int, int], dict[str, Any]]:
    """Numbered events by place, of which those that came twice are the same."""
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for event in events:
        if "number" in event:
            record = {key: value for key, value in event.items() if key not in ADDED}
            assert found.setdefault((event["channel"], event["number"]), record) == record
    return found


ADDED = ("call", "told_at", "start_at", "end_at", "at", "latency_ms")


@pytest.fixture
def ears(services: str) -> str:
    """A queue that hears what the bus is told of calls."""
    url = str(client("sqs").create_queue(QueueName="ears-of-calls")["QueueUrl"])
    arn = client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    client("events").put_rule(Name="ears-of-calls", EventPattern=json.dumps({"source": ["undertone.calls"]}))
    client("events").put_targets(Rule="ears-of-calls", Targets=[{"Id": "ears", "Arn": arn}])
    return url


def heard(ears: str) -> list[tuple[str, dict[str, Any]]]:
    """(detail-type, detail) of all events that the bus has passed on."""
    found: list[tuple[str, dict[str, Any]]] = []
    while some := client("sqs").receive_message(QueueUrl=ears, MaxNumberOfMessages=10).get("Messages"):
        for message in some:
            client("sqs").delete_message(QueueUrl=ears, ReceiptHandle=message["ReceiptHandle"])
            event = json.loads(message["Body"])
            found.append((event["detail-type"], event["detail"]))
    return found


def test_a_message_becomes_words_files_and_a_metric_and_a_stop_hands_over(
    leases: LeaseTable, ears: str, tmp_path: Path
) -> None:
    name, data = "live-worker", b"".join(talk.upload())
    upload, events = begin(leases, name), process.Events(name)
    with process.worker(tmp_path) as first, process.worker(tmp_path) as second:
        for worker in (first, second):
            process.until(worker, "ready for 10 calls")
            metric = process.until(worker, '"_aws"')  # the first comes at once, and the next ones only now and then
            assert metric["service"] == "test-live-worker"
            assert "Calls" in {one["Name"] for one in metric["_aws"]["CloudWatchMetrics"][0]["Metrics"]}
        upload.send(data[: len(data) // 2])
        events.until("final")
        holder, other = (first, second) if leases.read(name)["owner"].endswith(f":{first.pid}") else (second, first)
        holder.send_signal(signal.SIGTERM)
        assert process.until(holder, "handing over")["message"] == "handing over 1 calls"
        assert holder.wait(60) == 0
        assert process.until(other, f"call {name} taken")["message"].endswith("holder number 2")
        upload.finish(data[len(data) // 2 :])
        done = events.until("call_completed")
        assert process.until(other, f"call {name} has ended")["message"].endswith("contact")
        assert is_healthy(tmp_path / "heartbeat", (tmp_path / "heartbeat").stat().st_mtime + 1)
    assert numbered(events.all) == {(record["channel"], record["number"]): record for record in RECORDS}
    check_times(events.all)
    check_files(done, name)
    kinds = [kind for kind, _ in heard(ears)]
    finals = sum(record["type"] == "final" for record in RECORDS)
    assert (kinds[0], kinds[-1], kinds.count("Utterance Transcribed")) == ("Call Started", "Call Completed", finals)
    assert leases.read(name)["reason"] == "contact"
    assert client("sqs").receive_message(QueueUrl=process.queue_url()).get("Messages", []) == []


def check_times(events: list[dict[str, Any]]) -> None:
    """Wall-clock times are the call's, moved by when it began; nothing is told before it was said."""
    first = next(event for event in events if event["type"] == "final")
    assert first["start_at"] == BEGAN.replace("20.250", f"{20.25 + first['start_s']:.3f}")
    assert {event["speaker"] for event in events if event["type"] == "final"} == {"customer", "agent"}
    for event in events:
        if event["type"] in ("partial", "final"):
            assert event["latency_ms"] > 0
    partials = [(event["channel"], event["heard_s"]) for event in events if event["type"] == "partial"]
    for channel in (0, 1):
        heard_s = [at_s for one, at_s in partials if one == channel]
        assert heard_s == sorted(heard_s)  # by one worker after the other, whose second went on where the first was


def check_files(done: dict[str, Any], name: str) -> None:
    """The transcript lies in S3 in every format, where the last event says."""
    assert (done["reason"], done["began_at"], done["streams"]) == ("contact", BEGAN, [name])
    assert set(done["outputs"]) == {"json", "srt", "vtt", "txt"}
    texts = {}
    for kind, uri in done["outputs"].items():
        bucket, _, key = uri.removeprefix("s3://").partition("/")
        assert (bucket, key) == (BUCKET, f"transcripts/calls/{name}.{kind}")
        texts[kind] = client("s3").get_object(Bucket=bucket, Key=key)["Body"].read().decode()
    assert texts["txt"] == to_text(TRANSCRIPT)
    assert texts["txt"].startswith("customer: ")
    assert "agent: " in texts["txt"]
    assert "agent: " in texts["srt"]
    assert "<v agent>" in texts["vtt"]
    results = json.loads(texts["json"])["results"]
    assert results["speakers"] == {"ch_0": "customer", "ch_1": "agent"}
    assert results["channel_labels"]["number_of_channels"] == 2
    left = client("s3").list_objects_v2(Bucket=BUCKET, Prefix=f"work/calls/{name}/").get("Contents", [])
    assert [item["Key"] for item in left] == []


def test_a_start_without_its_settings_names_what_is_missing(services: str, leases: LeaseTable, tmp_path: Path) -> None:
    with process.worker(tmp_path, CALL_TABLE="", MOST_CALLS="many") as failed:
        assert failed.wait(60) == 1
