"""Writes an object of any length to S3 while it is being encoded, with the one seek of encoders: back to the header.

A FLAC writer learns the length only at the end and then rewrites its header. So the first part of the multipart upload
stays in memory until `close`, the others leave as soon as they are full: memory is two parts, disk none.
"""

from __future__ import annotations

import io
from types import TracebackType
from typing import Any

from cloud.clients import client

PART_BYTES = 8 << 20  # S3 wants 5 MiB or more of every part but the last, and takes 10,000 parts


class S3Writer(io.RawIOBase):
    """A binary file that becomes an object at the end of its `with` block; an exception there leaves no object."""

    def __init__(self, bucket: str, key: str, *, part_bytes: int = PART_BYTES, content_type: str = "") -> None:
        super().__init__()
        self._about = {"ContentType": content_type} if content_type else {}
        self._object = {"Bucket": bucket, "Key": key}
        self._part_bytes = part_bytes
        self._head = bytearray()
        self._tail = bytearray()
        self._sent = 0  # bytes of the parts that have left, the first not counted
        self._parts: list[dict[str, Any]] = []
        self._upload: str | None = None
        self._at = 0

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._length()}[whence]
        self._at = base + offset
        return self._at

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._place(piece)
        return len(piece)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
        try:
            if kind is None:
                self._finish()
        except Exception as failure:
            kind = type(failure)
            raise
        finally:
            if kind is not None and self._upload:
                client("s3").abort_multipart_upload(**self._object, UploadId=self._upload)

    def _finish(self) -> None:
        s3 = client("s3")
        if not self._upload:
            s3.put_object(**self._object, **self._about, Body=bytes(self._head + self._tail))
            return
        if self._tail:
            self._send(bytes(self._tail))
        first = self._upload_part(1, bytes(self._head))
        s3.complete_multipart_upload(
            **self._object, UploadId=self._upload, MultipartUpload={"Parts": [first, *self._parts]}
        )

    def _length(self) -> int:
        return len(self._head) + self._sent + len(self._tail)

    def _place(self, piece: bytes) -> None:
        if self._at < len(self._head) or len(self._head) < self._part_bytes:
            fits = piece[: max(0, self._part_bytes - self._at)]
            self._head.extend(bytes(max(0, min(self._at, self._part_bytes) - len(self._head))))  # as files do for a gap
            self._head[self._at : self._at + len(fits)] = fits
            self._at, piece = self._at + len(fits), piece[len(fits) :]
        if not piece:
            return
        if self._at != self._length():
            raise io.UnsupportedOperation(f"write at byte {self._at}: only {self._part_bytes} bytes can be rewritten")
        self._tail += piece
        self._at += len(piece)
        while len(self._tail) >= self._part_bytes:
            self._send(bytes(self._tail[: self._part_bytes]))
            del self._tail[: self._part_bytes]

    def _send(self, body: bytes) -> None:
        if not self._upload:
            self._upload = client("s3").create_multipart_upload(**self._object, **self._about)["UploadId"]
        self._parts.append(self._upload_part(len(self._parts) + 2, body))
        self._sent += len(body)

    def _upload_part(self, number: int, body: bytes) -> dict[str, Any]:
        answer = client("s3").upload_part(**self._object, UploadId=self._upload, PartNumber=number, Body=body)
        return {"PartNumber": number, "ETag": answer["ETag"]}
