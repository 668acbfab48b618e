"""Speech through the gateway of the running stack: OpenAI's own client and curl get the bytes of a file."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import openai
import pytest
import requests
import soundfile

from tests.stack.door.door import Door

TEXT = "The cat is here. It costs $25."
MINUTE = 60  # longest wait for an answer: a cold start on a busy machine


@pytest.fixture(scope="module")
def client(door: Door) -> openai.OpenAI:
    """OpenAI's client with another base URL, as a user would set it up."""
    return openai.OpenAI(base_url=door.stack.api_url, api_key=door.stack.api_key, max_retries=0, timeout=MINUTE)


@pytest.mark.parametrize(("name", "container"), [("mp3", "MP3"), ("opus", "OGG"), ("flac", "FLAC"), ("wav", "WAV")])
def test_openais_client_gets_a_file_of_each_format(client: openai.OpenAI, name: str, container: str) -> None:
    answer = client.audio.speech.create(model="tts-1", voice="alloy", input=TEXT, response_format=name)  # type: ignore[arg-type]
    with soundfile.SoundFile(io.BytesIO(answer.content)) as file:
        assert (file.format, file.samplerate) == (container, 24000)
        samples = file.read()
    assert 2 < len(samples) / 24000 < 8
    assert abs(samples).max() > 0.01


def test_what_cannot_be_spoken_is_refused_in_its_words(client: openai.OpenAI) -> None:
    create = client.audio.speech.create
    with pytest.raises(openai.BadRequestError) as unknown:
        create(model="hum", voice="nobody", input=TEXT)
    assert (unknown.value.code, unknown.value.param) == ("voice_not_found", "voice")
    with pytest.raises(openai.BadRequestError, match="less than or equal to 2"):
        create(model="hum", voice="low", input=TEXT, speed=4)
    with pytest.raises(openai.APIStatusError, match="speech-jobs") as long:
        create(model="hum", voice="low", input="word " * 2000)
    assert (long.value.status_code, long.value.code) == (413, "text_too_long")  # type: ignore[attr-defined]
    assert [model.id for model in client.models.list()] == ["tones", "hum"]


def test_a_long_text_becomes_a_file_whose_address_is_told(door: Door) -> None:
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {door.stack.api_key}"
        asked = {"model": "hum", "voice": "high", "input": f"{TEXT} " * 150, "response_format": "flac"}
        posted = session.post(f"{door.stack.api_url}/speech-jobs", json=asked, timeout=MINUTE)
        assert (posted.status_code, posted.json()["status"]) == (202, "QUEUED")
        job = f"{door.stack.api_url}/jobs/{posted.json()['id']}"

        def over() -> bool:
            return bool(session.get(job, timeout=MINUTE).json()["status"] in ("COMPLETED", "FAILED"))

        door.wait(over, "the text to be spoken")
        told = session.get(job, timeout=MINUTE).json()
    assert (told["status"], told["formats"]) == ("COMPLETED", ["flac"])
    bucket, key = door.name("OutputBucket"), f"speech/{told['id']}.flac"
    assert f"{key}?" in told["audio"]
    body = door.stack.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    assert soundfile.info(io.BytesIO(body)).duration == pytest.approx(told["audio_seconds"], abs=0.1)
    assert told["audio_seconds"] > 180
    left = door.stack.client("s3").list_objects_v2(Bucket=bucket, Prefix="work/texts/")
    assert "Contents" not in left


def test_curl_writes_a_file_that_plays(door: Door, tmp_path: Path) -> None:
    out, base = tmp_path / "a.wav", ["curl", "-sS", "-H", f"Authorization: Bearer {door.stack.api_key}"]
    body = '{"model": "hum", "voice": "low", "input": "Hello, world.", "response_format": "wav"}'
    command = [*base, "-H", "Content-Type: application/json", "-d", body, "-o", str(out)]
    subprocess.run([*command, f"{door.stack.api_url}/audio/speech"], capture_output=True, check=True, timeout=MINUTE)
    assert soundfile.info(out).duration > 0.5
    listed = subprocess.run([*base, f"{door.stack.api_url}/audio/voices"], capture_output=True, check=True, text=True)
    assert '"id":"low"' in listed.stdout.replace(" ", "")
