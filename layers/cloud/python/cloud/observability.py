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


def count_speech(audio_s: float, characters: int, spent_s: float) -> None:
    """Metrics of one text that was spoken: seconds of sound, characters of text, seconds of work."""
    metrics.add_metric("SpeechSeconds", MetricUnit.Seconds, audio_s)
    metrics.add_metric("SpeechCharacters", MetricUnit.Count, characters)
    metrics.add_metric("SpeechDuration", MetricUnit.Seconds, spent_s)
