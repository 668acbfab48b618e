"""One stack for all tests here: template.yaml in an emulator of its own, beside any that a person has up; and an
emulator with nothing in it, for tests that bring what they need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from local import emulator
from local import stack as stacks
from local.stack import Stack


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The running stack: `.endpoint`, `.outputs["InputBucket"]`, `.client("s3")`, `.log()`."""
    folder: Path = tmp_path_factory.mktemp("stack")
    running = stacks.up(folder, 0, {}, lambda note: None)
    yield running
    running.stop()


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of an emulator without a stack."""
    port = emulator.choose_port(0)
    process = emulator.start(port, tmp_path_factory.mktemp("aws"))
    yield f"http://127.0.0.1:{port}"
    emulator.stop(process.pid)
