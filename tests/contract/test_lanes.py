"""`make test` runs every test once, tells of each file, and fails when anything did; no test is held to a clock."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import __main__ as lanes
from tests.contract.house import ROOT
from tests.contract.house import files as house_files


def chosen(run: list[str], folder: str) -> bool:
    """Whether a run of pytest includes a folder of tests."""
    ignored = [word.removeprefix("--ignore=") for word in run if word.startswith("--ignore=")]
    named = [word for word in run if word.startswith("tests")]
    return any(within(folder, one) for one in named) and not any(within(folder, one) for one in ignored)


def within(folder: str, other: str) -> bool:
    return Path(folder).is_relative_to(other)


def test_every_test_is_in_one_lane() -> None:
    folders = {str(path.parent.relative_to(ROOT)) for path in house_files("tests") if path.name.startswith("test_")}
    runs = [run for lane in lanes.lanes() for run in lane.runs]
    for folder in folders:
        assert sum(chosen(run, folder) for run in runs) == 1, folder


@pytest.mark.parametrize("good", [True, False])
def test_a_lane_tells_of_its_files_and_a_failure_fails_all(
    good: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test_one.py").write_text(f"def test_it():\n    assert {good}, 'because'\n")
    (tmp_path / "test_other.py").write_text("def test_it():\n    pass\n")
    alone = ["-c", "/dev/null", "--rootdir", str(tmp_path), str(tmp_path)]
    first = lanes.Lane("one", [[sys.executable, *alone]], yields=True)
    assert lanes.run([first, lanes.Lane("other", [])]) == int(not good)
    said = capsys.readouterr().out
    assert re.search(r"^one   \| \S*test_one\.py [.F] +\[ 50%\]$", said, re.MULTILINE), said
    assert ("AssertionError: because" in said) != good
    assert f"one   {'passed' if good else 'FAILED'}" in said
    assert "other passed" in said


def test_a_lane_whose_python_is_missing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes.threading, "excepthook", lambda error: None)
    assert lanes.run([lanes.Lane("lost", [["no-such-python"]])]) == 1


def test_no_example_of_hypothesis_is_held_to_a_clock() -> None:
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check
