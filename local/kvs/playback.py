"""GetMedia and GetMediaForFragmentList: fragments as the bytes that a consumer gets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Any

from botocore.utils import parse_timestamp
from speech.media.documents import FragmentWriter, error_document, exception_document

from local.kvs.fragments import DIGITS, Fragment, Fragments
from local.kvs.refusals import Refused

NOT_FOUND, DELETED = 4000, 4507


_NEEDS = {
    "NOW": "",
    "EARLIEST": "",
    "FRAGMENT_NUMBER": "AfterFragmentNumber",
    "CONTINUATION_TOKEN": "ContinuationToken",
    "PRODUCER_TIMESTAMP": "StartTimestamp",
    "SERVER_TIMESTAMP": "StartTimestamp",
}


class NotThere(Exception):
    """The fragment that a start selector names is not kept."""


async def play(fragments: Fragments, selector: dict[str, Any]) -> AsyncGenerator[bytes, None]:
    """The fragments from where `selector` (a StartSelector) points, for ever; blocks as soon as they are there."""
    try:
        find = Start(fragments, selector)
    except NotThere:
        yield error_document("FRAGMENT_NOT_FOUND", NOT_FOUND)
        return
    number: str | None = None
    while not fragments.deleted:
        change = fragments.change()
        fragment = find() if number is None else fragments.after(number)
        if fragment is None:
            await change
            continue
        number = fragment.number
        async for data in document(fragments, fragment):
            yield data
    yield error_document("STREAM_DELETED", DELETED)


async def document(fragments: Fragments, fragment: Fragment) -> AsyncIterator[bytes]:
    """One fragment, while it still arrives."""
    writer = FragmentWriter(fragment.tracks, fragment.info())
    yield writer.start() + writer.cluster(fragment.timecode_ms)
    sent = 0
    while True:
        change = fragments.change()
        if blocks := fragment.blocks[sent:]:
            sent += len(blocks)
            yield b"".join(writer.block(block, fragment.timecode_ms) for block in blocks)
        elif fragment.state != "open":
            break
        elif fragments.deleted:
            return
        else:
            await change
    if fragment.state == "whole":
        told = fragment.info(fragments.behind_ms(fragment))
        yield FragmentWriter(fragment.tracks, told).end(fragment.tags)


class Start:
    """Called until it gives the fragment to begin with: most selectors may point at one that is still to come."""

    def __init__(self, fragments: Fragments, selector: dict[str, Any]) -> None:
        """For a selector that `check` has passed; `NotThere` when it goes on behind a fragment that is not kept."""
        self._fragments = fragments
        self._kind: str = selector["StartSelectorType"]
        value = selector.get(_NEEDS[self._kind])
        self._after, self._timestamp_s = "", 0.0
        newest = fragments.latest()
        if self._kind == "NOW" and newest:
            # The fragment that arrives now, or the next one.
            self._after = fragments.before(newest) if newest.state == "open" else newest.number
        elif self._kind in ("FRAGMENT_NUMBER", "CONTINUATION_TOKEN"):
            self._after = str(value)
            if not fragments.find(self._after):
                raise NotThere(self._after)
        elif self._kind in ("PRODUCER_TIMESTAMP", "SERVER_TIMESTAMP"):
            self._timestamp_s = parse_timestamp(value).timestamp()

    def __call__(self) -> Fragment | None:
        """The first fragment, or None while it is still to come."""
        if self._kind == "PRODUCER_TIMESTAMP":
            return self._fragments.containing(self._timestamp_s, "producer")
        if self._kind == "SERVER_TIMESTAMP":
            return self._fragments.containing(self._timestamp_s, "server")
        return self._fragments.after(self._after)


def check(selector: dict[str, Any]) -> None:
    """`Refused` for a StartSelector that lacks something or cannot be understood."""
    kind = selector["StartSelectorType"]
    if kind not in _NEEDS:
        raise Refused("InvalidArgumentException", f"StartSelectorType {kind!r}, expected one of {', '.join(_NEEDS)}")
    name = _NEEDS[kind]
    if name and name not in selector:
        raise Refused("InvalidArgumentException", f"StartSelectorType {kind} needs {name}")
    value = str(selector.get(name))
    if name in ("AfterFragmentNumber", "ContinuationToken") and not (value.isdecimal() and len(value) <= DIGITS):
        raise Refused("InvalidArgumentException", f"{name} is {value[:60]!r}, expected a fragment's number")


async def until(media: AsyncGenerator[bytes, None], seconds: float) -> AsyncIterator[bytes]:
    """What `media` gives within so many seconds; ends in the middle of anything."""
    ends = asyncio.get_running_loop().time() + seconds
    try:
        while True:
            async with asyncio.timeout_at(ends):
                data = await anext(media)
            yield data
    except (TimeoutError, StopAsyncIteration):
        return
    finally:
        await media.aclose()


def archived(fragments: Fragments, numbers: list[str]) -> Iterator[bytes]:
    """Whole fragments by number, in the order asked for; an exception in tags for one that is not kept."""
    for number in numbers:
        if found := fragments.find(number):
            writer = FragmentWriter(found.tracks, found.info(), archived=True)
            yield writer.whole(found.blocks, found.timecode_ms, found.tags)
        else:
            yield exception_document(number, NOT_FOUND, f"fragment {number} is not kept")
