"""Containers that libsndfile cannot read: handed to the convert function, decoded as a stream, and transcribed."""

from __future__ import annotations

import io

import av
import numpy as np
import pytest

from tests.functions.fake_aws import FakeAws
from tests.functions.situations import BUCKET, ETAG, OUTPUT, Context, Load, load_event

NAME = "calls/hello.m4a"
NOTHING_TO_RETRY = {"batchItemFailures": []}


def m4a(pattern: str, rate: int = 16000) -> bytes:
    """An M4A with AAC; each character is a second, a blank is silence."""
    time_s = np.arange(rate) / rate
    tone = (np.sin(2 * np.pi * 440 * time_s) / 2).astype(np.float32)
    samples = np.concatenate([tone if second != " " else tone * 0 for second in pattern])
    file = io.BytesIO()
    with av.open(file, "w", format="ipod") as out:
        stream = out.add_stream("aac", rate=rate, layout="mono")
        for at in range(0, len(samples), 1024):
            block = np.ascontiguousarray(samples[None, at : at + 1024])
            frame = av.AudioFrame.from_ndarray(block, format="fltp", layout="mono")
            frame.rate, frame.pts = rate, at
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    return file.getvalue()


def test_an_m4a_goes_through_the_decoder_and_back(aws: FakeAws, load: Load) -> None:
    aws.s3.put(BUCKET, NAME, m4a("xx xxx "), ETAG)
    transcribe, convert = load("transcribe", FORMATS="txt"), load("convert")
    assert transcribe.handler(load_event("needs_decoder"), Context()) == NOTHING_TO_RETRY
    assert aws.job["status"] == "QUEUED"
    [(queue, body)] = aws.sqs.sent
    assert queue == "undertone-conversions"

    event = load_event("needs_decoder", "convert")
    assert event["Records"][0]["body"] == body
    assert convert.handler(event, Context()) == NOTHING_TO_RETRY
    [_, (queue, body)] = aws.sqs.sent
    assert queue == "undertone-recordings"

    event = load_event("needs_decoder")
    event["Records"][0] |= {"body": body, "messageId": "after the conversion"}
    assert transcribe.handler(event, Context()) == NOTHING_TO_RETRY
    assert aws.job["status"] == "COMPLETED"
    assert aws.s3.objects[OUTPUT, f"transcripts/{NAME}.txt"]["Body"] == b"word0 word1. word3 word4 word5.\n"
    assert not [key for _, key in aws.s3.objects if key.startswith("work/")]


def test_a_duplicate_conversion_is_not_decoded_twice(aws: FakeAws, load: Load) -> None:
    aws.s3.put(BUCKET, NAME, m4a("x"), ETAG)
    convert = load("convert")
    convert.handler(load_event("needs_decoder", "convert"), Context())
    reads = len(aws.s3.reads)
    assert convert.handler(load_event("needs_decoder", "convert"), Context()) == NOTHING_TO_RETRY
    assert len(aws.s3.reads) == reads


def test_what_cannot_be_decoded_fails_with_a_reason(aws: FakeAws, load: Load) -> None:
    aws.s3.put(BUCKET, NAME, m4a("xx")[:200] + bytes(5000), ETAG)
    assert load("convert").handler(load_event("needs_decoder", "convert"), Context()) == NOTHING_TO_RETRY
    assert aws.job["status"] == "FAILED"
    assert aws.job["reason"]
    assert [kind for kind, _ in aws.events.events] == ["Transcript Failed"]
    assert not [key for _, key in aws.s3.objects if key.startswith("work/")]


def test_a_broken_connection_is_not_the_end_of_the_recording(aws: FakeAws, load: Load) -> None:
    aws.s3.put(BUCKET, NAME, m4a("xx"), ETAG)
    aws.s3.down = 1
    convert = load("convert")
    assert convert.handler(load_event("needs_decoder", "convert"), Context())["batchItemFailures"]
    assert aws.sqs.waits == [("receipt-1", 60)]
    assert aws.job["status"] == "QUEUED"
    assert convert.handler(load_event("needs_decoder", "convert"), Context()) == NOTHING_TO_RETRY


@pytest.mark.parametrize("calls_before_it_breaks", [1, 2, 3])
def test_a_connection_that_breaks_in_the_middle_leaves_no_half_decoded_audio(
    aws: FakeAws, load: Load, monkeypatch: pytest.MonkeyPatch, calls_before_it_breaks: int
) -> None:
    monkeypatch.setattr("cloud.storage.BLOCK_BYTES", 4096)
    aws.s3.put(BUCKET, NAME, m4a("x" * 8), ETAG)
    get, calls = aws.s3.get_object, iter(range(100))

    def breaking(**request: str) -> object:
        if next(calls) == calls_before_it_breaks:
            aws.s3.down = 1
        return get(**request)

    monkeypatch.setattr(aws.s3, "get_object", breaking)
    assert load("convert").handler(load_event("needs_decoder", "convert"), Context())["batchItemFailures"]
    assert aws.job["status"] == "QUEUED"
    assert not [key for _, key in aws.s3.objects if key.startswith("work/")]
