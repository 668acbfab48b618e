"""The transcribe function: every kind of message it can get, and what becomes of it."""

from __future__ import annotations

import json

import pytest
from cloud.jobs import to_attribute

from tests.functions.fake_aws import FakeAws
from tests.functions.situations import BUCKET, ETAG, OUTPUT, Context, Load, load_event, sounds

HELLO = "calls/hello.wav"
NOTHING_TO_RETRY = {"batchItemFailures": []}


def stored(aws: FakeAws, key: str) -> str:
    """An object of the output bucket."""
    body: bytes = aws.s3.objects[OUTPUT, key]["Body"]
    return body.decode()


def transcripts(aws: FakeAws) -> list[str]:
    """Keys in the output bucket."""
    return sorted(key for bucket, key in aws.s3.objects if bucket == OUTPUT)


def test_a_recording_becomes_a_transcript_in_every_format(aws: FakeAws, load: Load) -> None:
    aws.s3.put(BUCKET, HELLO, sounds("xx x"), ETAG)
    answer = load("transcribe").handler(load_event("object_created"), Context())
    assert answer == NOTHING_TO_RETRY
    assert transcripts(aws) == [f"transcripts/{HELLO}.{name}" for name in ("json", "srt", "txt", "vtt")]
    document = json.loads(stored(aws, f"transcripts/{HELLO}.json"))
    assert document["results"]["transcripts"][0]["transcript"] == "word0 word1. word3."
    assert document["accountId"] == "123456789012"
    assert "word0 word1." in stored(aws, f"transcripts/{HELLO}.srt")
    assert stored(aws, f"transcripts/{HELLO}.vtt").startswith("WEBVTT")
    assert stored(aws, f"transcripts/{HELLO}.txt") == "word0 word1. word3.\n"


def test_the_job_table_and_the_bus_hear_of_it(aws: FakeAws, load: Load) -> None:
    aws.s3.put(BUCKET, HELLO, sounds("xx"), ETAG)
    load("transcribe").handler(load_event("object_created"), Context())
    job = aws.job
    assert (job["status"], job["bucket"], job["key"], job["audio_seconds"]) == ("COMPLETED", BUCKET, HELLO, 2)
    assert job["outputs"] == [f"s3://{OUTPUT}/transcripts/{HELLO}.{name}" for name in ("json", "srt", "vtt", "txt")]
    [(kind, detail)] = aws.events.events
    assert kind == "Transcript Completed"
    assert (detail["job"], detail["key"], detail["audio_seconds"]) == (job["id"], HELLO, 2)
    assert detail["outputs"]["json"] == job["outputs"][0]


@pytest.mark.parametrize("name", ["key_with_blank_plus_and_umlaut", "notification_with_encoded_key"])
def test_a_key_is_read_as_s3_knows_it(aws: FakeAws, load: Load, name: str) -> None:
    aws.s3.put(BUCKET, "a b+ü.wav", sounds("x"), ETAG)
    load("transcribe", FORMATS="txt").handler(load_event(name), Context())
    assert transcripts(aws) == ["transcripts/a b+ü.wav.txt"]


@pytest.mark.parametrize("name", ["test_event", "folder", "object_deleted"])
def test_events_that_ask_for_nothing_are_consumed(aws: FakeAws, load: Load, name: str) -> None:
    assert load("transcribe").handler(load_event(name), Context()) == NOTHING_TO_RETRY
    assert not aws.dynamodb.items
    assert not aws.events.events


def test_a_duplicate_changes_nothing(aws: FakeAws, load: Load) -> None:
    aws.s3.put(BUCKET, HELLO, sounds("x"), ETAG)
    app = load("transcribe")
    assert app.handler(load_event("duplicate_delivery"), Context()) == NOTHING_TO_RETRY
    assert app.handler(load_event("object_created"), Context()) == NOTHING_TO_RETRY
    assert len(aws.events.events) == 1


@pytest.mark.parametrize("name", ["overwritten_key", "out_of_order"])
def test_of_two_uploads_of_a_key_the_later_one_counts(aws: FakeAws, load: Load, name: str) -> None:
    aws.s3.put(BUCKET, HELLO, sounds("xxx"), ETAG)
    app = load("transcribe", FORMATS="txt")
    assert app.handler(load_event(name), Context()) == NOTHING_TO_RETRY
    assert stored(aws, f"transcripts/{HELLO}.txt") == "word0 word1 word2.\n"
    assert [kind for kind, _ in aws.events.events] == ["Transcript Completed"]
    states = sorted(item["status"]["S"] for item in aws.dynamodb.items.values())
    assert states == ["COMPLETED", "FAILED"]


