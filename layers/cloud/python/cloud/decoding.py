"""A clip that only FFmpeg reads, decoded by the convert function while a caller of the API waits.

FFmpeg and onnxruntime do not fit one function. An invocation's answer holds 6 MiB, which a few minutes of sound may
exceed, so S3 carries the clip there and the FLAC back; both are deleted at once, or by the bucket's lifecycle.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from speech.errors import BadAudio, BadInput

from cloud import storage
from cloud.clients import client
from cloud.uploads import S3Writer


class NotDecoded(RuntimeError):
    """The convert function failed; no fault of the clip."""


@dataclass(frozen=True, slots=True)
class Decoder:
    """The convert function, as the API's function calls it."""

    function: str
    bucket: str
    prefix: str  # of what is deleted after use

    @contextmanager
    def decoded(self, content: bytes) -> Iterator[BinaryIO]:
        """The clip as a FLAC file. Raises BadAudio for what FFmpeg cannot read either."""
        folder = f"{self.prefix}clips/{uuid.uuid4().hex}"
        storage.write_bytes(self.bucket, f"{folder}/clip", content)
        try:
            answer = client("lambda").invoke(FunctionName=self.function, Payload=json.dumps({"clip": folder}))
            said = json.loads(answer["Payload"].read())
            if "FunctionError" in answer:
                raise NotDecoded(f"{self.function} failed: {said}")
            if said["refused"]:
                raise BadAudio(said["refused"])
            with storage.open_object(self.bucket, f"{folder}/audio.flac") as flac:
                yield cast(BinaryIO, flac)
        finally:
            storage.delete_all(self.bucket, [f"{folder}/clip", f"{folder}/audio.flac"])


def serve(bucket: str, event: dict[str, Any]) -> dict[str, str]:
    """The convert function's side: `event` names the folder; what is wrong with the clip is answered, not raised."""
    from speech.audio.files_convert import transcode_to_flac

    folder = event["clip"]
    try:
        with storage.open_object(bucket, f"{folder}/clip") as source, S3Writer(bucket, f"{folder}/audio.flac") as flac:
            transcode_to_flac(cast(BinaryIO, source), cast(BinaryIO, flac))
    except BadInput as error:
        return {"refused": str(error)}
    return {"refused": ""}
