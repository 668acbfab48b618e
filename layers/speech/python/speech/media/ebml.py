"""EBML's variable-length numbers and typed values (RFC 8794), read from bytes at hand."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from speech.errors import BadMedia
from speech.media import ids

UNKNOWN = -1  # the size of a master element whose end is told by what follows
Data = bytes | bytearray | memoryview


def id_at(data: Data, at: int) -> tuple[int, int] | None:
    """(ID, its length 1 to 4) at `at`; None when more bytes are needed; BadMedia when no ID starts so."""
    if at >= len(data):
        return None
    first = data[at]
    length = 9 - first.bit_length()
    if length > 4:
        raise BadMedia(f"byte 0x{first:02X} where an element's ID was expected; IDs begin with 0x10 to 0xFF")
    if at + length > len(data):
        return None
    return int.from_bytes(data[at : at + length], "big"), length


def size_at(data: Data, at: int) -> tuple[int, int] | None:
    """(value, its length 1 to 8) of a size at `at`, UNKNOWN when all its bits are set; None: more bytes are needed."""
    if at >= len(data):
        return None
    length = 9 - data[at].bit_length()
    if length > 8:
        raise BadMedia("byte 0x00 where an element's size was expected; sizes have at most 8 bytes")
    if at + length > len(data):
        return None
    bits = (1 << 7 * length) - 1
    value = int.from_bytes(data[at : at + length], "big") & bits
    return (UNKNOWN if value == bits else value), length


def children(data: Data, parent: int) -> Iterator[tuple[int, memoryview]]:
    """(ID, content) of each element in the content of `parent`; BadMedia when one reaches beyond its end.

    Void and CRC-32 are left out: the checksum says nothing that the transport below has not checked already.
    """
    view, at = memoryview(data), 0
    while at < len(view):
        found = id_at(view, at)
        sized = found and size_at(view, at + found[1])
        if not found or not sized:
            raise BadMedia(f"{ids.name(parent)} ends inside the head of an element, with {len(view) - at} bytes left")
        (element, id_length), (size, size_length) = found, sized
        at += id_length + size_length
        if size == UNKNOWN or at + size > len(view):
            claims = "a size that is unknown" if size == UNKNOWN else f"{size} bytes"
            raise BadMedia(f"{ids.name(element)} claims {claims}, {ids.name(parent)} holds {len(view) - at} more")
        if element not in (ids.VOID, ids.CRC_32):
            yield element, view[at : at + size]
        at += size


def uint(element: int, data: Data) -> int:
    """An unsigned number of up to 8 bytes; no bytes mean 0."""
    if len(data) > 8:
        raise BadMedia(f"{ids.name(element)} is a number of {len(data)} bytes, expected at most 8")
    return int.from_bytes(data, "big")


def real(element: int, data: Data) -> float:
    """A floating-point number of 0, 4 or 8 bytes."""
    if len(data) not in (0, 4, 8):
        raise BadMedia(f"{ids.name(element)} is a floating-point number of {len(data)} bytes, expected 0, 4 or 8")
    return float(struct.unpack(">f" if len(data) == 4 else ">d", data)[0]) if data else 0.0


def text(data: Data) -> str:
    """A string, up to its first NUL (GStreamer appends one to CodecID); bytes that are no UTF-8 become U+FFFD."""
    return bytes(data).partition(b"\0")[0].decode("utf-8", "replace")
