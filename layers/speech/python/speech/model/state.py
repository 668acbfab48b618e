"""Snapshots: the state of one stream as bytes that another process can resume, and that refuse to be misread.

Layout, little-endian: magic "UTSS", version u16, length u32 of what follows, bundle id (u8 length + UTF-8),
number of entries u16, the entries, and 16 bytes of BLAKE2b over all before it. An entry is its name
(u8 length + UTF-8), one letter for its type, and its value; arrays carry their dtype and shape.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from speech.errors import BadSnapshot

Value = NDArray[Any] | bytes | str | int | float
VERSION = 1
MAX_BYTES = 256 * 1024
_MAGIC = b"UTSS"
_HEAD = struct.Struct("<4sHI")
_DIGEST_BYTES = 16
_DTYPES = ("f4", "f2", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")


def pack(bundle_id: str, values: Mapping[str, Value], max_bytes: int = MAX_BYTES) -> bytes:
    """A snapshot of `values`, stamped with the bundle's id. Raises BadSnapshot if it is larger than `max_bytes`."""
    body = b"".join([_text(bundle_id), struct.pack("<H", len(values)), *(_entry(k, v) for k, v in values.items())])
    blob = _HEAD.pack(_MAGIC, VERSION, len(body)) + body
    blob += _digest(blob)
    if len(blob) > max_bytes:
        raise BadSnapshot(f"the snapshot would take {len(blob)} bytes, the limit is {max_bytes}")
    return blob


def unpack(blob: bytes, bundle_id: str) -> dict[str, Value]:
    """The values of a snapshot. Raises BadSnapshot unless it is whole, of this version, and of this bundle."""
    if len(blob) < _HEAD.size or blob[:4] != _MAGIC:
        raise BadSnapshot(f"not a snapshot: expected it to begin with {_MAGIC!r}, got {bytes(blob[:4])!r}")
    _, version, length = _HEAD.unpack_from(blob)
    if version != VERSION:
        raise BadSnapshot(f"the snapshot is of version {version}, this code reads version {VERSION}")
    whole = _HEAD.size + length + _DIGEST_BYTES
    if len(blob) != whole:
        raise BadSnapshot(f"the snapshot is damaged: expected {whole} bytes, got {len(blob)}")
    if _digest(blob[:-_DIGEST_BYTES]) != blob[-_DIGEST_BYTES:]:
        raise BadSnapshot("the snapshot is damaged: its checksum does not match")
    reader = _Reader(blob, _HEAD.size)
    owner = reader.text()
    if owner != bundle_id:
        raise BadSnapshot(f"the snapshot belongs to bundle {owner!r}, expected {bundle_id!r}")
    return dict(reader.entry() for _ in range(reader.number("<H")))


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<B", len(data)) + data


def _entry(name: str, value: Value) -> bytes:
    if isinstance(value, np.ndarray):
        code = value.dtype.newbyteorder("<").str[1:]
        if code not in _DTYPES:
            raise TypeError(f"{name}: arrays of {value.dtype} cannot be saved; possible are {_DTYPES}")
        shape = struct.pack(f"<BB{value.ndim}I", _DTYPES.index(code), value.ndim, *value.shape)
        return _text(name) + b"a" + shape + np.ascontiguousarray(value, "<" + code).tobytes()
    if isinstance(value, (bytes, str)):
        data = value.encode() if isinstance(value, str) else value
        return _text(name) + (b"s" if isinstance(value, str) else b"b") + struct.pack("<I", len(data)) + data
    if isinstance(value, float):
        return _text(name) + b"f" + struct.pack("<d", value)
    return _text(name) + b"i" + struct.pack("<q", value)


class _Reader:
    """Reads entries in order; the checksum has been verified, so the layout can be trusted."""

    def __init__(self, blob: bytes, at: int) -> None:
        self._blob, self._at = blob, at

    def take(self, count: int) -> bytes:
        self._at += count
        return self._blob[self._at - count : self._at]

    def number(self, code: str) -> Any:
        return struct.unpack(code, self.take(struct.calcsize(code)))[0]

    def text(self) -> str:
        return self.take(self.number("<B")).decode()

    def entry(self) -> tuple[str, Value]:
        name, kind = self.text(), self.take(1)
        if kind == b"a":
            return name, self.array()
        if kind in b"sb":
            data = self.take(self.number("<I"))
            return name, data.decode() if kind == b"s" else data
        return name, self.number("<d" if kind == b"f" else "<q")

    def array(self) -> NDArray[Any]:
        dtype = np.dtype("<" + _DTYPES[self.number("<B")])
        shape = tuple(self.number("<I") for _ in range(self.number("<B")))
        count = int(np.prod(shape, dtype=np.int64))
        return np.frombuffer(self.take(count * dtype.itemsize), dtype).reshape(shape).copy()
