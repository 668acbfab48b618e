"""python -m speech bench: the measurements run, say what they must reach, and land in bench.json."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import soundfile
from speech.__main__ import main
from speech.cli import measures

from tests.tiny.build import FOLDER
from tests.tiny.sound import say


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "a.wav"
    soundfile.write(path, say("cat dog go 1.0 oak"), 16000)
    return path


def test_numbers_land_in_the_table_and_in_the_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, recording: Path
) -> None:
    target = tmp_path / "bench.json"
    arguments = ["--bundle", str(FOLDER), "--audio", str(recording), "--json", str(target)]
    assert main(["bench", "--only", "rtf", "final", "snapshot", *arguments]) == 0
    numbers = json.loads(target.read_text())
    assert set(numbers) == {"rtf", "final_p50", "final_p95", "snapshot_largest", "snapshot_and_resume"}
    assert numbers["rtf"] == {
        "value": pytest.approx(0, abs=1),
        "unit": "x",
        "must": "0.05 or less",
        "command": "python -m speech bench --only rtf",
    }
    assert 0 < numbers["snapshot_largest"]["value"] < 256
    out = capsys.readouterr().out
    assert all(name in out for name in numbers)


def test_streams_are_counted_and_flatness_is_a_ratio(recording: Path) -> None:
    assert 1 <= measures.streams_per_core(FOLDER, [recording], most=2) <= 4
    assert measures.flatness(FOLDER, [recording], hours=2 / 60) > 0


def test_without_recordings_it_says_what_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("speech.cli.bench.RECORDINGS", tmp_path)
    assert main(["bench", "--bundle", str(FOLDER)]) == 1
    assert "name some with --audio" in capsys.readouterr().err