def test_the_same_content_uploaded_again_is_transcribed_again(aws: FakeAws, load: Load) -> None:
    aws.s3.put(BUCKET, HELLO, sounds("x"), ETAG)
    app = load("transcribe", FORMATS="txt")
    app.handler(load_event("object_created"), Context())
    again = load_event("object_created")
    again["Records"][0]["body"] = again["Records"][0]["body"].replace("299329D189", "299329D200")
    app.handler(again, Context())
    assert len(aws.events.events) == 2
    app.handler(load_event("object_created"), Context())  # a late replay of the first upload
    assert len(aws.events.events) == 2


def test_a_transcript_of_a_later_upload_is_not_overwritten(aws: FakeAws, load: Load) -> None:
    aws.s3.put(BUCKET, HELLO, sounds("x"), ETAG)
    aws.s3.put(OUTPUT, f"transcripts/{HELLO}.txt", b"of a later upload")
    aws.s3.objects[OUTPUT, f"transcripts/{HELLO}.txt"]["Metadata"] = {"sequencer": "00617F08299329D999".ljust(32, "0")}
    app = load("transcribe", FORMATS="txt")
    assert app.handler(load_event("object_created"), Context()) == NOTHING_TO_RETRY
    assert stored(aws, f"transcripts/{HELLO}.txt") == "of a later upload"
    assert (aws.job["status"], aws.events.events) == ("FAILED", [])


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [
        ("empty_object", b"", "empty"),
        ("deleted_before_read", None, "deleted"),
        ("text_named_wav", b"no sound at all, only text\n" * 40, "expected"),
    ],
)
def test_what_can_never_succeed_fails_with_a_reason_and_is_consumed(
    aws: FakeAws, load: Load, name: str, body: bytes | None, reason: str
) -> None:
    event = load_event(name)
    item = json.loads(event["Records"][0]["body"])["detail"]["object"]
    if body is not None:
        aws.s3.put(BUCKET, item["key"], body, item["etag"])
    assert load("transcribe").handler(event, Context()) == NOTHING_TO_RETRY
    assert aws.job["status"] == "FAILED"
    assert reason in aws.job["reason"]
    [(kind, detail)] = aws.events.events
    assert (kind, detail["reason"]) == ("Transcript Failed", aws.job["reason"])


@pytest.mark.parametrize("name", ["unknown_message", "not_json"])
def test_a_foreign_message_goes_to_the_dead_letters_without_delay(aws: FakeAws, load: Load, name: str) -> None:
    event = load_event(name)
    answer = load("transcribe").handler(event, Context())
    assert answer == {"batchItemFailures": [{"itemIdentifier": event["Records"][0]["messageId"]}]}
    assert aws.sqs.waits == [("receipt-1", 0)]


def test_one_bad_message_does_not_hold_up_the_others(aws: FakeAws, load: Load) -> None:
    aws.s3.put(BUCKET, HELLO, sounds("x"), ETAG)
    event = load_event("one_good_one_bad")
    answer = load("transcribe").handler(event, Context())
    assert answer == {"batchItemFailures": [{"itemIdentifier": event["Records"][0]["messageId"]}]}
    assert aws.job["status"] == "COMPLETED"


def test_trouble_with_the_infrastructure_is_tried_again_later(aws: FakeAws, load: Load) -> None:
    aws.s3.put(BUCKET, HELLO, sounds("x"), ETAG)
    aws.s3.down = 1
    app = load("transcribe")
    event = load_event("object_created")
    assert app.handler(event, Context()) == {
        "batchItemFailures": [{"itemIdentifier": event["Records"][0]["messageId"]}]
    }
    assert aws.sqs.waits == [("receipt-1", 60)]
    assert aws.job["status"] == "QUEUED"
    assert "InternalError" in aws.job["reason"]
    assert app.handler(event, Context()) == NOTHING_TO_RETRY
    assert aws.job["status"] == "COMPLETED"
    assert "reason" not in aws.job


def test_after_the_last_attempt_the_job_fails_and_a_redriven_dead_letter_revives_it(aws: FakeAws, load: Load) -> None:
    aws.s3.put(BUCKET, HELLO, sounds("x"), ETAG)
    aws.s3.down = 1
    app = load("transcribe")
    event = load_event("last_attempt")
    assert app.handler(event, Context())["batchItemFailures"]
    assert aws.job["status"] == "FAILED"
    assert aws.job["reason"].startswith("gave up after 3 attempts")
    app.handler(load_event("object_created"), Context())
    assert aws.job["status"] == "COMPLETED"
    assert [kind for kind, _ in aws.events.events] == ["Transcript Failed", "Transcript Completed"]


