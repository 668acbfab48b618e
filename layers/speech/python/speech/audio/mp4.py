"""Boxes of an MP4, M4A, MOV or 3GP file (ISO 14496-12): enough to say why one cannot be decoded before trying."""

from __future__ import annotations

from collections.abc import Iterator

from speech.audio.window import Window
from speech.errors import BadAudio

LARGEST_INDEX = 64 << 20  # bytes of `moov` looked through; hours of film stay below


def boxes(file: Window) -> Iterator[tuple[bytes, int, int]]:
    """(type, offset, size in bytes, header included) of the top-level boxes; size may reach beyond the file."""
    offset = 0
    while len(header := file.at(offset, 16)) >= 8:
        size = int.from_bytes(header[:4], "big")
        if size == 1:
            size = int.from_bytes(header[8:16], "big")
        elif size == 0:
            size = len(file) - offset
        if size < 8:
            return
        yield header[4:8], offset, size
        offset += size


def check(file: Window) -> None:
    """BadAudio for a file without its index, without a sound track, or with an encrypted one."""
    found = {kind: (offset, size) for kind, offset, size in boxes(file)}
    if b"moov" not in found:
        there = ", ".join(repr(kind.decode("latin-1")) for kind in found) or "nothing complete"
        raise BadAudio(f"MP4 without its index: found {there}, expected a 'moov' box; was the upload cut off?")
    offset, size = found[b"moov"]
    if offset + size > len(file):
        raise BadAudio(f"MP4 with a cut-off index: 'moov' has {size} bytes, {len(file) - offset} are there")
    index = file.at(offset, min(size, LARGEST_INDEX))
    for mark, scheme in ((b"drms", "Apple's FairPlay ('drms')"), (b"enca", "common encryption ('enca')")):
        if mark in index:
            raise BadAudio(f"MP4 with an encrypted sound track, {scheme}: expected one without protection")
    if b"soun" not in index:
        what = "a video but no sound track" if b"vide" in index else "no sound track"
        raise BadAudio(f"MP4 with {what}: there is nothing to transcribe")
