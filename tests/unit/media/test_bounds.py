"""Time and memory: twice the bytes take twice the work, and a stream may go on for ever, whatever is in it."""

from __future__ import annotations

import gc
import sys
import tracemalloc
import weakref
from types import FrameType
from typing import Any

import pytest
from speech.media.kvs import CallReader
from speech.media.parser import Parser

from tests.unit.media import mkv
from tests.unit.media.mkv import block
from tests.unit.media.test_damage import STREAM
from tests.unit.media.test_parser import in_document


def calls(data: bytes, piece: int) -> int:
    """How many calls of Python and C functions it takes to read `data` in pieces."""
    count = 0

    def profile(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    parser = Parser()
    sys.setprofile(profile)
    try:
        for at in range(0, len(data), piece):
            parser.receive(data[at : at + piece])
        parser.finish()
    finally:
        sys.setprofile(None)
    return count


MARK = bytes.fromhex("1a45dfa3")
HOSTILE = {
    "documents": lambda n: STREAM[: len(STREAM) // 4] * n,
    "a large block": lambda n: in_document(mkv.cluster(0, block(b"a" * 1000 * n))),
    "one long skip": lambda n: in_document(mkv.el("ec", b"a" * 1000 * n)),
    "nothing to be found": lambda n: b"\0" * 1000 * n,
    "marks that are none": lambda n: b"\0" + MARK * 100 * n,
    "marks that nearly are": lambda n: b"\0" + (MARK + b"\x90\x42\x86") * 100 * n,
    "clusters without tracks": lambda n: b"\0" + mkv.cluster(0) * 50 * n,
    "empty elements": lambda n: in_document(b"\xec\x80" * 300 * n),
    "empty clusters": lambda n: in_document(mkv.cluster(0) * 50 * n),
    "many tags": lambda n: in_document(mkv.tags({str(i): "" for i in range(20 * n)})),
    "nested tags": lambda n: in_document(mkv.el("1254c367", mkv.el("7373", nest(30 * n)))),
}


def nest(depth: int) -> bytes:
    tag = b""
    for _ in range(depth):
        tag = mkv.el("67c8", tag)
    return tag


@pytest.mark.parametrize("piece", [7, 1 << 20])
@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_twice_the_bytes_take_twice_the_work(name: str, piece: int) -> None:
    make = HOSTILE[name]
    once, twice = calls(make(3), piece), calls(make(6), piece)
    assert twice < 2.3 * once + 200


@pytest.mark.parametrize(
    "piece",
    [b"\0" * 65536, MARK * 1024, b"\xec\x80" * 512, STREAM * 4, mkv.cluster(0) * 300, mkv.tracks(mkv.track(1)) * 50],
    ids=["zeros", "marks", "empty", "documents", "clusters", "tracks"],
)
def test_memory_does_not_grow_with_the_stream(piece: bytes) -> None:
    parser, reader = Parser(), CallReader(contact_id="another", reorder=3)
    parser.receive(in_document())
    tracemalloc.start()
    try:
        for index in range(12):
            parser.receive(piece)
            reader.receive(piece)
            if index == 5:
                early = tracemalloc.get_traced_memory()[0]
        late = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert late - early < 100_000
    assert late < 2_000_000


def test_a_reader_that_is_dropped_is_gone_at_once() -> None:
    """Each connection has a parser of its own, with its bytes: they must not wait for a collection of garbage."""
    reader = CallReader()
    reader.receive(STREAM)
    gone = weakref.ref(reader._parser)
    gc.disable()
    try:
        reader.finish()
        assert gone() is None
    finally:
        gc.enable()
