"""Coverage-guided fuzzing of the parsers of media streams and acknowledgements with atheris, for a bounded time.

    .venv/bin/pip install atheris==3.0.0
    .venv/bin/python -m tests.fuzz.media -max_total_time=60

Ends with an error on any exception but BadMedia of the acknowledgements, and when two cuts of one input differ.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["speech.media"]):
    from speech.errors import BadMedia
    from speech.media.acks import AckParser
    from speech.media.kvs import CallReader
    from speech.media.parser import Parser

from tests.unit.media import mkv


def one_input(data: bytes) -> None:
    """One input: whole and in pieces; as a call; as acknowledgements."""
    size = 1 + (data[-1] if data else 0)
    whole, pieces = Parser(), Parser()
    events = whole.receive(data) + whole.finish()
    parts = [event for at in range(0, len(data), size) for event in pieces.receive(data[at : at + size])]
    if parts + pieces.finish() != events:
        raise AssertionError(f"pieces of {size} bytes give other events")
    reader = CallReader(contact_id="c", reorder=2)
    reader.receive(data)
    reader.finish()
    with suppress(BadMedia):
        AckParser().receive(data)


def main() -> None:
    """Begin with streams that are right, and change them."""
    users = {"ContactId": "c", "MimeType": "audio/L16;rate=8000;channels=1;"}
    seeds = [
        b"".join(mkv.document(n, 1000 * n, [mkv.block(b"ab" * 8, 64 * m) for m in range(3)], users) for n in range(3)),
        mkv.ebml() + mkv.open_el(mkv.SEGMENT) + mkv.tracks() + mkv.cluster(0, mkv.block(b"\2\1\1abc", flags=0x82)),
        b'{"EventType":"ERROR","FragmentTimecode":0,"FragmentNumber":"1","ErrorId":4000}\n',
    ]
    with tempfile.TemporaryDirectory() as folder:
        for index, seed in enumerate(seeds):
            (Path(folder) / str(index)).write_bytes(seed)
        atheris.Setup([*sys.argv, "-max_len=4096", folder], one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
