"""The door for recordings on a stack of its own, with the tiny bundles: words are runs of tones, the voice hums."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from local import stack as stacks
from tests.stack.door.door import Door

TINY = Path(__file__).parents[2] / "tiny"
BUNDLES = {"ModelsDir": str(TINY), "AsrBundle": "tones", "TtsBundle": "hum"}
PARAMETERS = {**BUNDLES, "RetryDelaySeconds": "0", "MaxReceiveCount": "3"}


@pytest.fixture(scope="session")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """A stack that hears `tests.tiny.sound.say`, tries thrice, and the ears of its event bus."""
    running = stacks.up(tmp_path_factory.mktemp("door"), 0, PARAMETERS, lambda note: None)
    try:
        yield Door.at(running)
    finally:
        running.stop()
