"""Pages of an Ogg file (RFC 3533): where its chained streams start, and whether the last one was finished."""

from __future__ import annotations

from dataclasses import dataclass

from speech.audio.window import Window

LONGEST_PAGE = 27 + 255 + 255 * 255  # bytes


@dataclass(frozen=True, slots=True)
class Page:
    """One page header."""

    offset: int  # bytes from the file's start
    length: int  # bytes, header included
    first: bool  # begins a logical stream
    last: bool  # ends one
    serial: int


def parse_page(data: bytes, offset: int) -> Page | None:
    """The page that `data` starts with (its first 282 bytes suffice); None if it does not start with one."""
    if len(data) < 27 or data[:5] != b"OggS\0" or len(data) < 27 + data[26]:
        return None
    length = 27 + data[26] + sum(data[27 : 27 + data[26]])
    return Page(offset, length, bool(data[5] & 2), bool(data[5] & 4), int.from_bytes(data[14:18], "little"))


def last_page(file: Window) -> Page | None:
    """The last complete page header."""
    start = max(0, len(file) - LONGEST_PAGE)
    tail = file.at(start, LONGEST_PAGE)
    at = tail.rfind(b"OggS")
    while at >= 0:
        if page := parse_page(tail[at : at + 282], start + at):
            return page
        at = tail.rfind(b"OggS", 0, at)
    return None


class Links:
    """Finds where chained physical streams start: one Ogg stream put behind another.

    libsndfile plays the first only, so each is decoded as a file of its own. The walk from page to page keeps pace
    with the decoder, while the blocks it has read are still at hand.
    """

    def __init__(self, file: Window) -> None:
        self._file, self._offset, self._in_headers = file, 0, True

    def walk(self, to: int) -> int:
        """Go on to the byte `to`; the offset of a stream that starts before it, or -1."""
        while self._offset < to and (page := parse_page(self._file.at(self._offset, 282), self._offset)):
            if page.first and not self._in_headers:
                self._in_headers = True
                return page.offset
            self._in_headers = page.first
            self._offset += page.length
        return -1
