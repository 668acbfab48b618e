"""Reads a queue message into the recording it is about: S3 events by either road, and the functions' own hand-overs.

EventBridge puts an object's key into `detail.object.key` as it is; S3's own notifications encode it as in a form.
The identity of a job is bucket + key + version (or etag where the bucket keeps no versions), so that duplicates and
replays meet the job they belong to, and the `sequencer` orders the uploads of one key.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import unquote_plus

UPLOADS = "uploads/"  # and 32 hex digits begin the key, behind any prefix, of what came by the API's form
_FORM_KEY = re.compile(rf"(.*/)?{UPLOADS}[0-9a-f]{{32}}/[^/]+", re.DOTALL)

SEQUENCER_DIGITS = 32  # S3's are 16 to 18 hex digits; padded on the right to compare, as its documentation says


class UnknownMessage(ValueError):
    """A message that is no S3 event and no hand-over: it belongs in the dead-letter queue, for someone to look at."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One upload of one object."""

    bucket: str
    key: str  # as S3 knows it, not encoded
    etag: str  # without quotes
    version_id: str  # empty where the bucket keeps no versions
    sequencer: str  # padded hex: the later of two uploads of a key has the greater one
    size: int  # bytes

    @property
    def job_id(self) -> str:
        """Same for every event about this upload: 32 hex digits."""
        if _FORM_KEY.fullmatch(self.key):
            return upload_job_id(self.bucket, self.key)
        identity = "\0".join((self.bucket, self.key, self.version_id or self.etag))
        return hashlib.sha256(identity.encode()).hexdigest()[:32]

    @property
    def uri(self) -> str:
        """s3://bucket/key"""
        return f"s3://{self.bucket}/{self.key}"


def upload_job_id(bucket: str, key: str) -> str:
    """The job of a key that the API gave out for one upload: known before the upload, whatever its version will be."""
    return hashlib.sha256("\0".join((bucket, key, "upload")).encode()).hexdigest()[:32]


def parse_message(body: str) -> list[Recording]:
    """Recordings named by a message: none for events that ask for nothing (`s3:TestEvent`, folders, deletions)."""
    try:
        message = json.loads(body)
    except json.JSONDecodeError as error:
        raise UnknownMessage(f"message is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise UnknownMessage(f"message is a JSON {type(message).__name__}, expected an object")
    try:
        found = _recordings(message)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UnknownMessage(f"message lacks a part that it should have: {error!r}") from error
    return [recording for recording in found if not _is_folder(recording)]


def handover(recording: Recording) -> str:
    """The message with which one invocation passes a recording on to another; the job table says what is left to do."""
    return json.dumps({"recording": asdict(recording)}, ensure_ascii=False)


def pad_sequencer(text: str) -> str:
    """Comparable form of a sequencer: upper-case hex, padded with zeros on the right."""
    return text.upper().ljust(SEQUENCER_DIGITS, "0")


def _recordings(message: dict[str, Any]) -> list[Recording]:
    if "recording" in message:
        return [Recording(**message["recording"])]
    if message.get("Event") == "s3:TestEvent":
        return []
    if "Records" in message:
        return [_from_notification(r["s3"]) for r in message["Records"] if r["eventName"].startswith("ObjectCreated")]
    if message.get("source") == "aws.s3":
        return [_from_event(message["detail"])] if message["detail-type"] == "Object Created" else []
    raise UnknownMessage(f"message is no S3 event: it has the keys {', '.join(sorted(message)) or 'none'}")


def _from_event(detail: dict[str, Any]) -> Recording:
    item = detail["object"]
    return _recording(detail["bucket"]["name"], item["key"], item.get("version-id", ""), item["etag"], item)


def _from_notification(s3: dict[str, Any]) -> Recording:
    item = s3["object"]
    return _recording(s3["bucket"]["name"], unquote_plus(item["key"]), item.get("versionId", ""), item["eTag"], item)


def _recording(bucket: str, key: str, version_id: str, etag: str, item: dict[str, Any]) -> Recording:
    sequencer = pad_sequencer(item.get("sequencer", ""))
    return Recording(bucket, key, etag.strip('"'), version_id or "", sequencer, int(item.get("size", 0)))


def _is_folder(recording: Recording) -> bool:
    return recording.size == 0 and recording.key.endswith("/")
