"""What the rest of the world hears: an event on the bus when a transcript or speech is ready, or will never be.

Sent before the job table says so, so that a crash between the two repeats the event rather than losing it.
"""

from __future__ import annotations

import json
from typing import Any

from cloud.clients import client
from cloud.recordings import Recording

SOURCE, SPEECH_SOURCE = "undertone.transcribe", "undertone.speak"
COMPLETED = "Transcript Completed"
FAILED = "Transcript Failed"
SPOKEN, NOT_SPOKEN = "Speech Completed", "Speech Failed"


class NotDelivered(RuntimeError):
    """EventBridge took the request but not the event."""


def completed(bus: str, recording: Recording, outputs: dict[str, str], audio_seconds: float) -> None:
    """A transcript is ready; `outputs` gives its address by format."""
    _put(bus, COMPLETED, {**_about(recording, "COMPLETED"), "outputs": outputs, "audio_seconds": audio_seconds})


def failed(bus: str, recording: Recording, reason: str) -> None:
    """There will be no transcript."""
    _put(bus, FAILED, {**_about(recording, "FAILED"), "reason": reason})


def spoken(bus: str, text: Recording, outputs: dict[str, str], audio_seconds: float) -> None:
    """The speech of a text is ready; `outputs` gives its address by format."""
    detail = {**_about(text, "COMPLETED"), "outputs": outputs, "audio_seconds": audio_seconds}
    _put(bus, SPOKEN, detail, SPEECH_SOURCE)


def not_spoken(bus: str, text: Recording, reason: str) -> None:
    """There will be no speech."""
    _put(bus, NOT_SPOKEN, {**_about(text, "FAILED"), "reason": reason}, SPEECH_SOURCE)


def _about(recording: Recording, status: str) -> dict[str, Any]:
    upload = {"bucket": recording.bucket, "key": recording.key, "etag": recording.etag}
    version = {"version_id": recording.version_id} if recording.version_id else {}
    return {"job": recording.job_id, "status": status, **upload, **version}


def _put(bus: str, kind: str, detail: dict[str, Any], source: str = SOURCE) -> None:
    entry = {
        "EventBusName": bus,
        "Source": source,
        "DetailType": kind,
        "Resources": [f"arn:aws:s3:::{detail['bucket']}"],
        "Detail": json.dumps(detail, ensure_ascii=False),
    }
    answer = client("events").put_events(Entries=[entry])
    if answer["FailedEntryCount"]:
        raise NotDelivered(f"event not taken: {answer['Entries'][0].get('ErrorMessage', 'no reason given')}")
