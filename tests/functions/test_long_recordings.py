"""Recordings that outlast an invocation: put down, taken up, and in the end the same transcript as in one pass."""

from __future__ import annotations

import io
import json
import wave
from pathlib import Path

import numpy as np
import pytest
from cloud.transcription import BLOCK_S, Progress, Transcription
from speech.asr.recognizer import Recognizer
from speech.audio.files import open_audio
from speech.errors import BadInput

from tests.functions.fake_aws import FakeAws
from tests.functions.fake_engine import FakeRecognizer
from tests.functions.situations import BUCKET, ETAG, OUTPUT, Context, Load, load_event, sounds
from tests.tiny.sound import say

HELLO = "calls/hello.wav"
SPEECH = "xx xxx  x xxxxxxxx xx" * 3
TINY = Path(__file__).parents[1] / "tiny" / "tones"


def run_in_pieces(recognizer: Recognizer, wav: bytes) -> tuple[Transcription, int]:
    """Transcribes with a hand-over after every block, each through bytes; and how many there were."""
    work = Transcription.begin(recognizer, open_audio(io.BytesIO(wav)), mono=False)
    handovers = 0
    while not work.run(lambda: True):
        packed = work.progress(1.5).to_bytes()
        handovers += 1
        work = Transcription.resume(recognizer, open_audio(io.BytesIO(wav)), Progress.from_bytes(packed))
    return work, handovers


def test_pieces_joined_are_the_whole() -> None:
    recognizer, wav = Recognizer.load(TINY), tiny_recording()
    whole = Transcription.begin(recognizer, open_audio(io.BytesIO(wav)), mono=False)
    assert whole.run(lambda: False)
    joined, handovers = run_in_pieces(recognizer, wav)
    assert handovers == 3
    assert joined.heard == whole.heard
    assert joined.seconds == whole.seconds
    assert [final.raw_text for final in joined.heard[1]] == ["twenty two", "oak", "tad"]


def tiny_recording() -> bytes:
    """Some 28 s of two channels, with words across the cuts at every 10 s."""
    left = say("cat dog 3 go tad 2 oak 9.14 cat dog 3 two", before_s=0.5, after_s=4)
    right = say("twenty two 7.9 oak 9 tad", before_s=1)
    samples = np.zeros((max(len(left), len(right)), 2), np.float32)
    samples[: len(left), 0], samples[: len(right), 1] = left, right
    return wave_file(samples)


def wave_file(samples: np.ndarray) -> bytes:
    """16-bit WAV of (n, channels) at 16 kHz."""
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setparams((samples.shape[1], 2, 16000, 0, "NONE", "not compressed"))
        out.writeframes(np.round(samples * 32767).astype("<i2").tobytes())
    return file.getvalue()


def test_a_checkpoint_is_small_and_the_same_each_time() -> None:
    work = Transcription.begin(Recognizer.load(TINY), open_audio(io.BytesIO(tiny_recording())), mono=False)
    work.run(lambda: True)
    assert work.progress(1).to_bytes() == work.progress(1).to_bytes()
    assert len(work.progress(1).to_bytes()) < 2 * 256 * 1024
    assert work.progress(1).frames == BLOCK_S * 16000


def test_a_checkpoint_of_another_recording_is_refused() -> None:
    recognizer = FakeRecognizer()
    work = Transcription.begin(recognizer, open_audio(io.BytesIO(sounds("x" * 12))), mono=False)  # type: ignore[arg-type]
    work.run(lambda: True)
    for other in (sounds("x"), sounds("x" * 12, rate=16000)):
        with pytest.raises(BadInput, match="checkpoint at sample 80000 of 8000 Hz is not of this recording"):
            Transcription.resume(recognizer, open_audio(io.BytesIO(other)), work.progress(1))  # type: ignore[arg-type]


def pump(aws: FakeAws, load: Load, context: Context) -> int:
    """Delivers the first event and then each hand-over until the queue is empty; how many invocations it took."""
    app, event = load("transcribe"), load_event("object_created")
    for invocation in range(1, 100):
        assert app.handler(event, context) == {"batchItemFailures": []}
        if not aws.sqs.sent:
            return invocation
        assert aws.job["status"] == "QUEUED"
        (queue, body), aws.sqs.sent = aws.sqs.sent[0], aws.sqs.sent[1:]
        assert queue == "undertone-recordings"
        event = load_event("continuation")
        event["Records"][0] |= {"body": body, "messageId": f"hand-over {invocation}"}
    raise AssertionError("no end in sight")


def transcript(aws: FakeAws) -> str:
    document: str = aws.s3.objects[OUTPUT, f"transcripts/{HELLO}.json"]["Body"].decode()
    return document


def test_when_time_runs_short_the_next_invocation_goes_on(aws: FakeAws, load: Load) -> None:
    aws.s3.put(BUCKET, HELLO, sounds(SPEECH, SPEECH[::-1]), ETAG)
    assert pump(aws, load, Context(remaining_s=900)) == 1
    whole = transcript(aws)
    aws.dynamodb.items.clear()
    aws.s3.objects.pop((OUTPUT, f"transcripts/{HELLO}.json"))
    assert pump(aws, load, Context(remaining_s=59)) == 8  # one more, to close the end
    assert transcript(aws) == whole
    assert aws.job["audio_seconds"] == len(SPEECH)
    assert [kind for kind, _ in aws.events.events] == ["Transcript Completed"] * 2
    assert not [key for _, key in aws.s3.objects if key.startswith("work/")]


def test_a_hand_over_whose_message_did_not_leave_is_made_up_for_by_the_retry(aws: FakeAws, load: Load) -> None:
    aws.s3.put(BUCKET, HELLO, sounds("x" * 15), ETAG)
    app, event = load("transcribe", FORMATS="txt"), load_event("object_created")
    aws.sqs.down = True
    assert app.handler(event, Context(remaining_s=59))["batchItemFailures"]
    assert aws.job["status"] == "QUEUED"
    assert app.handler(event, Context()) == {"batchItemFailures": []}
    assert aws.job["status"] == "COMPLETED"
    assert aws.s3.objects[OUTPUT, f"transcripts/{HELLO}.txt"]["Body"].count(b"word") == 15


def test_a_recording_overwritten_between_two_invocations_ends_there(aws: FakeAws, load: Load) -> None:
    aws.s3.put(BUCKET, HELLO, sounds("x" * 15), ETAG)
    app = load("transcribe")
    app.handler(load_event("object_created"), Context(remaining_s=59))
    aws.s3.put(BUCKET, HELLO, sounds("x" * 30))
    assert app.handler(load_event("continuation"), Context()) == {"batchItemFailures": []}
    assert aws.job["status"] == "FAILED"
    assert "uploaded anew" in aws.job["reason"]
    assert json.dumps(aws.events.events) == "[]"


def test_a_recording_is_never_read_whole(aws: FakeAws, load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cloud.storage.BLOCK_BYTES", 50_000)
    aws.s3.put(BUCKET, HELLO, sounds("x" * 60), ETAG)
    load("transcribe", FORMATS="txt").handler(load_event("object_created"), Context())
    sizes = [int(last) - int(first) + 1 for first, last in (r[6:].split("-") for r in aws.s3.reads)]
    assert max(sizes) == 50_000
    assert len(sizes) == len(set(aws.s3.reads)) == 20
