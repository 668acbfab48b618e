"""What the tests of the handlers share: names, the context, events from events/ and recordings made of tones."""

from __future__ import annotations

import io
import json
import wave
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
BUCKET = "undertone-input"
OUTPUT = "undertone-output"
ETAG = "0f343b0931126a20f133d67c2b018a3b"  # of the object that events/transcribe/*.json are about
QUEUES = "https://sqs.us-east-1.amazonaws.com/123456789012/undertone-"
ENVIRONMENT = {
    "JOB_TABLE": "jobs",
    "OUTPUT_BUCKET": OUTPUT,
    "WORK_PREFIX": "work/",
    "RECORDINGS_QUEUE_URL": QUEUES + "recordings",
    "CONVERSIONS_QUEUE_URL": QUEUES + "conversions",
    "EVENT_BUS": "default",
    "MAX_RECEIVES": "3",
    "RETRY_DELAY_S": "60",
    "JOB_RETENTION_DAYS": "90",
    "MODELS_DIR": "/opt/models",
    "ASR_BUNDLE": "asr-en-v1",
    "OUTPUT_PREFIX": "transcripts/",
    "FORMATS": "json,srt,vtt,txt",
    "CHANNEL_IDENTIFICATION": "auto",
    "VOCABULARY": "",
    "VOCABULARY_FILTER": "",
    "VOCABULARY_FILTER_METHOD": "mask",
    "CHECKPOINT_MARGIN_S": "60",
    "TIME_BUDGET_S": "0",
}

Load = Callable[..., ModuleType]  # a cold start: load("transcribe", FORMATS="txt")


class Context:
    """Lambda's context; its clock stands still until a test moves it."""

    function_name = "transcribe"
    memory_limit_in_mb = 1769
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:transcribe"
    aws_request_id = "da658bd3-2d6f-4e7b-8ec2-937234644fdc"

    def __init__(self, remaining_s: float = 900) -> None:
        self.remaining_s = remaining_s

    def get_remaining_time_in_millis(self) -> int:
        return round(self.remaining_s * 1000)


def load_event(name: str, function: str = "transcribe") -> dict[str, Any]:
    """One situation from events/."""
    found: dict[str, Any] = json.loads((ROOT / "events" / function / f"{name}.json").read_text())
    return found


def sounds(*channels: str, rate: int = 8000) -> bytes:
    """A WAV file; each character of a channel is a second: a blank is silence, anything else a tone."""
    time_s = np.arange(rate) / rate
    tone, silence = np.sin(2 * np.pi * 440 * time_s) / 2, np.zeros(rate)
    columns = [np.concatenate([silence if second == " " else tone for second in channel]) for channel in channels]
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setparams((len(channels), 2, rate, 0, "NONE", "not compressed"))
        out.writeframes((np.stack(columns, axis=1) * 32767).astype("<i2").tobytes())
    return file.getvalue()
