"""Speech through the API's function, with a voice that hums: files of every format, and what is refused by name."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest
import soundfile
from cloud import engines

from tests.functions.api_app import cold_start
from tests.functions.api_requests import Answer, request, transcription
from tests.functions.situations import Context
from tests.stack.door.door import wav
from tests.tiny.sound import say

TEXT = "The cat is here. It costs $25."
PROSE = "The quick brown fox jumps over the lazy dog. "
Speak = Callable[..., Answer]


@pytest.fixture(scope="module")
def app() -> Iterator[ModuleType]:
    """functions/api/app.py, loaded as at a cold start."""
    with cold_start() as module:
        yield module


@pytest.fixture
def speak(app: ModuleType) -> Speak:
    """Asks for speech; `remaining_s`: of the invocation."""

    def asked(remaining_s: float = 29, **changed: object) -> Answer:
        body = json.dumps({"model": "hum", "voice": "low", "input": TEXT} | changed)
        event = request("POST", "/v1/audio/speech", body, content_type="application/json")
        return Answer.of(app.handler(event, Context(remaining_s)))

    return asked


def seconds(answer: Answer, container: str) -> float:
    """How long a file sounds, which must be of this container, at the rate of the voice and not silent."""
    with soundfile.SoundFile(io.BytesIO(answer.content)) as file:
        assert (file.format, file.samplerate, file.channels) == (container, 24000, 1)
        samples = file.read()
    assert abs(samples).max() > 0.01
    return len(samples) / 24000


@pytest.mark.parametrize(
    ("name", "container", "content_type"),
    [
        ("mp3", "MP3", "audio/mpeg"),
        ("opus", "OGG", "audio/ogg"),
        ("flac", "FLAC", "audio/flac"),
        ("wav", "WAV", "audio/wav"),
    ],
)
def test_every_format_holds_the_same_speech(speak: Speak, name: str, container: str, content_type: str) -> None:
    answer, samples = speak(response_format=name), speak(response_format="pcm")
    assert (answer.status, answer.headers["content-type"]) == (200, content_type)
    assert (samples.status, samples.headers["content-type"]) == (200, "audio/pcm")
    spoken_s = len(samples.content) / 48000
    assert 2 < spoken_s < 8
    assert seconds(answer, container) == pytest.approx(spoken_s, abs=0.15)


def test_mp3_is_what_comes_unasked_and_openai_s_names_stand_for_ours(speak: Speak) -> None:
    usual = speak()
    assert usual.headers["content-type"] == "audio/mpeg"
    assert speak(model="tts-1", voice="alloy", stream_format="audio").content == usual.content
    assert speak(voice="high").content != usual.content


def test_speed_makes_it_shorter(speak: Speak) -> None:
    slow, fast = (len(speak(response_format="pcm", speed=speed).content) for speed in (0.5, 2))
    assert 2.5 < slow / fast < 4.5


def test_the_voice_is_loaded_when_it_first_speaks(app: ModuleType, speak: Speak) -> None:
    engines.synthesizer.cache_clear()
    heard = app.handler(transcription(("file", wav(say("cat", after_s=1))), ("model", "tones")), Context(29))
    listed = app.handler(request("GET", "/v1/audio/voices"), Context(29))
    assert (heard["statusCode"], listed["statusCode"]) == (200, 200)
    assert speak(voice="nobody").status == 400
    assert engines.synthesizer.cache_info().currsize == 0
    assert speak().status == 200
    assert engines.synthesizer.cache_info().currsize == 1


def test_the_voices_are_listed(app: ModuleType) -> None:
    low, high = Answer.of(app.handler(request("GET", "/v1/audio/voices"), Context(29))).json["data"]
    assert low == {"id": "low", "object": "voice", "model": "hum", "language": "en-US", "rate": 24000}
    assert high["id"] == "high"


@pytest.mark.parametrize(
    ("changed", "status", "code", "param"),
    [
        ({"input": ""}, 400, "string_too_short", "input"),
        ({"input": " \n\u200b..."}, 400, "nothing_to_say", "input"),
        ({"input": 7}, 400, "string_type", "input"),
        ({"input": None}, 400, "string_type", "input"),
        ({"input": "\ud800 half a pair"}, 400, "string_unicode", "input"),
        ({"voice": "nobody"}, 400, "voice_not_found", "voice"),
        ({"voice": {"id": "voice_1"}}, 400, "string_type", "voice"),
        ({"model": "gpt-9"}, 404, "model_not_found", "model"),
        ({"model": "tones"}, 404, "model_not_found", "model"),
        ({"response_format": "aac"}, 400, "literal_error", "response_format"),
        ({"speed": 99}, 400, "less_than_equal", "speed"),
        ({"speed": 0.25}, 400, "greater_than_equal", "speed"),
        ({"speed": float("nan")}, 400, "less_than_equal", "speed"),
        ({"speed": "fast"}, 400, "float_parsing", "speed"),
        ({"instructions": "whisper"}, 400, "unsupported_value", "instructions"),
        ({"stream_format": "sse"}, 400, "literal_error", "stream_format"),
    ],
)
def test_what_cannot_be_said_is_named(
    speak: Speak, changed: dict[str, object], status: int, code: str, param: str
) -> None:
    answer = speak(**changed)
    assert (answer.status, answer.error["code"], answer.error["param"]) == (status, code, param)
    assert answer.error["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    ("changed", "way_out"),
    [
        ({"input": PROSE * 222}, "speech-jobs"),
        ({"input": PROSE * 50, "response_format": "wav"}, "mp3 and opus take longer texts"),
        ({"input": PROSE * 25, "response_format": "wav", "speed": 0.5}, "mp3 and opus take longer texts"),
        ({"input": "1234567890" * 50}, "speech-jobs"),
    ],
)
def test_a_text_that_is_too_long_is_refused_before_any_work(
    speak: Speak, monkeypatch: pytest.MonkeyPatch, changed: dict[str, object], way_out: str
) -> None:
    monkeypatch.setattr(engines, "synthesizer", lambda *_: pytest.fail("it was worked on"))
    answer = speak(**changed)
    assert (answer.status, answer.error["code"], answer.error["param"]) == (413, "text_too_long", "input")
    assert way_out in answer.error["message"]


def test_what_the_estimate_lets_pass_is_given_up_in_time_and_at_the_size(
    speak: Speak, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert speak(remaining_s=1).error["code"] == "text_too_long"
    monkeypatch.setattr("cloud.api.spoken.limits.MOST_BYTES", 150_000)
    assert speak(input=TEXT, response_format="wav").status == 413


def test_a_body_that_lambda_would_not_take_is_told_to_be_shorter(speak: Speak) -> None:
    answer = speak(input="a" * 5_000_000)
    assert (answer.status, answer.error["code"], answer.error["param"]) == (413, "request_too_large", "input")
    assert "speech-jobs" in answer.error["message"]


def test_a_voice_that_cannot_be_loaded_is_nobody_s_bad_request(speak: Speak, monkeypatch: pytest.MonkeyPatch) -> None:
    from speech.errors import BadBundle

    def broken(*_: object) -> None:
        raise BadBundle("/opt/models/hum has been altered")

    monkeypatch.setattr(engines, "synthesizer", broken)
    answer = speak()
    assert (answer.status, answer.error["code"]) == (500, "internal_error")
    assert "altered" not in answer.text
