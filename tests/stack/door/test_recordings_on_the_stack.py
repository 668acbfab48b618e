"""Recordings through the running stack: S3 -> EventBridge -> SQS -> Lambda, with a real recogniser of tones."""

from __future__ import annotations

import json

import pytest

from tests.stack.door.door import Door, m4a, wav
from tests.tiny.sound import say


def test_a_recording_becomes_transcripts_a_job_and_an_event(door: Door) -> None:
    door.drop("calls/first.wav", wav(say("cat dog 1 twenty two", after_s=1)))
    job = door.job("calls/first.wav", "COMPLETED")
    assert door.told("calls/first.wav") == ["Transcript Completed"]
    document = json.loads(door.output("calls/first.wav", "json"))
    words = [item["content"] for item in document["results"]["raw_words"]]
    assert words == ["cat", "dog", "twenty", "two"]
    assert document["jobName"] == job["id"]
    assert "22" in door.output("calls/first.wav", "txt")
    assert " --> " in door.output("calls/first.wav", "srt")
    assert door.output("calls/first.wav", "vtt").startswith("WEBVTT")
    assert job["outputs"] == [
        f"s3://{door.name('OutputBucket')}/transcripts/calls/first.wav.{name}" for name in ("json", "srt", "vtt", "txt")
    ]
    assert float(job["processing_seconds"]) > 0
    assert int(job["expires_at"]) > 1.7e9


@pytest.mark.parametrize("key", ["a b+ü.wav", "100%25 true & <loud>?.wav", "no extension", "日本語/電話.WAV"])
def test_a_key_may_hold_anything(door: Door, key: str) -> None:
    door.drop(key, wav(say("oak", after_s=1)))
    door.job(key, "COMPLETED")
    assert "oak" in door.output(key, "txt").lower()
    assert door.told(key) == ["Transcript Completed"]


def test_two_channels_are_told_apart(door: Door) -> None:
    door.drop("stereo.wav", wav(say("cat dog", before_s=0.5), say("oak", before_s=4, after_s=1)))
    door.job("stereo.wav", "COMPLETED")
    labels = json.loads(door.output("stereo.wav", "json"))["results"]["channel_labels"]
    said = [
        [item["alternatives"][0]["content"].lower() for item in channel["items"] if item["type"] == "pronunciation"]
        for channel in labels["channels"]
    ]
    assert (labels["number_of_channels"], said) == (2, [["cat", "dog"], ["oak"]])


def test_a_container_that_libsndfile_cannot_read_takes_the_way_of_the_decoder(door: Door) -> None:
    door.drop("voice memo.m4a", m4a(say("cat dog", before_s=1, after_s=1)))
    job = door.job("voice memo.m4a", "COMPLETED")
    assert "cat dog" in door.output("voice memo.m4a", "txt").lower()
    assert str(job["converted"]).endswith("audio.flac")
    assert door.told("voice memo.m4a") == ["Transcript Completed"]
    assert left_in_work(door) == []


def test_a_long_recording_goes_from_invocation_to_invocation(door: Door) -> None:
    left = say("cat dog 9 go 3.5 tad gag " * 3, before_s=3, after_s=2)
    recording = wav(left, say("oak 8 twenty two " * 4, before_s=1))
    door.drop("whole.wav", recording)
    whole = door.job("whole.wav", "COMPLETED")
    assert float(whole["audio_seconds"]) > 40  # five blocks, so five rounds and more
    with door.variables(CHECKPOINT_MARGIN_S="900"):
        door.drop("pieces.wav", recording)
        pieces = door.job("pieces.wav", "COMPLETED")
    assert str(pieces["checkpoint"]).endswith(".checkpoint")
    assert pieces["audio_seconds"] == whole["audio_seconds"]
    one, other = (json.loads(door.output(key, "json"))["results"] for key in ("whole.wav", "pieces.wav"))
    assert one == other
    assert len(one["raw_words"]) == 3 * 5 + 4 * 3
    for name in ("srt", "vtt", "txt"):
        assert door.output("whole.wav", name) == door.output("pieces.wav", name)
    assert door.told("pieces.wav") == ["Transcript Completed"]
    assert left_in_work(door) == []


def left_in_work(door: Door) -> list[str]:
    """Keys below the work prefix."""
    answer = door.stack.client("s3").list_objects_v2(Bucket=door.name("OutputBucket"), Prefix="work/")
    return [item["Key"] for item in answer.get("Contents", [])]
