"""The REST API on the running stack: OpenAI's own client, curl, uploads that become jobs, and what is refused."""

from __future__ import annotations

import json
import subprocess
import time
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import openai
import pytest
import requests
from cloud import tokens

from tests.stack.door.door import Door, m4a, wav
from tests.tiny.sound import say

CAT = wav(say("cat dog 1 twenty two", after_s=1))
MINUTE = 60  # longest wait for an answer: a cold start on a busy machine


@pytest.fixture(scope="module")
def client(door: Door) -> openai.OpenAI:
    """OpenAI's client with another base URL, as a user would set it up."""
    return openai.OpenAI(base_url=door.stack.api_url, api_key=door.stack.api_key, max_retries=0, timeout=MINUTE)


@pytest.fixture(scope="module")
def api(door: Door) -> Iterator[requests.Session]:
    """A session that sends the key."""
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {door.stack.api_key}"
        yield session


def ask(door: Door, session: requests.Session, method: str, path: str, **more: Any) -> requests.Response:
    """One request to the API."""
    return session.request(method, f"{door.stack.api_url}{path}", timeout=MINUTE, **more)


def test_openais_client_transcribes_in_every_format(client: openai.OpenAI) -> None:
    create = client.audio.transcriptions.create
    assert create(model="whisper-1", file=("a.wav", CAT), language="en", prompt="cats").text == "Cat dog. 22."
    found = create(
        model="whisper-1",
        file=("a.wav", CAT),
        response_format="verbose_json",
        timestamp_granularities=["word", "segment"],
    )
    assert (found.language, found.duration) == ("english", pytest.approx(len(CAT) / 32000, abs=0.1))
    assert [word.word for word in found.words or []] == ["Cat", "dog", "22"]
    assert [segment.text for segment in found.segments or []] == ["Cat dog.", "22."]
    assert create(model="tones", file=("a.wav", CAT), response_format="text") == "Cat dog. 22.\n"
    assert create(model="tones", file=("a.wav", CAT), response_format="srt").startswith("1\n00:00:0")
    assert create(model="tones", file=("a.wav", CAT), response_format="vtt").startswith("WEBVTT")


def test_containers_for_ffmpeg_are_decoded_while_the_caller_waits(client: openai.OpenAI, door: Door) -> None:
    create = client.audio.transcriptions.create
    assert create(model="tones", file=("a.m4a", m4a(say("cat dog", after_s=1)))).text == "Cat dog."
    with pytest.raises(openai.BadRequestError) as bad:
        create(model="tones", file=("a.webm", b"\x1aE\xdf\xa3\x9fB\x82\x84webm" + bytes(2000)))
    assert bad.value.code == "invalid_audio"
    s3, bucket = door.stack.client("s3"), door.name("OutputBucket")
    assert "Contents" not in s3.list_objects_v2(Bucket=bucket, Prefix="work/clips/")


def test_openais_client_understands_what_is_refused(client: openai.OpenAI, door: Door) -> None:
    assert [model.id for model in client.models.list()] == ["tones", "hum"]
    with pytest.raises(openai.NotFoundError, match="'gpt-9' does not exist"):
        client.models.retrieve("gpt-9")
    with pytest.raises(openai.BadRequestError, match="not audio") as bad:
        client.audio.transcriptions.create(model="tones", file=("a.wav", b"no recording at all, but some text"))
    assert (bad.value.code, bad.value.param, bad.value.type) == ("invalid_audio", "file", "invalid_request_error")
    with pytest.raises(openai.APIStatusError, match=r"/v1/uploads") as large:
        client.audio.transcriptions.create(model="tones", file=("a.wav", bytes(5_000_000)))
    assert large.value.status_code == 413
    stranger = openai.OpenAI(base_url=door.stack.api_url, api_key="sk-wrong", max_retries=0)
    with pytest.raises(openai.AuthenticationError, match="no API key, or one that is not known here"):
        stranger.models.list()


