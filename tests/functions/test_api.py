"""The API's function with a real recogniser of tones: every answer in OpenAI's shape, and never a 500 for bad input."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from types import ModuleType

import numpy as np
import pytest

from tests.functions.api_app import cold_start
from tests.functions.api_requests import Answer, form, request, transcription
from tests.functions.situations import Context, load_event
from tests.stack.door.door import wav
from tests.tiny.sound import say

CAT = wav(say("cat dog 1 twenty two", after_s=1))
Ask = Callable[[dict[str, object]], Answer]


@pytest.fixture(scope="module")
def app() -> Iterator[ModuleType]:
    """functions/api/app.py, loaded as at a cold start."""
    with cold_start() as module:
        yield module


@pytest.fixture
def ask(app: ModuleType) -> Ask:
    """Sends an event through the handler."""
    return lambda event: Answer.of(app.handler(event, Context(29)))


def test_a_clip_becomes_text(ask: Ask) -> None:
    answer = ask(transcription(("file", CAT), ("model", "tones")))
    assert (answer.status, answer.json["text"]) == (200, "Cat dog. 22.")
    assert answer.json["usage"] == {"type": "duration", "seconds": 4}
    assert ask(transcription(("model", "whisper-1"), ("file", CAT))).json == answer.json


def test_the_text_formats(ask: Ask) -> None:
    def asked(name: str) -> Answer:
        return ask(transcription(("file", CAT), ("model", "tones"), ("response_format", name)))

    assert asked("text").text == "Cat dog. 22.\n"
    assert asked("text").headers["content-type"].startswith("text/plain")
    assert asked("srt").text.startswith("1\n00:00:00,0")
    assert asked("vtt").text.startswith("WEBVTT\n\n00:00:00.0")
    assert asked("vtt").headers["content-type"].startswith("text/vtt")


def test_times_of_words_of_segments_and_of_both(ask: Ask) -> None:
    def asked(*granularities: str) -> dict[str, object]:
        times = [("timestamp_granularities[]", one) for one in granularities]
        found = ask(transcription(("file", CAT), ("model", "tones"), ("response_format", "verbose_json"), *times)).json
        assert (found["task"], found["language"], found["text"]) == ("transcribe", "english", "Cat dog. 22.")
        return dict(found)

    both, words, segments = asked("word", "segment"), asked("word"), asked()
    assert "segments" not in words
    assert "words" not in segments
    assert (both["words"], both["segments"]) == (words["words"], segments["segments"])
    assert [word["word"] for word in words["words"]] == ["Cat", "dog", "22"]  # type: ignore[attr-defined]
    assert words["words"][2]["start"] == pytest.approx(2.04, abs=0.1)  # type: ignore[index]
    first = segments["segments"][0]  # type: ignore[index]
    assert (first["id"], first["text"], first["tokens"]) == (0, "Cat dog.", [])
    assert first["avg_logprob"] <= 0 < first["compression_ratio"]


def test_silence_is_no_words(ask: Ask) -> None:
    silence = wav(np.zeros(16000, np.float32))
    answer = ask(transcription(("file", silence), ("model", "tones"), ("response_format", "verbose_json")))
    assert (answer.status, answer.json["text"], answer.json["segments"]) == (200, "", [])


def test_several_channels_are_heard_together(ask: Ask) -> None:
    two = wav(say("cat"), say("dog", before_s=3, after_s=1))
    assert ask(transcription(("file", two), ("model", "tones"))).json["text"] == "Cat. Dog."


@pytest.mark.parametrize("language", ["en", "EN", "en-GB", "english"])
def test_english_has_several_names(ask: Ask, language: str) -> None:
    assert ask(transcription(("file", CAT), ("model", "tones"), ("language", language))).status == 200


@pytest.mark.parametrize(
    ("parts", "status", "code", "param"),
    [
        ([("model", "tones")], 400, "missing", "file"),
        ([("file", CAT)], 400, "missing", "model"),
        ([("file", CAT), ("model", "large-v3")], 404, "model_not_found", "model"),
        ([("file", CAT), ("model", b"tones")], 400, "invalid_type", "model"),
        ([("file", "text"), ("model", "tones")], 400, "value_error", "file"),
        ([("file", b""), ("model", "tones")], 400, "invalid_audio", "file"),
        ([("file", b"%PDF-1.7 no audio"), ("model", "tones")], 400, "invalid_audio", "file"),
        ([("file", CAT[:44]), ("model", "tones")], 400, "invalid_audio", "file"),
        ([("file", CAT), ("model", "tones"), ("language", "de")], 400, "unsupported_language", "language"),
        ([("file", CAT), ("model", "tones"), ("response_format", "pdf")], 400, "literal_error", "response_format"),
        ([("file", CAT), ("model", "tones"), ("temperature", "hot")], 400, "float_parsing", "temperature"),
        ([("file", CAT), ("model", "tones"), ("stream", "true")], 400, "unsupported_value", "stream"),
        (
            [("file", CAT), ("model", "tones"), ("timestamp_granularities[]", "word")],
            400,
            "invalid_value",
            "timestamp_granularities[]",
        ),
    ],
)
def test_what_cannot_be_done_is_said_by_name(
    ask: Ask, parts: list[tuple[str, str | bytes]], status: int, code: str, param: str
) -> None:
    answer = ask(transcription(*parts))
    assert (answer.status, answer.error["code"], answer.error["param"]) == (status, code, param)
    assert answer.error["type"] == "invalid_request_error"


def test_a_request_that_lambda_would_not_take_is_refused_unread(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    from cloud.api import limits

    event = request("POST", "/v1/audio/transcriptions", bytes(limits.MOST_BYTES + 9), origin="https://example.com")
    monkeypatch.setattr("cloud.api.clips.transcribe", lambda *_: pytest.fail("it was worked on"))
    answer = ask(event)
    assert (answer.status, answer.error["code"]) == (413, "request_too_large")
    assert "POST /v1/uploads" in answer.error["message"]
    assert answer.headers["access-control-allow-origin"] == "https://example.com"


def test_the_largest_request_and_its_frame_fit_an_invocation(app: ModuleType) -> None:
    from cloud.api import limits

    body = form(("file", bytes(limits.MOST_BYTES - 400)), ("model", "tones"))
    event = request("POST", "/v1/audio/transcriptions", body, content_type="multipart/form-data; boundary=x" * 50)
    assert limits.admitted(event) is event
    assert len(json.dumps(event)) < limits.EVENT_BYTES


def test_a_clip_that_lasts_too_long_is_refused_before_it_is_heard(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cloud.transcription.Transcription.begin", lambda *_, **__: pytest.fail("it was worked on"))
    answer = ask(transcription(("file", wav(np.zeros(21 * 8000), rate=8000)), ("model", "tones")))
    assert (answer.status, answer.error["code"]) == (413, "audio_too_long")
    assert "lasts 21 s, at most 20 s" in answer.error["message"]


def test_a_clip_is_given_up_when_the_gateway_would_not_wait(app: ModuleType) -> None:
    event = transcription(("file", wav(np.zeros(15 * 8000), rate=8000)), ("model", "tones"))
    answer = Answer.of(app.handler(event, Context(remaining_s=1)))
    assert (answer.status, answer.error["code"]) == (413, "audio_too_long")


@pytest.mark.parametrize(
    ("event", "status", "code"),
    [
        (request("POST", "/v1/audio/transcriptions"), 400, "missing"),
        (request("POST", "/v1/audio/transcriptions", "{", content_type="application/json"), 400, "json_invalid"),
        (request("POST", "/v1/audio/transcriptions", "x", content_type="text/plain"), 415, "unsupported_content_type"),
        (request("POST", "/v1/audio/transcriptions", b"x", content_type="multipart/form-data"), 400, "invalid_body"),
        (
            request(
                "POST",
                "/v1/audio/transcriptions",
                b'--a\r\nContent-Disposition: form-data; name="model"\r\n\r\n\xff\r\n--a--',
                content_type="multipart/form-data; boundary=a",
            ),
            400,
            "invalid_body",
        ),
        (request("POST", "/v1/uploads", "[" * 100_000, content_type="application/json"), 400, "invalid_body"),
        (request("POST", "/v1/uploads", b"\xff", content_type="application/json"), 400, "invalid_body"),
        (request("POST", "/v1/uploads", "null", content_type="application/json"), 400, "missing"),
        (request("POST", "/v1/uploads", "[]", content_type="application/json"), 400, "dataclass_type"),
        (
            request("POST", "/v1/tokens", '{"lifetime_s": 86400}', content_type="application/json"),
            400,
            "less_than_equal",
        ),
        (request("POST", "/v1/tokens", '{"purpose": "all"}', content_type="application/json"), 400, "literal_error"),
        (
            request("POST", "/v1/tokens", '{"calls": ["a b"]}', content_type="application/json"),
            400,
            "string_pattern_mismatch",
        ),
        (request("GET", "/v1/jobs/none"), 400, "string_pattern_mismatch"),
        (request("GET", "/v1/jobs", query={"limit": "0"}), 400, "greater_than_equal"),
        (request("GET", "/v1/jobs", query={"after": "@"}), 400, "invalid_input"),
        (request("GET", "/v1/jobs", query={"status": "LOST"}), 400, "literal_error"),
        (request("GET", "/v1/models/gpt-9"), 404, "model_not_found"),
        (request("GET", "/v1/audio/music"), 404, "unknown_url"),
        (request("PUT", "/v1/models"), 405, "method_not_allowed"),
    ],
    ids=lambda value: f"{value['httpMethod']} {value['path']}" if isinstance(value, dict) else str(value),
)
def test_bad_requests_are_told_what_is_wrong(ask: Ask, event: dict[str, object], status: int, code: str) -> None:
    answer = ask(event)
    assert (answer.status, answer.error["code"]) == (status, code)


def test_a_bug_is_a_500_that_tells_nothing(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("the secret is 1234")

    monkeypatch.setattr("cloud.api.catalogue.described", fail)
    answer = ask(request("GET", "/v1/models"))
    assert (answer.status, answer.error["type"]) == (500, "server_error")
    assert "1234" not in answer.text


def test_models_and_health(ask: Ask) -> None:
    assert ask(request("GET", "/health")).json == {"status": "ok", "model": "tones"}
    hears, speaks = ask(request("GET", "/v1/models")).json["data"]
    assert [(model["id"], model["object"]) for model in (hears, speaks)] == [("tones", "model"), ("hum", "model")]
    assert ask(request("GET", "/v1/models/whisper-1")).json == hears
    assert ask(request("GET", "/v1/models/tts-1")).json == speaks


def test_pages_of_one_origin_may_call(ask: Ask) -> None:
    allowed = ask(request("OPTIONS", "/v1/models", origin="https://example.com"))
    assert allowed.status == 204
    assert allowed.headers["access-control-allow-origin"] == "https://example.com"
    assert "Authorization" in allowed.headers["access-control-allow-headers"]
    assert "access-control-allow-origin" not in ask(request("GET", "/v1/models", origin="https://evil.example")).headers


def test_the_page_of_the_api_calls_on_nobody_else(ask: Ask) -> None:
    page = ask(request("GET", "/docs"))
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["content-security-policy"] == "default-src 'self' 'unsafe-inline'; img-src 'self' data:"
    assert "<script src" not in page.text
    assert "<link" not in page.text


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("health", 200),
        ("transcription", 200),
        ("form_without_file", 400),
        ("speech", 200),
        ("speech_unknown_voice", 400),
        ("voices", 200),
        ("unknown_path", 404),
        ("preflight", 204),
    ],
)
def test_the_situations_that_can_be_tried_by_hand(ask: Ask, name: str, status: int) -> None:
    assert ask(load_event(name, "api")).status == status
