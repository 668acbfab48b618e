"""Pages of an Ogg file (RFC 3533): where its chained streams start, and whether the last one was finished."""

from __future__ import annotations

from collections.abc import Iterator
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


def pages(file: Window) -> Iterator[Page]:
    """The pages in order, up to the first place where none follows."""
    offset = 0
    while page := parse_page(file.at(offset, 282), offset):
        yield page
        offset += page.length


def links(file: Window) -> list[int]:
    """Offsets at which chained physical streams start: one stream, or several put one behind the other.

    libsndfile plays the first link only, so each is decoded as a file of its own.
    """
    first, last = parse_page(file.at(0, 282), 0), last_page(file)
    if not first or not last or first.serial == last.serial:
        return [0]
    starts, in_headers = [0], True
    for page in pages(file):
        if page.first and not in_headers:
            starts.append(page.offset)
        in_headers = page.first
    return starts
