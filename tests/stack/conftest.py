"""One stack for all tests here: template.yaml in an emulator of its own, beside any that a person has up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from local import stack as stacks
from local.stack import Stack


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The running stack: `.endpoint`, `.outputs["InputBucket"]`, `.client("s3")`, `.log()`."""
    folder: Path = tmp_path_factory.mktemp("stack")
    running = stacks.up(folder, 0, {}, lambda note: None)
    yield running
    running.stop()
