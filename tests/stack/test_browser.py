"""The browser for the page's tests: found where it is, and missed in words that help."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from local import browser
from tests.contract.house import ROOT


def test_a_machine_without_it_is_told_what_to_install(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "local.browser"]
    done = subprocess.run(
        command, cwd=ROOT, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1
    assert "apt install chromium" in done.stderr


def test_another_place_may_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "my-browser"
    other.touch(mode=0o755)
    monkeypatch.setenv("CHROMIUM", str(other))
    assert browser.find() == str(other)
    monkeypatch.delenv("CHROMIUM")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert browser.find() is None
    (tmp_path / "chromium").touch(mode=0o755)
    assert browser.find() == str(tmp_path / "chromium")
