"""Words of a request to the API: `prompt` as hints, `vocabulary` and `vocabulary_filter` by the letter."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest
from cloud.api.hints import hints

from tests.functions.api_app import cold_start
from tests.functions.api_requests import Answer, transcription
from tests.functions.situations import Context
from tests.stack.door.door import wav
from tests.tiny.sound import say

CLIP = wav(say("cat dakot 1 go dog", after_s=1))


@pytest.fixture(scope="module")
def app() -> Iterator[ModuleType]:
    """functions/api/app.py, loaded as at a cold start."""
    with cold_start() as module:
        yield module


def asked(app: ModuleType, **fields: str) -> Answer:
    parts = [("file", CLIP), ("model", "tones"), *fields.items()]
    return Answer.of(app.handler(transcription(*parts), Context(29)))  # type: ignore[arg-type]


@pytest.mark.parametrize("vocabulary", ["Dakot\tdakot", '[{"phrase": "Dakot", "pronunciations": ["dakot"]}]'])
def test_a_vocabulary_is_heard(app: ModuleType, vocabulary: str) -> None:
    assert asked(app).json["text"] == "Cat. Go dog."
    assert asked(app, vocabulary=vocabulary).json["text"] == "Cat Dakot. Go dog."


def test_a_filter_hides(app: ModuleType) -> None:
    assert asked(app, vocabulary_filter="cat, dog").json["text"] == "***. Go ***."
    removed = asked(
        app, vocabulary_filter="cat\ndog", vocabulary_filter_method="remove", response_format="verbose_json"
    )
    assert removed.json["text"] == "Go."
    assert "cat" not in removed.text


@pytest.mark.parametrize(
    ("fields", "param", "message"),
    [
        ({"vocabulary": "Zyntrix"}, "vocabulary", "does not know 'zyntrix' and reads no letters"),
        ({"vocabulary": "[1]"}, "vocabulary", "vocabulary entry 0: expected a phrase"),
        ({"vocabulary": "R2D2"}, "vocabulary", "'R2D2': digits are written out"),
        ({"vocabulary_filter": "two words"}, "vocabulary_filter", "a filter holds single words"),
    ],
)
def test_what_is_wrong_is_named_with_its_field(
    app: ModuleType, fields: dict[str, str], param: str, message: str
) -> None:
    answer = asked(app, **fields)
    assert (answer.status, answer.error["code"], answer.error["param"]) == (400, "invalid_vocabulary", param)
    assert message in answer.error["message"]


def test_a_prompt_is_never_wrong(app: ModuleType) -> None:
    for prompt in ("cats, Zyntrix, R2D2 :)", "x" * 5000, ", ,;..", "😀" * 50, "a, " * 3000):
        assert asked(app, prompt=prompt).json["text"] == "Cat. Go dog."


@pytest.mark.parametrize(
    ("prompt", "phrases"),
    [
        ("Zyntrix, Amber Falcon; GPU", ["Zyntrix", "Amber Falcon", "GPU"]),
        ("The meeting was about Zyntrix and the Amber Falcon project at Acme.", ["Zyntrix", "Amber Falcon", "Acme"]),
        ("this is a quiet sentence of no names at all", []),
        ("zyntrix, Zyntrix, ZYNTRIX", ["zyntrix"]),
        ("iPhone 15, Model Three", ["Model Three"]),
    ],
)
def test_hints_are_short_stretches_and_names(prompt: str, phrases: list[str]) -> None:
    assert [phrase.text for phrase in hints(prompt).phrases] == phrases