def test_a_message_that_is_delivered_while_its_first_delivery_works_waits_for_it(aws: FakeAws, load: Load) -> None:
    aws.s3.put(BUCKET, HELLO, sounds("x"), ETAG)
    app = load("transcribe")
    app.handler(load_event("object_created"), Context())
    (item,) = aws.dynamodb.items.values()
    owner = to_attribute(load_event("object_created")["Records"][0]["messageId"])
    item |= {"status": to_attribute("IN_PROGRESS"), "owner": owner, "lease_until": to_attribute(1 << 40)}
    assert app.handler(load_event("object_created"), Context())["batchItemFailures"]
    assert aws.sqs.waits == [("receipt-1", 43_200)]
    item["owner"] = to_attribute("another message")
    assert app.handler(load_event("object_created"), Context()) == NOTHING_TO_RETRY


def test_a_claim_of_an_invocation_that_died_runs_out(aws: FakeAws, load: Load) -> None:
    aws.s3.put(BUCKET, HELLO, sounds("x"), ETAG)
    app = load("transcribe")
    app.handler(load_event("object_created"), Context())
    (item,) = aws.dynamodb.items.values()
    item |= {"status": to_attribute("IN_PROGRESS"), "owner": to_attribute("dead"), "lease_until": to_attribute(1)}
    app.handler(load_event("object_created"), Context())
    assert aws.job["status"] == "COMPLETED"
    assert len(aws.events.events) == 2


def test_two_channels_are_two_speakers(aws: FakeAws, load: Load) -> None:
    aws.s3.put(BUCKET, HELLO, sounds("x   ", "  xx"), ETAG)
    load("transcribe").handler(load_event("object_created"), Context())
    document = json.loads(stored(aws, f"transcripts/{HELLO}.json"))
    labels = document["results"]["channel_labels"]
    assert labels["number_of_channels"] == 2
    assert stored(aws, f"transcripts/{HELLO}.txt") == "ch_0: word0.\n\nch_1: word2 word3.\n"


def test_channels_can_be_averaged(aws: FakeAws, load: Load) -> None:
    aws.s3.put(BUCKET, HELLO, sounds("x   ", "  xx"), ETAG)
    load("transcribe", CHANNEL_IDENTIFICATION="mono", FORMATS="txt").handler(load_event("object_created"), Context())
    assert stored(aws, f"transcripts/{HELLO}.txt") == "word0. word2 word3.\n"


def test_silence_gives_an_empty_transcript(aws: FakeAws, load: Load) -> None:
    aws.s3.put(BUCKET, HELLO, sounds("   "), ETAG)
    load("transcribe").handler(load_event("object_created"), Context())
    assert aws.job["status"] == "COMPLETED"
    assert json.loads(stored(aws, f"transcripts/{HELLO}.json"))["results"]["transcripts"] == [{"transcript": ""}]


def test_metrics_and_logs_of_a_recording(aws: FakeAws, load: Load, capsys: pytest.CaptureFixture[str]) -> None:
    aws.s3.put(BUCKET, HELLO, sounds("xx"), ETAG)
    load("transcribe").handler(load_event("object_created"), Context())
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (numbers,) = [line for line in lines if "AudioSeconds" in line]
    assert numbers["AudioSeconds"] == [2.0]
    assert {"Duration", "RealTimeFactor", "Completed"} < numbers.keys()
    names = {
        metric["Name"] for line in lines if "_aws" in line for metric in line["_aws"]["CloudWatchMetrics"][0]["Metrics"]
    }
    assert {"AudioSeconds", "Duration", "RealTimeFactor", "Completed"} <= names


def test_a_transcript_whose_key_would_be_too_long_fails_with_a_reason(aws: FakeAws, load: Load) -> None:
    key = "k" * 1010
    event = load_event("object_created")
    event["Records"][0]["body"] = event["Records"][0]["body"].replace(HELLO, key)
    aws.s3.put(BUCKET, key, sounds("x"), ETAG)
    assert load("transcribe").handler(event, Context()) == NOTHING_TO_RETRY
    assert "1027 bytes, expected 1024" in aws.job["reason"]


def test_a_start_without_its_variables_names_all_of_them(load: Load) -> None:
    with pytest.raises(RuntimeError, match="not set: JOB_TABLE, ASR_BUNDLE"):
        load("transcribe", JOB_TABLE="", ASR_BUNDLE="")
