"""Objects in S3: read as a seekable stream by ranges, looked up, and written so that an older result never wins.

A recording is never whole in memory nor on disk: `S3Reader` holds a few blocks of it.
"""

from __future__ import annotations

import io
from collections import OrderedDict
from functools import cache
from typing import Any, cast

from botocore.exceptions import ClientError
from speech.errors import BadInput

from cloud.clients import client
from cloud.recordings import Recording

BLOCK_BYTES = 4 << 20  # one ranged read: some 130 s of 16 kHz PCM, a twentieth of a second on the wire
BLOCKS_HELD = 3  # the head of a container, its index at the end, and where the decoder is
ATTEMPTS = 5  # conditional writes against other writers of the same object

GONE = {"404", "NoSuchKey", "NoSuchVersion", "NotFound"}
CHANGED = {"412", "PreconditionFailed", "409", "ConditionalRequestConflict"}


class Gone(BadInput):
    """The object was deleted before it could be read."""


class Superseded(BadInput):
    """The object was uploaded anew: the later upload has a job of its own, and its transcript counts."""


class S3Reader(io.RawIOBase):
    """A recording as a binary file: sequential reads cost one request per block, seeks cost none by themselves.

    Every read asks for the etag that the event named, so that a recording overwritten meanwhile ends in `Superseded`
    rather than in a mixture of two.
    """

    def __init__(self, bucket: str, key: str, etag: str, size: int, *, block_bytes: int | None = None) -> None:
        super().__init__()
        self.name = key
        self._request = {"Bucket": bucket, "Key": key, "IfMatch": f'"{etag}"'}
        self._size = size
        self._block_bytes = block_bytes or BLOCK_BYTES
        self._blocks: OrderedDict[int, bytes] = OrderedDict()
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise ValueError(f"seek to {base + offset}, before the start of {self.name}")
        self._at = base + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fills the buffer up to the end of the object: to libsndfile a short read is the end of the file."""
        view = memoryview(buffer).cast("B")
        done = 0
        while done < len(view) and self._at < self._size:
            index, offset = divmod(self._at, self._block_bytes)
            piece = self._block(index)[offset : offset + len(view) - done]
            view[done : done + len(piece)] = piece
            done += len(piece)
            self._at += len(piece)
        return done

    def _block(self, index: int) -> bytes:
        if index not in self._blocks:
            self._blocks[index] = self._fetch(index * self._block_bytes)
            while len(self._blocks) > BLOCKS_HELD:
                self._blocks.popitem(last=False)
        self._blocks.move_to_end(index)
        return self._blocks[index]

    def _fetch(self, start: int) -> bytes:
        last = min(start + self._block_bytes, self._size) - 1
        try:
            answer = client("s3").get_object(**self._request, Range=f"bytes={start}-{last}")
        except ClientError as error:
            raise _explained(error, self.name) from error
        body: bytes = answer["Body"].read()
        return body


def open_current(recording: Recording) -> S3Reader:
    """The recording as a stream, if it is still what the bucket holds under its key; else `Gone` or `Superseded`."""
    try:
        head = client("s3").head_object(Bucket=recording.bucket, Key=recording.key)
    except ClientError as error:
        raise _explained(error, recording.key) from error
    etag = head["ETag"].strip('"')
    if etag != recording.etag or recording.version_id not in ("", head.get("VersionId", recording.version_id)):
        raise Superseded(f"{recording.key} was uploaded anew before it was read (etag {etag}, event {recording.etag})")
    if head["ContentLength"] == 0:
        raise BadInput(f"{recording.key} is empty (0 bytes), expected a recording")
    return S3Reader(recording.bucket, recording.key, etag, head["ContentLength"])


def open_object(bucket: str, key: str) -> S3Reader:
    """An object of our own as a stream, as it is now."""
    head = client("s3").head_object(Bucket=bucket, Key=key)
    return S3Reader(bucket, key, head["ETag"].strip('"'), head["ContentLength"])


def read_bytes(bucket: str, key: str) -> bytes:
    """A small object of our own, whole."""
    body: bytes = client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    return body


def read_up_to(bucket: str, key: str, most_bytes: int) -> bytes | None:
    """An object of our own, whole, or None where it is larger. Raises `Gone` if it is not there."""
    try:
        answer = client("s3").get_object(Bucket=bucket, Key=key)
    except ClientError as error:
        raise _explained(error, key) from error
    if answer["ContentLength"] > most_bytes:
        answer["Body"].close()
        return None
    body: bytes = answer["Body"].read()
    return body


@cache
def _signer() -> Any:
    """Signs for others: by the newest signature, which encrypted objects need, and for the region's own address.

    Left to itself boto3 writes s3.amazonaws.com, which sends callers on, and a form does not follow.
    """
    import boto3
    from botocore.config import Config

    return boto3.client("s3", config=Config(signature_version="s3v4", s3={"addressing_style": "virtual"}))


def download_url(bucket: str, key: str, valid_s: int) -> str:
    """An address at which anybody can read an object for a while."""
    url: str = _signer().generate_presigned_url("get_object", {"Bucket": bucket, "Key": key}, ExpiresIn=valid_s)
    return url


def upload_form(bucket: str, key: str, content_type: str, most_bytes: int, valid_s: int) -> dict[str, Any]:
    """{"url", "fields"} of a form that puts one object: of this key and type, not empty, `most_bytes` at most."""
    form: dict[str, Any] = _signer().generate_presigned_post(
        bucket,
        key,
        Fields={"Content-Type": content_type},
        Conditions=[{"Content-Type": content_type}, ["content-length-range", 1, most_bytes]],
        ExpiresIn=valid_s,
    )
    return form


def write_bytes(bucket: str, key: str, body: bytes, content_type: str = "application/octet-stream") -> None:
    """Writes a small object of our own."""
    client("s3").put_object(Bucket=bucket, Key=key, Body=body, ContentType=content_type)


def delete_all(bucket: str, keys: list[str]) -> None:
    """Deletes objects of our own; keys that are not there are no error."""
    for key in keys:
        client("s3").delete_object(Bucket=bucket, Key=key)


def write_if_newest(bucket: str, key: str, body: bytes, content_type: str, sequencer: str) -> None:
    """Writes a result unless one of a later upload is there already (`Superseded`); safe against concurrent writers.

    The sequencer travels as the object's metadata, and the write names the object that it was compared with.
    """
    s3 = client("s3")
    for _ in range(ATTEMPTS):
        condition = _condition(bucket, key, sequencer)
        try:
            s3.put_object(
                Bucket=bucket,
                Key=key,
                Body=body,
                ContentType=content_type,
                Metadata={"sequencer": sequencer},
                **condition,
            )
            return
        except ClientError as error:
            if _code(error) not in CHANGED:
                raise
    raise RuntimeError(f"{key} was written by others {ATTEMPTS} times in a row")


def _condition(bucket: str, key: str, sequencer: str) -> dict[str, str]:
    try:
        head = client("s3").head_object(Bucket=bucket, Key=key)
    except ClientError as error:
        if _code(error) in GONE:
            return {"IfNoneMatch": "*"}
        raise
    if head["Metadata"].get("sequencer", "") > sequencer:
        raise Superseded(f"{key} already holds the transcript of a later upload")
    return {"IfMatch": head["ETag"]}


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _explained(error: ClientError, key: str) -> Exception:
    if _code(error) in GONE:
        return Gone(f"{key} was deleted before it could be read")
    if _code(error) in CHANGED:
        return Superseded(f"{key} was uploaded anew while it was being read")
    return cast(Exception, error)