def test_curl_with_either_header(door: Door, tmp_path_factory: pytest.TempPathFactory) -> None:
    clip = tmp_path_factory.mktemp("clip") / "a.wav"
    clip.write_bytes(CAT)
    for header in (f"Authorization: Bearer {door.stack.api_key}", f"x-api-key: {door.stack.api_key}"):
        command = ["curl", "-sS", "-H", header, "-F", "model=whisper-1", "-F", f"file=@{clip}"]
        done = subprocess.run(
            [*command, f"{door.stack.api_url}/audio/transcriptions"], capture_output=True, check=True, timeout=MINUTE
        )
        assert json.loads(done.stdout)["text"] == "Cat dog. 22."


def test_an_upload_becomes_a_job_and_a_transcript(door: Door, api: requests.Session) -> None:
    wanted = {"filename": "../voice memo+ü.m4a", "content_type": "audio/mp4"}
    answer = ask(door, api, "POST", "/uploads", json=wanted)
    assert answer.status_code == 201
    form = answer.json()
    assert form["expires_at"] > time.time() + 3000
    assert ask(door, api, "GET", f"/jobs/{form['id']}").json()["status"] == "AWAITING_UPLOAD"
    early = ask(door, api, "GET", f"/jobs/{form['id']}/transcript")
    assert (early.status_code, early.json()["error"]["code"]) == (409, "not_completed")

    sent = requests.post(form["url"], form["fields"], files={"file": m4a(say("cat dog", after_s=1))}, timeout=MINUTE)
    assert sent.status_code == 204
    key = form["fields"]["key"]
    assert key.endswith("/voice memo+ü.m4a")
    door.job(key, "COMPLETED")

    job = ask(door, api, "GET", f"/jobs/{form['id']}").json()
    assert (job["status"], job["recording"]) == ("COMPLETED", f"s3://{door.name('InputBucket')}/{key}")
    assert job["audio_seconds"] > 1
    assert job["formats"] == ["json", "srt", "txt", "vtt"]
    assert ask(door, api, "GET", "/jobs?limit=1").json()["data"] == [job]
    for name in job["formats"]:
        transcript = ask(door, api, "GET", f"/jobs/{form['id']}/transcript?format={name}")
        assert (transcript.status_code, transcript.text) == (200, door.output(key, name))
    assert transcript.headers["content-type"].startswith("text/vtt")


def test_a_long_transcript_is_fetched_from_s3(door: Door, api: requests.Session) -> None:
    table, s3 = door.stack.client("dynamodb"), door.stack.client("s3")
    where = {"Bucket": door.name("OutputBucket"), "Key": "transcripts/long.wav.json"}
    body = json.dumps({"results": "word " * 1_100_000}).encode()
    s3.put_object(**where, Body=body)
    item = {"id": "f" * 32, "status": "COMPLETED", "bucket": "b", "key": "long.wav", "created_at": "2026"}
    record = {name: {"S": value} for name, value in item.items()}
    record["outputs"] = {"L": [{"S": f"s3://{where['Bucket']}/{where['Key']}"}]}
    table.put_item(TableName=door.name("JobTable"), Item=record)
    direct = ask(door, api, "GET", f"/jobs/{'f' * 32}/transcript", allow_redirects=False)
    assert (direct.status_code, direct.text) == (303, "")
    assert requests.get(direct.headers["location"], timeout=MINUTE).content == body
    missing = ask(door, api, "GET", f"/jobs/{'f' * 32}/transcript?format=srt")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "format_not_written")
    table.delete_item(TableName=door.name("JobTable"), Key={"id": {"S": "f" * 32}})


