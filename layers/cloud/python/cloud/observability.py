"""The process's logger, tracer and metrics; Powertools reads their settings from `POWERTOOLS_*` variables."""

from __future__ import annotations

from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.metrics import MetricUnit

logger = Logger()
tracer = Tracer()
metrics = Metrics()


def count_recording(audio_s: float, spent_s: float) -> None:
    """Metrics of one finished recording, in CloudWatch's embedded format.

    RealTimeFactor is the seconds of work for a second of audio, over all invocations; no audio has none.
    """
    metrics.add_metric("Completed", MetricUnit.Count, 1)
    metrics.add_metric("Duration", MetricUnit.Seconds, spent_s)
    metrics.add_metric("AudioSeconds", MetricUnit.Seconds, audio_s)
    if audio_s:
        metrics.add_metric("RealTimeFactor", MetricUnit.NoUnit, spent_s / audio_s)
