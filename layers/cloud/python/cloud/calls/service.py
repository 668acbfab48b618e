"""A worker as a process: made of its settings, turning until it is told to stop, then handing its calls over."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from aws_lambda_powertools.metrics import MetricUnit

from cloud import engines
from cloud.calls.intake import Intake
from cloud.calls.leases import LeaseTable
from cloud.calls.outlet import Outlet
from cloud.calls.watcher_table import WatcherTable
from cloud.calls.watchers import Watchers
from cloud.calls.worker import Worker, WorkerSettings
from cloud.observability import logger, metrics
from cloud.replies import choose
from cloud.settings import LiveWorkerSettings
from cloud.sockets.client_side import ClientSide
from cloud.video.consumer import Patience

BEAT_S = 1.0  # between two signs of life
REPORT_S = 15.0  # between two reports of how many calls there are
MOST_VALUES = 90  # of a metric at once: CloudWatch takes 100
CHECKPOINTS = "calls/"  # under the prefix of work


@dataclass
class Service:
    """One process's worker."""

    settings: LiveWorkerSettings
    worker: Worker = field(init=False)
    outlet: Outlet = field(init=False)
    _beat_s: float = field(init=False, default=float("-inf"))
    _reported_s: float = field(init=False, default=float("-inf"))

    def __post_init__(self) -> None:
        settings = self.settings
        self.outlet = Outlet(
            settings, Watchers(WatcherTable(settings.watcher_table), ClientSide(settings.connections_url))
        )
        how = WorkerSettings(
            bucket=settings.output_bucket,
            prefix=settings.work_prefix + CHECKPOINTS,
            most_calls=settings.most_calls,
            renew_s=settings.lease_s / 4,
            checkpoint_s=settings.checkpoint_s,
            look_s=settings.lease_s / 10,
            patience=Patience(idle_s=settings.call_idle_s),
        )
        leases = LeaseTable(settings.call_table, settings.lease_s, settings.call_retention_days)
        self.worker = Worker(
            how,
            engines.recognizer(settings.models_dir, settings.asr_bundle),
            leases,
            self.outlet,
            owner=f"{socket.gethostname()}:{os.getpid()}",
            intake=Intake(settings.calls_queue_url),
            replies=choose.desk(settings, leases, self.outlet.reply),
        )

    def run(self, stopped: Callable[[], bool]) -> None:
        """Work until `stopped`; then every call is put down where another worker takes it up at once."""
        logger.info("ready for %d calls", self.settings.most_calls)
        while not stopped():
            self._live(time.monotonic())
            self.worker.turn()
        logger.info("handing over %d calls", len(self.worker.held))
        self.worker.hand_over()
        self.outlet.close()
        self._report_late()

    def _live(self, now_s: float) -> None:
        """A sign of life for the container's health check, and figures for the scaling."""
        if now_s - self._beat_s >= BEAT_S:
            Path(self.settings.heartbeat_file).touch()
            self._beat_s = now_s
        if now_s - self._reported_s >= REPORT_S:
            metrics.add_metric("Calls", MetricUnit.Count, len(self.worker.held))
            metrics.flush_metrics()
            self._report_late()
            self._reported_s = now_s

    def _report_late(self) -> None:
        """How late finals were since the last time."""
        late, self.outlet.latencies_ms = self.outlet.latencies_ms, []
        for at in range(0, len(late), MOST_VALUES):
            for latency_ms in late[at : at + MOST_VALUES]:
                metrics.add_metric("FinalLatency", MetricUnit.Milliseconds, latency_ms)
            metrics.flush_metrics()
