"""A worker's process shows a sign of life before its first turn, which may take a while when much has come."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
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


@pytest.fixture
def service(tmp_path: Path) -> Service:
    """A process without models and services."""
    made = Service.__new__(Service)
    made.settings = SimpleNamespace(heartbeat_file=str(tmp_path / "heartbeat"), most_calls=1)  # type: ignore[assignment]
    made.worker = Turning(tmp_path / "heartbeat")  # type: ignore[assignment]
    made.outlet = SimpleNamespace(close=lambda: None, latencies_ms=[])  # type: ignore[assignment]
    made._beat_s, made._reported_s = float("-inf"), time.monotonic()
    return made


def test_it_is_well_from_its_first_turn_on(service: Service) -> None:
    worker: Turning = service.worker  # type: ignore[assignment]
    service.run(lambda: len(worker.seen) == 2)
    assert worker.seen == [True, True]
    assert worker.over


def test_how_late_finals_were_is_told_also_of_the_last_seconds(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    worker: Turning = service.worker  # type: ignore[assignment]

    def hand_over() -> None:
        service.outlet.latencies_ms += range(100, 200)  # what was on its way when the worker was told to stop

    service.outlet.latencies_ms, worker.hand_over = [900, 950], hand_over  # type: ignore[method-assign]
    service.run(lambda: len(worker.seen) == 2)
    reports = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "FinalLatency" in line]
    assert [value for report in reports for value in report["FinalLatency"]] == [900, 950, *range(100, 200)]
    assert max(len(report["FinalLatency"]) for report in reports) <= 100
