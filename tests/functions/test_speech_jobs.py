"""Long texts as jobs: taken by the API, spoken by one invocation after another, and the file is what one would make."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
import soundfile
from cloud import clients, engines, storage

from tests.functions import api_app
from tests.functions.api_requests import Answer, request
from tests.functions.fake_aws import FakeAws
from tests.functions.situations import Context, Load, load_event

TEXT = "The cat is here, and the dog is in the house. It costs $25! Hello world.\n\n" * 3
VARIABLES = {
    name: api_app.ENVIRONMENT[name] for name in ("MODELS_DIR", "TTS_BUNDLE", "OUTPUT_BUCKET", "SPEECH_QUEUE_URL")
}
Ask = Callable[..., Answer]


@pytest.fixture
def api(aws: FakeAws) -> Iterator[ModuleType]:
    """functions/api over the services in memory."""
    with api_app.cold_start() as module:
        clients.client.cache_clear()
        yield module


@pytest.fixture
def ask(api: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Posts a text, or asks for a job."""
    monkeypatch.setattr(storage, "download_url", lambda bucket, key, valid_s: f"https://{bucket}/{key}?for={valid_s}")

    def asked(job: str = "", **changed: object) -> Answer:
        body = json.dumps({"model": "hum", "voice": "low", "input": TEXT, "response_format": "pcm"} | changed)
        event = request("POST", "/v1/speech-jobs", body, content_type="application/json")
        return Answer.of(api.handler(request("GET", f"/v1/jobs/{job}") if job else event, Context(29)))

    return asked


def speak(aws: FakeAws, load: Load, remaining_s: float = 900, receives: int = 1) -> int:
    """Delivers messages of the queue until there are none; how many invocations it took."""
    count = 0
    while aws.sqs.sent:
        (queue, body), aws.sqs.sent = aws.sqs.sent[0], aws.sqs.sent[1:]
        assert queue == "undertone-speech"
        count += 1
        assert deliver(load, body, remaining_s, receives, f"delivery {count}") == {"batchItemFailures": []}
    return count


def deliver(load: Load, body: str, remaining_s: float = 900, receives: int = 1, name: str = "one") -> Any:
    """One delivery to a cold process."""
    event = load_event("text", "speak")
    event["Records"][0] |= {"body": body, "messageId": name}
    event["Records"][0]["attributes"]["ApproximateReceiveCount"] = str(receives)
    return load("speak", **VARIABLES).handler(event, Context(remaining_s))


def in_one_piece() -> bytes:
    stream = engines.synthesizer(api_app.ENVIRONMENT["MODELS_DIR"], "hum").stream("low")
    return b"".join(chunk.audio for chunk in [*stream.receive(TEXT), *stream.finish()])


def file(aws: FakeAws, job: str, form: str = "pcm") -> bytes:
    body: bytes = aws.s3.objects["output", f"speech/{job}.{form}"]["Body"]
    return body


def test_a_text_becomes_a_file_whose_address_the_job_tells(aws: FakeAws, ask: Ask, load: Load) -> None:
    posted = ask()
    assert (posted.status, posted.json["status"], posted.json["kind"]) == (202, "QUEUED", "speech")
    job = posted.json["id"]
    assert ask(job).json["status"] == "QUEUED"
    assert speak(aws, load) == 1
    told = ask(job).json
    assert file(aws, job) == in_one_piece()
    assert {name: told[name] for name in ("status", "formats", "progress", "audio")} == {
        "status": "COMPLETED",
        "formats": ["pcm"],
        "progress": 1,
        "audio": f"https://output/speech/{job}.pcm?for=3600",
    }
    assert told["audio_seconds"] == pytest.approx(len(in_one_piece()) / 48_000, abs=0.001)
    ((kind, detail),) = aws.events.events
    assert (kind, detail["job"], detail["outputs"]) == (
        "Speech Completed",
        job,
        {"pcm": f"s3://output/speech/{job}.pcm"},
    )
    assert [key for _, key in aws.s3.objects] == [f"speech/{job}.pcm"], "work files are gone"


