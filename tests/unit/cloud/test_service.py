"""A worker's process shows a sign of life before its first turn, which may take a while when much has come."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from cloud.calls.healthy import is_healthy
from cloud.calls.service import Service


@dataclass
class Turning:
    """A worker that looks whether the process counts as well while it works."""

    heartbeat: Path
    held: dict[str, Any] = field(default_factory=dict)
    seen: list[bool] = field(default_factory=list)
    over: bool = False

    def turn(self) -> None:
        self.seen.append(is_healthy(self.heartbeat, time.time()))

    def hand_over(self) -> None:
        self.over = True


def test_it_is_well_from_its_first_turn_on(tmp_path: Path) -> None:
    worker = Turning(tmp_path / "heartbeat")
    service = Service.__new__(Service)  # without models and services
    service.settings = SimpleNamespace(heartbeat_file=str(worker.heartbeat), most_calls=1)  # type: ignore[assignment]
    service.worker, service._beat_s, service._reported_s = worker, float("-inf"), time.monotonic()  # type: ignore[assignment]
    service.outlet = SimpleNamespace(close=lambda: None)  # type: ignore[assignment]
    service.run(lambda: len(worker.seen) == 2)
    assert worker.seen == [True, True]
    assert worker.over
