"""A deployment's own words: the template's parameters in force on every recording, through every invocation."""

from __future__ import annotations

import importlib.util
import io

import pytest
import soundfile
from cloud.settings import BadSettings

from tests.functions.fake_aws import FakeAws
from tests.functions.situations import BUCKET, ENVIRONMENT, ETAG, OUTPUT, ROOT, Context, load_event
from tests.tiny.sound import say

HELLO = "calls/hello.wav"


def start(monkeypatch: pytest.MonkeyPatch, **variables: str):  # type: ignore[no-untyped-def]
    """functions/transcribe with a real recogniser of tones."""
    tones = {"MODELS_DIR": str(ROOT / "tests" / "tiny"), "ASR_BUNDLE": "tones", "FORMATS": "txt"}
    for name, value in (ENVIRONMENT | tones | variables).items():
        monkeypatch.setenv(name, value)
    spec = importlib.util.spec_from_file_location("app_of_transcribe", ROOT / "functions" / "transcribe" / "app.py")
    assert spec is not None
    assert spec.loader is not None
    app = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(app)
    return app


def test_words_are_written_as_the_deployment_writes_them_and_hidden(
    aws: FakeAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = io.BytesIO()
    soundfile.write(recording, say("cat dog 1.2 go dog", before_s=0.3, after_s=0.3), 16000, format="WAV")
    aws.s3.put(BUCKET, HELLO, recording.getvalue(), ETAG)
    app = start(monkeypatch, VOCABULARY="DOG, Cat Dog", VOCABULARY_FILTER="go", VOCABULARY_FILTER_METHOD="mask")
    app.handler(load_event("object_created"), Context())
    assert aws.s3.objects[OUTPUT, f"transcripts/{HELLO}.txt"]["Body"].decode() == "Cat Dog. *** DOG.\n"


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"VOCABULARY": "Zyntrix"}, "does not know 'zyntrix' and reads no letters"),
        ({"VOCABULARY": "R2D2"}, "VOCABULARY and VOCABULARY_FILTER: vocabulary entry 0: phrase 'R2D2': digits are"),
        ({"VOCABULARY_FILTER": "a b"}, "filter entry 0 'a b' has 2 words"),
        ({"VOCABULARY_FILTER": "a", "VOCABULARY_FILTER_METHOD": "hide"}, "'hide' is not known"),
    ],
)
def test_a_start_with_words_that_cannot_be_used_names_them(
    aws: FakeAws, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], message: str
) -> None:
    with pytest.raises(BadSettings, match=message):
        start(monkeypatch, **variables)