def test_s3_holds_an_upload_to_what_was_asked_for(door: Door, api: requests.Session) -> None:
    form = ask(door, api, "POST", "/uploads", json={"filename": "a.wav", "content_type": "audio/wav"}).json()

    def sent(body: bytes, **changed: str) -> int:
        return requests.post(form["url"], form["fields"] | changed, files={"file": body}, timeout=MINUTE).status_code

    assert sent(CAT, key="elsewhere.wav") == 403
    assert sent(CAT, **{"Content-Type": "text/html"}) == 403
    assert sent(b"") == 400
    policy = json.loads(b64decode(form["fields"]["policy"]))
    assert ["content-length-range", 1, form["most_bytes"]] in policy["conditions"]


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ({"filename": "a.exe", "content_type": "application/x-msdownload"}, "string_pattern_mismatch"),
        ({"filename": "", "content_type": "audio/wav"}, "string_too_short"),
        ({"content_type": "audio/wav"}, "missing"),
    ],
)
def test_an_upload_of_anything_else_is_refused(door: Door, api: requests.Session, wanted: Any, code: str) -> None:
    answer = ask(door, api, "POST", "/uploads", json=wanted)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)


def test_jobs_are_listed_by_state_and_unknown_ones_named(door: Door, api: requests.Session) -> None:
    door.drop("listed/no recording.wav", b"text" * 100)
    door.job("listed/no recording.wav", "FAILED")
    [failed] = ask(door, api, "GET", "/jobs?status=FAILED&limit=1").json()["data"]
    assert (failed["recording"].rsplit("/", 1)[-1], failed["status"]) == ("no recording.wav", "FAILED")
    assert "not audio" in failed["reason"]
    refused = ask(door, api, "GET", f"/jobs/{failed['id']}/transcript")
    assert refused.status_code == 409
    assert failed["reason"] in refused.json()["error"]["message"]
    unknown = ask(door, api, "GET", f"/jobs/{'0' * 32}")
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "job_not_found")


def test_a_token_is_signed_with_the_stack_s_secret(door: Door, api: requests.Session) -> None:
    answer = ask(door, api, "POST", "/tokens", json={"subject": "alice", "lifetime_s": 30})
    assert answer.status_code == 201
    secret = door.stack.client("secretsmanager").get_secret_value(SecretId=door.name("TokenSecret"))["SecretString"]
    claims = tokens.verify(secret.encode(), answer.json()["token"], purpose="socket", now_s=time.time())
    assert (claims.subject, claims.expires_s) == ("alice", answer.json()["expires_at"])


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/models", 401, "invalid_api_key"),
        ("POST", "/audio/transcriptions", 401, "invalid_api_key"),
        ("GET", "/../admin", 404, "unknown_url"),
    ],
)
def test_the_gateway_s_own_refusals_have_the_shape_too(
    door: Door, method: str, path: str, status: int, code: str
) -> None:
    answer = requests.request(method, f"{door.stack.api_url}{path}", timeout=MINUTE)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert set(answer.json()["error"]) == {"message", "type", "param", "code"}


def test_a_key_has_a_pace_of_its_own(door: Door) -> None:
    control = door.stack.client("apigateway")
    [plan] = control.get_usage_plans()["items"]
    assert (plan["throttle"]["rateLimit"], plan["throttle"]["burstLimit"]) == (10, 20)  # as the template has it

    def pace(rate: float, burst: int) -> None:
        changes = {"/throttle/rateLimit": rate, "/throttle/burstLimit": burst}
        patch = [{"op": "replace", "path": path, "value": str(value)} for path, value in changes.items()]
        control.update_usage_plan(usagePlanId=plan["id"], patchOperations=patch)

    def ask_once() -> requests.Response:  # the emulator counts against the plan by this header alone
        headers = {"x-api-key": door.stack.api_key}
        return requests.get(f"{door.stack.api_url}/models", headers=headers, timeout=MINUTE)

    pace(0.001, 1)
    try:
        assert ask_once().status_code == 200
        refused = ask_once()
    finally:
        pace(10, 20)
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limit_exceeded")
    assert refused.json()["error"]["type"] == "rate_limit_error"


def test_the_document_the_page_and_health_need_no_key(door: Door) -> None:
    base = door.name("ApiUrl")
    assert requests.get(f"{base}/health", timeout=MINUTE).json() == {"status": "ok", "model": "tones"}
    assert "SwaggerUIBundle" in requests.get(f"{base}/docs", timeout=MINUTE).text
    assert "/v1/audio/transcriptions" in requests.get(f"{base}/openapi.json", timeout=MINUTE).json()["paths"]
