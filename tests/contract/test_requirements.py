"""Every package is pinned, and the same package has the same version wherever our own code runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.contract.house import ROOT, files, named

PINNED = re.compile(r"[A-Za-z0-9._-]+(\[[a-z,]+\])?==[0-9][^ ;]*( *;.*)?( --hash=.*)?")
REQUIREMENTS = [*ROOT.glob("requirements*.txt"), *files("layers", "functions", suffix="requirements.txt")]
# The emulator and Lambda itself bring an AWS SDK of their own.
OWN_PINS = {"boto3", "botocore", "aws-sam-translator"}


def pins(path: Path) -> dict[str, str]:
    """Normalised name -> version."""
    lines = [line.split("#")[0].strip() for line in path.read_text().splitlines()]
    pairs = [line.split(";")[0].split("==") for line in lines if "==" in line]
    return {re.sub(r"[-_.]+", "-", name.split("[")[0]).lower(): version.split()[0] for name, version in pairs}


@pytest.mark.parametrize("path", REQUIREMENTS, ids=named)
def test_every_requirement_is_pinned_to_one_version(path: Path) -> None:
    lines = [line.split("#")[0].strip() for line in path.read_text().splitlines()]
    loose = [
        line for line in lines if line and not line.startswith(("-r ", "--only-binary")) and not PINNED.match(line)
    ]
    assert loose == []


@pytest.mark.parametrize(
    "path", [p for p in REQUIREMENTS if not p.name.endswith(("lint.txt", "checkov.txt"))], ids=named
)
def test_it_agrees_with_what_the_product_is_tested_with(path: Path) -> None:
    product = pins(ROOT / "requirements.txt")
    other = {name: version for name, version in pins(path).items() if name not in OWN_PINS}
    assert {name: v for name, v in other.items() if product.get(name, v) != v} == {}


def test_what_ships_is_tested_here() -> None:
    tested = pins(ROOT / "requirements.txt").keys() | pins(ROOT / "requirements-dev.txt").keys()
    shipped = {name for path in files("layers", suffix="requirements.txt") for name in pins(path)}
    assert shipped - tested == set()
