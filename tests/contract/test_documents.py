"""The documents are true: their links lead somewhere and their commands do what they show."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.contract.house import ROOT, files, named

DOCUMENTS = files(suffix=".md")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
RUN = re.compile(r"^```console run\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def anchors(path: Path) -> set[str]:
    """The names that a heading can be linked by."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def shown() -> list[tuple[str, str]]:
    """(command, what the document shows of its output) of every block marked `console run`."""
    pairs = []
    for path in DOCUMENTS:
        for block in RUN.findall(path.read_text()):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                pairs.append((command, output))
    return pairs


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_links_lead_somewhere(path: Path) -> None:
    dead = []
    for target in LINK.findall(path.read_text()):
        file, _, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        there = (path.parent / file).resolve() if file else path
        if not there.exists() or (anchor and there.suffix == ".md" and anchor not in anchors(there)):
            dead.append(target)
    assert dead == []


@pytest.mark.parametrize(("command", "output"), shown(), ids=lambda value: str(value).partition("\n")[0][:60])
def test_a_command_of_the_documents_does_what_they_show(command: str, output: str) -> None:
    # As a person types it, not as a part of `make test`.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")} | {"COLUMNS": "80"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert not output.strip() or doctest.OutputChecker().check_output(output, done.stdout, flags), done.stdout


@pytest.mark.parametrize("name", ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"])
def test_the_documents_are_there(name: str) -> None:
    assert (ROOT / name).is_file()


def test_the_readme_shows_commands_that_are_run() -> None:
    assert len(RUN.findall((ROOT / "README.md").read_text())) >= 3


def test_every_word_of_make_is_explained() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    assert phony
    for word in set(phony.group(1).split()) - {"python"}:
        assert re.search(rf"^{word}:.*## ", makefile, re.MULTILINE), f"make {word} has no explanation"