@pytest.mark.parametrize("form", ["pcm", "wav", "flac", "mp3", "opus"])
def test_spoken_by_many_invocations_it_is_the_same_file(aws: FakeAws, ask: Ask, load: Load, form: str) -> None:
    """Each has so little time that it hands over after its first chunk; the last one makes the file."""
    job = ask(response_format=form).json["id"]
    for number in range(12):
        body = aws.sqs.sent.pop(0)[1]
        assert deliver(load, body, 5, name=f"short {number}") == {"batchItemFailures": []}
        assert 0 < ask(job).json["progress"] <= 1
    assert speak(aws, load) == 1
    if form == "pcm":
        assert file(aws, job) == in_one_piece()
        return
    with soundfile.SoundFile(io.BytesIO(file(aws, job, form))) as spoken:
        assert spoken.frames == pytest.approx(len(in_one_piece()) / 2, abs=3000)
        if form in ("wav", "flac"):
            assert spoken.read(dtype="int16").tobytes() == in_one_piece()


def test_a_file_that_may_not_be_made_in_time_gets_an_invocation_of_its_own(
    aws: FakeAws, ask: Ask, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill in the middle of it would come again at the same place with each attempt."""
    seconds = len(in_one_piece()) / 48_000
    for needs_s, invocations in ((800, 1), (900, 2)):  # 840 s are left of the first, which is soon done with speaking
        monkeypatch.setattr("cloud.narrator.FILE_S", {"pcm": needs_s / seconds})
        job = ask().json["id"]
        assert speak(aws, load) == invocations
        assert ask(job).json["status"] == "COMPLETED"
        assert file(aws, job) == in_one_piece()


def test_what_another_voice_began_is_spoken_anew(aws: FakeAws, ask: Ask, load: Load) -> None:
    job = ask().json["id"]
    deliver(load, aws.sqs.sent.pop(0)[1], 5)
    (checkpoint,) = [key for _, key in aws.s3.objects if key.endswith(".checkpoint")]
    aws.s3.objects["output", checkpoint]["Body"] = b"of another model"
    speak(aws, load)
    assert file(aws, job) == in_one_piece()


def test_a_message_that_comes_twice_is_spoken_once(aws: FakeAws, ask: Ask, load: Load) -> None:
    ask()
    body = aws.sqs.sent[0][1]
    speak(aws, load)
    before = dict(aws.s3.objects)
    assert deliver(load, body, name="again") == {"batchItemFailures": []}
    assert aws.s3.objects == before
    assert len(aws.events.events) == 1


def test_a_failure_is_tried_again_and_in_the_end_told(aws: FakeAws, ask: Ask, load: Load) -> None:
    job = ask().json["id"]
    body = aws.sqs.sent.pop(0)[1]
    aws.s3.down = 2
    assert deliver(load, body, name="one")["batchItemFailures"]
    assert ask(job).json["status"] == "QUEUED"
    assert deliver(load, body, receives=3, name="one")["batchItemFailures"], "it becomes a dead letter"
    assert ask(job).json["status"] == "FAILED"
    assert [kind for kind, _ in aws.events.events] == ["Speech Failed"]
    assert deliver(load, body, name="one") == {"batchItemFailures": []}, "brought back from the dead letters"
    assert ask(job).json["status"] == "COMPLETED"


def test_a_text_that_is_gone_fails_for_good(aws: FakeAws, ask: Ask, load: Load) -> None:
    job = ask().json["id"]
    aws.s3.objects.clear()
    speak(aws, load)
    told = ask(job).json
    assert (told["status"], "deleted" in told["reason"]) == ("FAILED", True)


@pytest.mark.parametrize(
    ("changed", "status", "says"),
    [
        ({"voice": "nobody"}, 400, "expected one of low, high"),
        ({"model": "gpt-9"}, 404, "gpt-9"),
        ({"input": ""}, 400, "input"),
        ({"input": " \n..."}, 400, "nothing in it"),
        ({"input": "a" * 250_001}, 413, "at most 250000"),
        ({"speed": 9}, 400, "speed"),
        ({"response_format": "aac"}, 400, "response_format"),
        ({"instructions": "Shout."}, 202, ""),
    ],
)
def test_what_cannot_be_a_job_is_refused(
    aws: FakeAws, ask: Ask, changed: dict[str, object], status: int, says: str
) -> None:
    answer = ask(**changed)
    assert answer.status == status
    if status >= 400:
        assert says in json.dumps(answer.json)
        assert aws.sqs.sent == []
        assert aws.s3.objects == {}


def test_a_queue_that_does_not_answer_is_no_silent_loss(aws: FakeAws, ask: Ask) -> None:
    aws.sqs.down = True
    assert ask().status == 500


def test_the_situation_that_can_be_tried_by_hand(aws: FakeAws, api: ModuleType) -> None:
    assert Answer.of(api.handler(load_event("speech_job", "api"), Context(29))).status == 202
