"""`make setup`: pinned, idempotent, and clear about what is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from local import setup
from tests.contract.house import ROOT


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of its own whose environment needs no package: nothing is fetched."""
    (tmp_path / "requirements-dev.txt").write_text("# nothing\n")
    (tmp_path / ".local").mkdir()
    monkeypatch.setattr(setup, "ROOT", tmp_path)
    return tmp_path


def test_an_interrupted_set_up_is_taken_up_again_and_then_left_alone(checkout: Path) -> None:
    (checkout / ".venv" / "bin").mkdir(parents=True)
    (checkout / ".venv" / "bin" / "python").write_text("half a file")
    assert not setup.ready("dev")
    setup.make("dev")
    assert setup.ready("dev")
    made = (checkout / ".venv" / ".stamp").stat().st_mtime_ns
    setup.make("dev")
    assert (checkout / ".venv" / ".stamp").stat().st_mtime_ns == made


def test_a_changed_pin_is_noticed(checkout: Path) -> None:
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / ".stamp").write_text(setup.stamp_of("dev"))
    assert setup.ready("dev")
    (checkout / "requirements-dev.txt").write_text("numpy==1.2.3\n")
    assert not setup.ready("dev")


def test_the_sources_are_importable_by_relative_paths(checkout: Path) -> None:
    site = checkout / ".venv" / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True)
    setup.write_path_file(checkout / ".venv")
    lines = (site / "undertone.pth").read_text().splitlines()
    assert [(site / line).resolve() for line in lines] == [checkout / source for source in setup.SOURCES]


def test_a_python_without_wheels_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    with pytest.raises(setup.SetupError, match=r"3\.11 to 3\.13 is needed: apt-get install"):
        setup.check_python()


def test_a_python_without_venv_is_named(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(setup.SetupError, match=r"apt-get install python3\.\d+-venv"):
        setup.create(checkout / ".venv")


def test_no_network_is_named_and_costs_nothing_that_was_there(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (checkout / "requirements-dev.txt").write_text("a-package-that-is-nowhere==1.0\n")
    nowhere = {"PIP_CONFIG_FILE": "/dev/null", "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "1"}
    for name, value in nowhere.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(setup.SetupError, match="no connection to the package index"):
        setup.install("dev", ROOT / ".venv")


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("ERROR: Could not install packages: [Errno 28] No space left on device", "the disk is full"),
        ("ERROR: No matching distribution found for numpy==9.9", "no ready-made wheel of numpy==9.9"),
        ("ERROR: something new", "something new"),
    ],
)
def test_what_pip_says_becomes_one_instruction(checkout: Path, words: str, advice: str) -> None:
    log = checkout / "pip.log"
    log.write_text(words + "\n")
    assert advice in setup.explain(log)
