"""Long texts as objects of the output bucket: what is to be said and how, and where its speech is put."""

from __future__ import annotations

import json
import re
import uuid
from dataclasses import asdict, dataclass

from cloud import storage
from cloud.recordings import SEQUENCER_DIGITS, Recording

TEXTS = "texts/"  # behind the prefix of work
SPEECH = "speech/"  # begins the keys of what has become of them
_KEY = re.compile(rf"(.*/)?{TEXTS}[0-9a-f]{{32}}\.json", re.DOTALL)
CONTENT_TYPES = {
    "mp3": "audio/mpeg",
    "opus": "audio/ogg",
    "flac": "audio/flac",
    "wav": "audio/wav",
    "pcm": "audio/pcm",
}


@dataclass(frozen=True, slots=True)
class Text:
    """One text and how it is to be spoken; `format` is a key of CONTENT_TYPES."""

    text: str
    voice: str
    format: str
    speed: float

    def put(self, bucket: str, work_prefix: str) -> Recording:
        """Writes it under a key of its own; the source of its job."""
        key = f"{work_prefix}{TEXTS}{uuid.uuid4().hex}.json"
        body = json.dumps(asdict(self)).encode()
        storage.write_bytes(bucket, key, body, "application/json")
        return Recording(bucket, key, key.rsplit("/", 1)[1], "", "0" * SEQUENCER_DIGITS, len(body))


def read(source: Recording) -> Text:
    """The text of a job. Raises `Gone` if it was deleted."""
    body = storage.read_up_to(source.bucket, source.key, source.size)
    assert body is not None
    return Text(**json.loads(body))


def is_text(key: str) -> bool:
    """Whether the key of a job's source is that of a text."""
    return bool(_KEY.fullmatch(key))


def speech_key(job_id: str, form: str) -> str:
    """Where the speech of a job lies in the output bucket."""
    return f"{SPEECH}{job_id}.{form}"
