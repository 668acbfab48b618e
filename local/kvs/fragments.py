"""The fragments of one stream, in memory: those that are whole, and the one that is still arriving."""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from speech.media.events import Block, FragmentInfo, Track

from local.kvs.settings import Settings

DIGITS = 47  # of a fragment number
_EPOCH = 91343852333181 * 10**33  # the service's numbers begin so


@dataclass(slots=True)
class Fragment:
    """One fragment; grows while it is `open`. An `aborted` one was cut off or refused, and is not kept."""

    number: str
    server_s: float  # seconds since 1970
    producer_s: float  # seconds since 1970
    timecode_ms: int  # as the producer wrote it
    tracks: tuple[Track, ...]
    blocks: list[Block] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)
    size: int = 0  # bytes of its frames
    state: Literal["open", "whole", "aborted"] = "open"

    @property
    def duration_ms(self) -> int:
        """To the end of the last block, taking that for as long as the others of its track."""
        times = sorted({block.timecode_ms for block in self.blocks})
        if not times:
            return 0
        step = (times[-1] - times[0]) // (len(times) - 1) if len(times) > 1 else 0
        return times[-1] + step - self.timecode_ms

    def info(self, behind_ms: int | None = None) -> FragmentInfo:
        """What GetMedia says of it."""
        return FragmentInfo(self.number, self.server_s, self.producer_s, behind_ms, self.number)


class Fragments:
    """All that can be read of a stream. Lives in one event loop; `now` gives seconds since 1970."""

    def __init__(self, settings: Settings, now: Callable[[], float], retention_s: float) -> None:
        self._settings, self._now = settings, now
        self.retention_s = retention_s  # 0: none
        self._kept: list[Fragment] = []  # in the order of their numbers; the last one may be open
        self._bytes = 0
        self._last = 0  # number given last
        self._waiting: set[asyncio.Future[None]] = set()
        self.deleted = False

    def begin(self, timecode_ms: int, producer_s: float, tracks: tuple[Track, ...]) -> Fragment:
        """A fragment begins to arrive."""
        now_s = self._now()
        self._last = max(self._last + 1, _EPOCH + int(now_s * 1e6) * 10**17)
        fragment = Fragment(str(self._last).zfill(DIGITS), now_s, producer_s, timecode_ms, tracks)
        self._kept.append(fragment)
        self.touch()
        return fragment

    def end(self, fragment: Fragment, tags: dict[str, str], *, whole: bool) -> None:
        """It has arrived whole, or will not."""
        fragment.tags, fragment.state = tags, "whole" if whole else "aborted"
        if whole:
            self._bytes += fragment.size
        else:
            self._kept.remove(fragment)
        self._expire()
        self.touch()

    def touch(self) -> None:
        """Something has changed: those who wait look again."""
        waiting, self._waiting = self._waiting, set()
        for future in waiting:
            if not future.done():
                future.set_result(None)

    def change(self) -> asyncio.Future[None]:
        """Done at the next change after this call."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        return future

    def delete(self) -> None:
        """The stream is gone."""
        self.deleted = True
        self.touch()

    def kept(self) -> list[Fragment]:
        """Whole fragments within retention, oldest first."""
        self._expire()
        return [fragment for fragment in self._kept if fragment.state == "whole"]

    def find(self, number: str) -> Fragment | None:
        """The whole fragment of a number."""
        return next((fragment for fragment in self.kept() if fragment.number == number), None)

    def after(self, number: str) -> Fragment | None:
        """The fragment behind `number` ("" for the first), whole or still arriving; None: not there yet."""
        self._expire()
        at = bisect_right(self._kept, number, key=lambda fragment: fragment.number)
        return self._kept[at] if at < len(self._kept) else None

    def before(self, fragment: Fragment) -> str:
        """The number to start behind so that `fragment` is the first."""
        at = bisect_left(self._kept, fragment.number, key=lambda other: other.number)
        return self._kept[at - 1].number if at else ""

    def containing(self, timestamp_s: float, clock: Literal["producer", "server"]) -> Fragment | None:
        """The fragment that holds a moment of a clock, else the first one behind it; None: still to come."""
        self._expire()
        times = [fragment.producer_s if clock == "producer" else fragment.server_s for fragment in self._kept]
        for fragment, start_s in zip(self._kept, times, strict=True):
            if start_s + fragment.duration_ms / 1000 > timestamp_s or start_s >= timestamp_s:
                return fragment
        return None

    def latest(self) -> Fragment | None:
        """The newest one."""
        return self._kept[-1] if self._kept else None

    def behind_ms(self, fragment: Fragment) -> int:
        """How far a fragment is behind the newest."""
        newest = self.latest() or fragment
        return max(0, round(1000 * (newest.server_s - fragment.server_s)))

    def _expire(self) -> None:
        """Forget what is beyond retention, or beyond what we hold."""
        limits = self._settings
        keep_s = self.retention_s or limits.host_buffer_s
        most = limits.store_bytes if self.retention_s else limits.host_buffer_bytes
        oldest_s = self._now() - keep_s
        gone = 0
        for fragment in self._kept:
            if fragment.state == "open" or (fragment.server_s >= oldest_s and self._bytes <= most):
                break
            self._bytes -= fragment.size
            gone += 1
        del self._kept[:gone]
