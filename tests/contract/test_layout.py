"""The rooms of the house are fixed, and what is in them stays small enough to be pleasant."""

from __future__ import annotations

import ast
import json
import re
import statistics
from pathlib import Path

import pytest

from tests.contract.house import FOLDERS, ROOT, files, named, tree

ROOT_FILES = re.compile(
    r"(README|ARCHITECTURE|CHANGELOG|CONTRIBUTING)\.md|Makefile|pyproject\.toml|samconfig\.toml|template\.yaml"
    r"|requirements(-[a-z]+)?\.txt|LICENSE|NOTICE|\.(gitignore|gitattributes|cfnlintrc|checkov\.yaml)"
)
SHIPPED = ("layers", "functions")
PYTHON = files(suffix=".py")


def definitions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def test_there_are_no_other_rooms() -> None:
    ignored = [".git", ".local", ".aws-sam", "build", "__pycache__", ".venv", ".hypothesis", ".mypy_cache"]
    ignored += [".pytest_cache", ".ruff_cache"]
    rooms = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith((".venv", *ignored))}
    assert rooms <= FOLDERS


def test_the_root_holds_the_agreed_files_only() -> None:
    ignored = {"bench.json", "speech.wav"}  # what `make bench` and `make say` leave there
    loose = {path.name for path in ROOT.iterdir() if path.is_file() and not path.name.endswith(".log")} - ignored
    assert [name for name in sorted(loose) if not ROOT_FILES.fullmatch(name)] == []


def test_no_file_is_over_300_lines() -> None:
    assert {named(path): lines(path) for path in PYTHON if lines(path) > 300} == {}


def test_shipped_files_are_short_at_the_median() -> None:
    assert statistics.median(lines(path) for path in files(*SHIPPED, suffix=".py")) <= 120


def test_no_function_is_over_60_lines() -> None:
    long = {
        f"{named(path)}:{found.name}": found.end_lineno - found.lineno + 1
        for path in PYTHON
        for found in definitions(path)
        if found.end_lineno and found.end_lineno - found.lineno + 1 > 60
    }
    assert long == {}


@pytest.mark.parametrize("path", files("functions", suffix="app.py"), ids=named)
def test_a_handler_is_under_60_lines(path: Path) -> None:
    assert lines(path) < 60


def test_every_module_begins_with_a_sentence() -> None:
    bare = [named(p) for p in PYTHON if p.stat().st_size and not ast.get_docstring(tree(p))]
    assert bare == []


@pytest.mark.parametrize("room", SHIPPED)
def test_every_public_name_that_ships_is_documented(room: str) -> None:
    bare = [
        f"{named(path)}:{node.lineno} {node.name}"
        for path in files(room, suffix=".py")
        for node in tree(path).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
        if not ast.get_docstring(node)
    ]
    assert bare == []


def test_folders_of_functions_can_be_imported() -> None:
    assert [p.name for p in (ROOT / "functions").iterdir() if p.is_dir() and not p.name.isidentifier()] == []


def test_every_event_belongs_to_a_function_and_can_be_read() -> None:
    functions = {path.name for path in (ROOT / "functions").iterdir() if path.is_dir()}
    cases = [path for path in files("events", suffix=".json") if path.parent.name != "audio"]
    assert [named(path) for path in cases if path.parent.name not in functions] == []
    for path in cases:
        json.loads(path.read_text())
