"""What the house rules are checked against: the files that are (or would be) committed, and their imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {".ci", "functions", "layers", "models", "events", "tests", "local"}
MADE_HERE = {"__pycache__", "build", "node_modules"}  # ignored by git, at any depth


def files(*folders: str, suffix: str = "") -> list[Path]:
    """Files below `folders` (of the whole house without them), except what git ignores."""
    starts = [ROOT / folder for folder in folders or sorted(FOLDERS)]
    made = ("bench.json", "speech.wav")
    loose = [] if folders else [path for path in ROOT.iterdir() if path.is_file() and path.name not in made]
    found = [path for start in starts for path in start.rglob("*") if path.is_file() and not is_made_here(path)]
    return sorted(path for path in found + loose if path.name.endswith(suffix))


def is_made_here(path: Path) -> bool:
    """Whether tools made this file: caches, builds, environments."""
    parts = path.relative_to(ROOT).parts
    return any(part in MADE_HERE or (part.startswith(".") and part not in (".ci", ".gitignore")) for part in parts)


def named(path: Path) -> str:
    """A path as it is written in the house: relative to its root."""
    return str(path.relative_to(ROOT))


@cache
def tree(path: Path) -> ast.Module:
    """The parsed source of a Python file."""
    return ast.parse(path.read_text(), str(path))


@dataclass(frozen=True)
class Import:
    """One import statement: which file imports which module."""

    path: Path
    line: int
    module: str  # absolute, as written: "speech.asr.words"

    def __str__(self) -> str:
        return f"{named(self.path)}:{self.line} imports {self.module}"

    @property
    def top(self) -> str:
        """The first part of the module's name."""
        return self.module.split(".", maxsplit=1)[0]


def imports(*folders: str) -> Iterator[Import]:
    """Every import of every Python file below `folders`, at any depth of the code; `from a import b` counts as a.b."""
    for path in files(*folders, suffix=".py"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Import):
                yield from (Import(path, node.lineno, name.name) for name in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{named(path)}:{node.lineno} uses a relative import: write it out"
                yield from (Import(path, node.lineno, f"{node.module}.{name.name}") for name in node.names)
