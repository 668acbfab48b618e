"""Drop recordings into the input bucket and see what becomes of them, by the doors a user has: S3 and the job table."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boto3.dynamodb.types import TypeDeserializer

from local.stack import Stack
from local.state import LocalError

_plain: Any = TypeDeserializer()


@dataclass(frozen=True)
class Dropped:
    """A recording on its way: the object's key, and when its upload was complete."""

    path: Path
    key: str
    at_s: float  # time.monotonic()


@dataclass(frozen=True)
class Result:
    """The end of one recording's way."""

    dropped: Dropped
    latency_s: float  # seconds from the end of the upload to the transcript, as a caller sees it
    job: dict[str, Any]  # the job table's item
    text: str  # the transcript as one text; empty when the job failed

    @property
    def failed(self) -> str:
        """Why there is no transcript, or nothing."""
        return str(self.job.get("reason", "no reason given")) if self.job["status"] == "FAILED" else ""

    @property
    def audio_s(self) -> float:
        """Seconds of audio in the recording."""
        return float(self.job.get("audio_seconds", 0))

    @property
    def rtf(self) -> float | None:
        """Processing time over duration of the audio."""
        spent = self.job.get("processing_seconds")
        return float(spent) / self.audio_s if spent is not None and self.audio_s else None


def drop(stack: Stack, path: Path) -> Dropped:
    """Upload a file under its own name; the bucket's events do the rest."""
    if not path.is_file():
        raise LocalError(f"{path} is not a file: give a recording (WAV, FLAC, Ogg, MP3, M4A, WebM, AMR)")
    key = stack.input_prefix + path.name
    stack.client("s3").upload_file(str(path), stack.outputs["InputBucket"], key)
    return Dropped(path, key, time.monotonic())


def results(stack: Stack, dropped: list[Dropped], started_at: str, patience_s: float) -> Iterator[Result]:
    """Each recording's result as it comes; ends when all are there, or raises when none came for `patience_s` seconds.

    started_at: ISO time before the uploads; jobs last touched before it belong to earlier uploads of the same name.
    """
    waiting = {one.key: one for one in dropped}
    deadline = time.monotonic() + patience_s
    while waiting:
        for job in finished(stack, started_at):
            if job["key"] in waiting:
                one = waiting.pop(job["key"])
                yield Result(one, time.monotonic() - one.at_s, job, transcript(stack, job))
                deadline = time.monotonic() + patience_s
        if waiting and time.monotonic() > deadline:
            names = ", ".join(sorted(waiting))
            raise LocalError(f"no transcript of {names} within {patience_s:.0f} s; the log says why: {stack.state.log}")
        time.sleep(0.1)


def finished(stack: Stack, since: str) -> list[dict[str, Any]]:
    """Jobs that were completed or failed after the ISO time `since`."""
    items = stack.client("dynamodb").scan(TableName=stack.outputs["JobTable"], ConsistentRead=True)["Items"]
    jobs = [{name: _plain.deserialize(value) for name, value in item.items()} for item in items]
    return [j for j in jobs if j.get("status") in ("COMPLETED", "FAILED") and j.get("updated_at", "") >= since]


def transcript(stack: Stack, job: dict[str, Any]) -> str:
    """The plain text that a finished job left in the output bucket."""
    for uri in job.get("outputs", []):
        if str(uri).endswith(".txt"):
            bucket, key = str(uri).removeprefix("s3://").split("/", 1)
            return str(stack.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read().decode()).strip()
    return ""
