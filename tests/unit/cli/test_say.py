"""python -m speech say over the hand-made voice: every way in, every way out, errors by name."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile as sf
from speech.__main__ import main
from speech.audio.files import open_audio

from tests.contract.house import ROOT
from tests.tiny import voice

TEXT = "The cat is here. It costs $25."


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("voice") / "hum"
    return str(voice.build(folder, str(ROOT / "models" / "bundles" / "lexicon-en-v1")))


def heard(path: Path) -> tuple[np.ndarray, int]:
    with path.open("rb") as file, open_audio(file) as audio:
        return np.concatenate(list(audio.blocks(48000)))[:, 0], audio.rate


@pytest.mark.parametrize(("name", "rate"), [("a.wav", 24000), ("a.flac", 8000), ("a.mp3", 16000), ("a.ogg", 48000)])
def test_the_name_says_the_encoding(bundle: str, tmp_path: Path, name: str, rate: int) -> None:
    assert main(["say", TEXT, "-o", str(tmp_path / name), "--rate", str(rate), "--bundle", bundle]) == 0
    sound, found = heard(tmp_path / name)
    assert found == rate
    assert len(sound) / rate > 1
    assert np.abs(sound).max() > 0.01


@pytest.mark.parametrize("name", ["a.wav", "a.flac", "a.mp3", "a.ogg"])
def test_the_header_tells_the_whole_length(
    bundle: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(["say", TEXT, "-o", str(tmp_path / name), "--json", "--bundle", bundle]) == 0
    spoken_s = json.loads(capsys.readouterr().err.splitlines()[-1])["seconds"]
    assert sf.info(tmp_path / name).duration == pytest.approx(spoken_s, abs=0.08)  # codecs pad to whole blocks


def test_raw_samples_need_their_encoding_said(bundle: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "a.raw")
    assert main(["say", TEXT, "-o", out, "--bundle", bundle]) == 1
    assert "--encoding" in capsys.readouterr().err
    assert main(["say", TEXT, "-o", out, "--encoding", "pcm_mulaw", "--rate", "8000", "--bundle", bundle]) == 0


def test_standard_input_says_the_same(bundle: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert main(["say", "-o", str(tmp_path / "in.wav"), "--bundle", bundle]) == 0
    assert main(["say", TEXT, "-o", str(tmp_path / "given.wav"), "--bundle", bundle]) == 0
    assert (tmp_path / "in.wav").read_bytes() == (tmp_path / "given.wav").read_bytes()


def test_marks_and_report(bundle: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    marks = tmp_path / "marks.jsonl"
    out = str(tmp_path / "a.wav")
    assert main(["say", TEXT, "-o", out, "--marks", str(marks), "--json", "--bundle", bundle]) == 0
    lines = [json.loads(line) for line in marks.read_text().splitlines()]
    assert [line["value"] for line in lines if line["type"] == "word"] == [
        "The",
        "cat",
        "is",
        "here",
        "It",
        "costs",
        "$25",
    ]
    assert [line["value"] for line in lines if line["type"] == "sentence"] == ["The cat is here.", "It costs $25."]
    report = json.loads(capsys.readouterr().err)
    assert report["file"] == out
    assert report["seconds"] > 1
    assert report["first_audio_ms"] > 0
    assert report["rtf"] > 0
    start, end, start_s, end_s = report["words"][1]
    assert TEXT[start:end] == "cat"
    assert 0 < start_s < end_s < report["seconds"]


def test_markup(bundle: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "a.wav")
    assert main(["say", '<speak>cat<break time="1s"/>dog</speak>', "--ssml", "-o", out, "--bundle", bundle]) == 0
    assert main(["say", "<speak>cat", "--ssml", "-o", out, "--bundle", bundle]) == 1
    assert "line 1, column 11" in capsys.readouterr().err


@pytest.mark.parametrize(("option", "message"), [
    (["--voice", "nobody"], "low, high"), (["--speed", "9"], "0.5 to 2"), (["-o", "/nowhere/a.wav"], "/nowhere/a.wav"),
])  # fmt: skip
def test_errors_say_what_was_expected(
    bundle: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], option: list[str], message: str
) -> None:
    assert main(["say", TEXT, "-o", str(tmp_path / "a.wav"), *option, "--bundle", bundle]) == 1
    assert message in capsys.readouterr().err
