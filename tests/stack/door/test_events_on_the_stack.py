"""Events that come twice, late, too late or for nothing; objects that are no recordings; and trouble below."""

from __future__ import annotations

import json

import pytest

from tests.stack.door.door import Door, event, wav
from tests.tiny.sound import say

CAT, DOG = wav(say("cat", after_s=1)), wav(say("dog", after_s=1))


def test_replays_of_an_event_change_nothing(door: Door) -> None:
    etag = door.drop("replayed.wav", CAT)
    first = door.job("replayed.wav", "COMPLETED")
    for _ in range(3):
        door.send(event(door.name("InputBucket"), "replayed.wav", etag, str(first["sequencer"])))
    door.settle()
    assert door.jobs("replayed.wav") == [first]
    assert door.told("replayed.wav") == ["Transcript Completed"]


def test_duplicates_at_the_same_time_make_one_transcript(door: Door) -> None:
    etag = door.drop("ignored/twins.wav", CAT)
    door.job("ignored/twins.wav", "COMPLETED")
    for _ in range(6):
        door.send(event(door.name("InputBucket"), "ignored/twins.wav", etag, "F" * 18))
    door.settle()
    assert [job["status"] for job in door.jobs("ignored/twins.wav")] == ["COMPLETED"]
    assert door.told("ignored/twins.wav") == ["Transcript Completed"] * 2


def test_an_overwritten_key_ends_with_the_transcript_of_what_it_holds(door: Door) -> None:
    door.drop("overwritten.wav", CAT)
    door.job("overwritten.wav", "COMPLETED")
    door.drop("overwritten.wav", DOG)
    door.wait(lambda: len(door.jobs("overwritten.wav")) == 2, "a second job")
    door.job("overwritten.wav", "COMPLETED")
    assert "dog" in door.output("overwritten.wav", "txt").lower()


def test_uploads_in_quick_succession_end_with_the_last(door: Door) -> None:
    for body in (CAT, DOG, CAT, DOG):
        door.drop("hasty.wav", body)
    door.settle()
    assert "dog" in door.output("hasty.wav", "txt").lower()
    assert "Transcript Failed" not in door.told("hasty.wav")


def test_the_event_of_an_earlier_upload_that_comes_late_is_passed_over(door: Door) -> None:
    door.drop("late.wav", DOG)
    door.job("late.wav", "COMPLETED")
    door.send(event(door.name("InputBucket"), "late.wav", "0" * 32, "0000000000000001"))
    door.settle()
    assert [job["status"] for job in door.jobs("late.wav")] == ["FAILED", "COMPLETED"]
    assert "uploaded anew" in str(door.jobs("late.wav")[0]["reason"])
    assert "dog" in door.output("late.wav", "txt").lower()
    assert door.told("late.wav") == ["Transcript Completed"]


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "any"}),
        event("any", "a folder/", "d41d8cd98f00b204e9800998ecf8427e", "01", size=0),
    ],
)
def test_messages_that_ask_for_nothing_are_consumed(door: Door, body: str) -> None:
    door.send(body)
    door.settle()
    assert door.dead_letters() == []


@pytest.mark.parametrize(
    ("key", "body", "reason"),
    [
        ("empty.wav", b"", "empty"),
        ("text.wav", b"This is no recording, whatever its name says.\n" * 50, "expected"),
        ("cut.m4a", b"\0\0\0\x20ftypM4A \0\0\0\0M4A mp42isom\0\0\0\0" + bytes(4000), ""),
    ],
)
def test_what_is_no_recording_fails_once_with_a_reason(door: Door, key: str, body: bytes, reason: str) -> None:
    door.drop(key, body)
    job = door.job(key, "FAILED")
    assert reason in str(job["reason"])
    door.settle()
    assert [one["detail"]["reason"] for one in door.heard if one["detail"]["key"] == key] == [job["reason"]]
    assert door.told(key) == ["Transcript Failed"]
    assert door.dead_letters() == []


def test_an_object_deleted_before_it_is_read_fails_with_that_reason(door: Door) -> None:
    door.send(event(door.name("InputBucket"), "gone.wav", "1" * 32, "01"))
    assert "deleted before it could be read" in str(door.job("gone.wav", "FAILED")["reason"])
    assert door.told("gone.wav") == ["Transcript Failed"]


def test_trouble_below_is_tried_again_then_a_dead_letter_and_after_the_redrive_a_transcript(door: Door) -> None:
    with door.variables(OUTPUT_BUCKET="a-bucket-that-is-not-there"):
        door.drop("unlucky.wav", CAT)
        job = door.job("unlucky.wav", "FAILED")
        door.wait(lambda: door.waiting("FailuresQueueUrl") == 1, "the dead letter")
    assert str(job["reason"]).startswith("gave up after 3 attempts")
    assert "NoSuchBucket" in str(job["reason"])
    assert door.told("unlucky.wav") == ["Transcript Failed"]
    [letter] = door.dead_letters()
    door.send(letter)  # as the redrive does
    door.job("unlucky.wav", "COMPLETED")
    assert "cat" in door.output("unlucky.wav", "txt").lower()


@pytest.mark.parametrize("body", ["not JSON", '{"hello": "world"}'])
def test_a_foreign_message_ends_as_a_dead_letter(door: Door, body: str) -> None:
    door.send(body)
    door.wait(lambda: door.waiting("FailuresQueueUrl") == 1, "the dead letter")
    assert door.dead_letters() == [body]
