"""python -m speech transcribe over the tiny bundle: every format, every source, errors by name."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from speech.__main__ import main

from tests.tiny.build import FOLDER
from tests.tiny.sound import say

BUNDLE = ["--bundle", str(FOLDER)]
SPOKEN = say("cat dog 1.2 twenty two", before_s=0.3, after_s=0.3)


@pytest.fixture
def mono(tmp_path: Path) -> str:
    path = tmp_path / "mono.wav"
    soundfile.write(path, SPOKEN, 16000)
    return str(path)


@pytest.fixture
def stereo(tmp_path: Path) -> str:
    path, other = tmp_path / "stereo.flac", say("2.6 go go")
    soundfile.write(path, np.stack([SPOKEN, np.resize(np.r_[other, np.zeros(len(SPOKEN))], len(SPOKEN))], 1), 16000)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["transcribe", *arguments, *BUNDLE])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_text_is_the_usual_output(capsys: pytest.CaptureFixture[str], mono: str) -> None:
    assert run(capsys, mono) == (0, "Cat dog. 22.\n", "")


@pytest.mark.parametrize(
    ("name", "beginning"), [("srt", "1\n00:00:00,3"), ("vtt", "WEBVTT\n\n"), ("json", '{\n "jobName": "mono"')]
)
def test_other_formats(capsys: pytest.CaptureFixture[str], mono: str, name: str, beginning: str) -> None:
    code, out, _ = run(capsys, mono, "--format", name)
    assert code == 0
    assert out.startswith(beginning)


def test_channels_are_labelled_where_asked_for_and_averaged_elsewhere(
    capsys: pytest.CaptureFixture[str], stereo: str
) -> None:
    _, out, _ = run(capsys, stereo, "--channels")
    assert out == "ch_0: Cat dog. 22.\n\nch_1: Go go.\n"
    assert "ch_0" not in run(capsys, stereo)[1]


def test_jsonl_gives_a_line_for_each_file(capsys: pytest.CaptureFixture[str], mono: str, stereo: str) -> None:
    code, out, _ = run(capsys, mono, stereo, "--jsonl")
    lines = [json.loads(line) for line in out.splitlines()]
    assert (code, [line["path"] for line in lines]) == (0, [mono, stereo])
    first = lines[0]
    assert set(first) == {"path", "text", "raw_text", "words", "duration_s", "rtf"}
    assert (first["text"], first["raw_text"]) == ("Cat dog. 22.", "cat dog twenty two")
    assert set(first["words"][0]) == {"word", "start_s", "end_s", "confidence"}
    assert first["duration_s"] == pytest.approx(len(SPOKEN) / 16000, abs=1e-3)


def test_a_bad_file_is_named_and_the_others_are_still_done(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, mono: str
) -> None:
    fake = tmp_path / "fake.wav"
    fake.write_text("hello")
    code, out, err = run(capsys, str(fake), str(tmp_path / "missing.wav"), mono)
    assert code == 1
    assert "Cat dog. 22." in out
    assert [line.split(":")[0] for line in err.splitlines()] == [str(fake), str(tmp_path / "missing.wav")]
    assert "No such file" in err


def test_live_prints_partials_as_they_form(capsys: pytest.CaptureFixture[str], mono: str) -> None:
    code, out, _ = run(capsys, mono, "--live")
    assert code == 0
    lines = out.splitlines()
    assert lines[:2] == ["~ cat", "~ cat dog"]
    assert lines[2].endswith("] Cat dog.")


def test_live_takes_raw_samples_from_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = (SPOKEN * 32767).astype("<i2").tobytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    code, out, _ = run(capsys, "-", "--live", "--rate", "16000", "--encoding", "pcm_s16le")
    assert code == 0
    assert out.endswith("] 22.\n")


def test_standard_input_needs_live(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "-")
    assert code == 2
    assert "needs --live" in err


def test_a_missing_bundle_is_a_message_and_no_traceback(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["transcribe", "x.wav", "--bundle", str(tmp_path)]) == 1
    assert "it has no manifest.json" in capsys.readouterr().err
