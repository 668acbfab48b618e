"""Nothing committed names a machine, a package index or anything outside the house; servers listen on 127.0.0.1."""

from __future__ import annotations

import re
from pathlib import Path

from tests.contract.house import ROOT, files, named

# fmt: off
TEXT = (
    ".py", ".js", ".html", ".css", ".md", ".txt", ".toml", ".yaml", ".yml", ".json", ".sh", "Makefile", "run",
    ".cfnlintrc", ".gitignore",
)
# fmt: on
HERE = Path(__file__)  # names all that it forbids
# Two parts each, so that searching the repository for one of them finds nothing here either.
FORBIDDEN = {
    "a path of somebody's machine": r"(?<![\w.])/(work|root|home|Users)/\w|/opt/(pypi|wheels)",
    "something beside the repository": r"\.\./" + r"shared",
    "the host of a package index": r"(pypi|pythonhosted|npmjs|debian)\." + r"org|--(extra-)?index" + r"-url",
    "a number of the work's own lists": r"\b[Ii]ssue " + r"#?\d",
    "something left for later": r"\b(TO" + r"DO|FIX" + r"ME|XXX)\b",
}
ALL_INTERFACES = re.compile(r"0\.0\.0" + r"\.0(?!/0)|\[::\]|host=[\"']{2}")  # with /0 it is a route, and no address


def texts() -> list[Path]:
    return [path for path in files() if path.name.endswith(TEXT) and path != HERE]


def offences(pattern: str) -> list[str]:
    found = re.compile(pattern)
    return [
        f"{named(path)}:{number}: {line.strip()[:100]}"
        for path in texts()
        if path.stat().st_size < 2_000_000
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if found.search(line)
    ]


def test_nothing_names_what_a_stranger_does_not_have() -> None:
    found = {what: offences(pattern) for what, pattern in FORBIDDEN.items()}
    assert {what: lines for what, lines in found.items() if lines} == {}


def test_no_server_listens_beyond_this_machine() -> None:
    assert offences(ALL_INTERFACES.pattern) == []
    assert '"BIND_HOST": HOST' in (ROOT / "local" / "emulator.py").read_text()


def test_no_test_is_skipped_and_none_sleeps() -> None:
    pattern = r"pytest\.(mark\.)?(skip|xfail|importorskip)|@skip|time\.sleep\("
    found = [line for line in offences(pattern) if line.startswith("tests/") and "tests/bench/" not in line]
    assert found == []
