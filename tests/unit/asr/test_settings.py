"""A manifest's settings change the recogniser by name, and a name it does not know is refused."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from speech.asr.endpoint import Rule
from speech.asr.recognizer import Recognizer
from speech.asr.settings import RecognitionSettings
from speech.errors import BadBundle
from speech.events import Final
from speech.model.bundle import Bundle, write_manifest

from tests.tiny.build import FOLDER
from tests.tiny.sound import say

MANIFEST = Bundle.load(FOLDER).manifest


def bundle_with(folder: Path, **changes: object) -> Path:
    shutil.copytree(FOLDER, folder / "tones")
    write_manifest(folder / "tones", replace(MANIFEST, **changes))  # type: ignore[arg-type]
    return folder / "tones"


def test_values_not_named_keep_their_defaults() -> None:
    settings = RecognitionSettings.of(replace(MANIFEST, settings={"decoder": {"beam": 9}, "silence_probability": 0.8}))
    assert (settings.decoder.beam, settings.silence_probability) == (9.0, 0.8)
    assert settings.endpoint == RecognitionSettings().endpoint


def test_endpoint_rules_are_data_of_the_bundle(tmp_path: Path) -> None:
    rule = {"min_segment_s": 0, "min_silence_s": 0.12, "ends_turn": True}
    recognizer = Recognizer.load(bundle_with(tmp_path, settings={"endpoint": {"rules": [rule], "max_segment_s": 9}}))
    stream = recognizer.stream()
    events = stream.receive(say("cat dog")) + stream.finish()
    assert [e.raw_text for e in events if isinstance(e, Final)] == ["cat", "dog"]
    assert RecognitionSettings().endpoint.rules[0] == Rule(0.0, 0.8, ends_turn=True)


def test_a_segment_that_sounds_like_noise_gives_no_final(tmp_path: Path) -> None:
    stream = Recognizer.load(bundle_with(tmp_path, settings={"min_confidence": 1.01})).stream()
    assert [e for e in stream.receive(say("cat dog")) + stream.finish() if isinstance(e, Final)] == []


def test_unknown_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadBundle, match=r"bundle 'tones': settings\.decoder: unknown keys \['beem'\]"):
        Recognizer.load(bundle_with(tmp_path, settings={"decoder": {"beem": 9}}))


def test_a_graph_over_other_tokens_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadBundle, match="the manifest's tokens are others"):
        Recognizer.load(bundle_with(tmp_path, tokens=("<b>", "x")))


def test_a_bundle_for_another_sample_rate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadBundle, match="is for 8000 Hz, expected 16000 Hz"):
        Recognizer.load(bundle_with(tmp_path, sample_rate=8000))
