"""Cuts a media stream into its elements as the bytes arrive, and finds its way again after damage.

Segments and clusters are only noted, as their end may be unknown; the elements in them are handed over whole.
A broken head (no ID, no size, a size beyond a limit or its parent) loses the place, and so does an element that has
the head of a document or cluster inside it: its size was damaged, and waiting for its end would swallow them.
The reader then looks for the next EBML header or, within a document whose tracks are known, the next cluster, and
says what it skipped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

from speech.errors import BadMedia
from speech.media import ebml, ids
from speech.media.limits import Limits

_MARKS = re.compile(re.escape(ids.EBML.to_bytes(4, "big")) + b"|" + re.escape(ids.CLUSTER.to_bytes(4, "big")))
# A size, and the child that such heads begin with: 14 bytes at most.
_SIZE = rb"(?:[\x80-\xff]|[\x40-\x7f].|[\x20-\x3f].{2}|[\x10-\x1f].{3}|[\x08-\x0f].{4}|\x01.{7})"
_HEAD = re.compile(
    rb"\x1a\x45\xdf\xa3" + _SIZE + rb"\x42[\x82\x85-\x87\xf2\xf3\xf7]|\x1f\x43\xb6\x75" + _SIZE + rb"\xe7[\x80-\x88]",
    re.DOTALL,
)
_HELD = {
    ids.EBML: "header_bytes",
    ids.SIMPLE_BLOCK: "block_bytes",
    ids.BLOCK_GROUP: "block_bytes",
    ids.TIMECODE: "header_bytes",
    ids.INFO: "element_bytes",
    ids.TRACKS: "element_bytes",
    ids.TAGS: "element_bytes",
}


class Level(IntEnum):
    """Inside of what the next element lies."""

    TOP, SEGMENT, CLUSTER = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Element:
    """One element: `data` is its content, empty for Segment and Cluster, whose content follows as elements."""

    id: int
    offset: int  # of its head, in bytes from the start of the stream
    data: bytes


@dataclass(frozen=True, slots=True)
class Lost:
    """Bytes that belong to no element."""

    offset: int
    skipped: int
    reason: str


_IGNORED = Element(ids.VOID, 0, b"")  # stands for an element that nobody is interested in


class ElementReader:
    """Bytes in by `feed`, elements out by `next`."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._buffer = bytearray()
        self._base = 0  # offset of the buffer's first byte in the stream
        self._at = 0  # where in the buffer to go on
        self._level = Level.TOP
        self._ends: dict[Level, int] = {}  # offsets where a Segment and a Cluster of known size end
        self._scanned = 0  # offset up to which the element that is awaited has no head inside it
        self._tracks_known = False
        self._lost: tuple[int, str] | None = None  # since which offset, why

    @property
    def position(self) -> int:
        """Offset in the stream up to which everything is understood or given up."""
        return self._base + self._at

    @property
    def lost_bytes(self) -> int:
        """How far the running search has come for a place to go on; 0 when nothing is damaged."""
        return self.position - self._lost[0] if self._lost else 0

    @property
    def in_cluster(self) -> bool:
        """Whether more blocks may follow in the cluster that was opened last."""
        return self._level == Level.CLUSTER and self._ends.get(Level.CLUSTER) != self.position

    def feed(self, data: bytes | bytearray | memoryview) -> None:
        """Append bytes of the stream, of any length."""
        del self._buffer[: self._at]
        self._base, self._at = self._base + self._at, 0
        self._buffer += data

    def next(self) -> Element | Lost | None:
        """The next element; None when more bytes are needed."""
        while True:
            if self._lost:
                return self._resynchronise(*self._lost)
            try:
                found = self._element()
            except BadMedia as error:
                self._lost = (self.position, str(error))
                self._at += 1
                continue
            if found is not _IGNORED:
                return found

    def rest(self) -> Lost | None:
        """What is left over when the input has ended."""
        if self._lost:
            offset, reason = self._lost
            return Lost(offset, self._base + len(self._buffer) - offset, reason)
        if left := len(self._buffer) - self._at:
            return Lost(self.position, left, f"the input ends inside an element, of which {left} bytes are there")
        return None

    def _element(self) -> Element | Lost | None:
        """The next element, or None when its bytes are not all there."""
        self._close_ended()
        head = ebml.id_at(self._buffer, self._at)
        sized = head and ebml.size_at(self._buffer, self._at + head[1])
        if not head or not sized:
            return None
        (element, id_length), (size, size_length) = head, sized
        if early := self._climb(element):
            return early
        content = self._at + id_length + size_length
        if element in (ids.SEGMENT, ids.CLUSTER):
            return self._open(element, content, size)
        self._check(element, self._base + content, size)
        self._look_inside(element, content, size)
        if content + size > len(self._buffer):
            return None
        return self._take(element, content, size)

    def _take(self, element: int, content: int, size: int) -> Element:
        found = _IGNORED
        if element in _HELD:
            found = Element(element, self.position, bytes(self._buffer[content : content + size]))
        self._at = content + size
        if element in (ids.EBML, ids.TRACKS):
            self._tracks_known = element == ids.TRACKS
        return found

    def _look_inside(self, element: int, content: int, size: int) -> None:
        """Refuse an element with a document or cluster inside it, as soon as that is there."""
        start = max(content, self._scanned - 13 - self._base)
        end = min(content + size, len(self._buffer))
        if found := _HEAD.search(self._buffer, start, end):
            inner = ids.name(int.from_bytes(found.group()[:4], "big"))
            raise BadMedia(f"{ids.name(element)} claims {size} bytes, but {found.start() - content} in, {inner} begins")
        self._scanned = self._base + end

    def _close_ended(self) -> None:
        """Leave a Cluster and a Segment of known size at their ends."""
        while self._ends.get(self._level) == self.position:
            del self._ends[self._level]
            self._level = Level(self._level - 1)

    def _climb(self, element: int) -> Lost | None:
        """Leave the levels that `element` cannot lie in; one of unknown size ends so, one of known size is damaged."""
        level = Level.TOP if element in ids.TOP else Level.SEGMENT if element in ids.IN_SEGMENT else self._level
        if level >= self._level:
            return None
        cut = [lost for at in (Level.SEGMENT, Level.CLUSTER) if at > level and (lost := self._ends.pop(at, None))]
        self._level = level
        if not cut:
            return None
        early = f"{ids.name(element)} begins {max(cut) - self.position} bytes before the end that its parent stated"
        return Lost(self.position, 0, early)

    def _open(self, element: int, content: int, size: int) -> Element:
        """Enter a Segment or Cluster."""
        inside = Level.SEGMENT if element == ids.SEGMENT else Level.CLUSTER
        if self._level != inside - 1:
            raise BadMedia(f"{ids.name(element)} outside a {'Segment' if inside == Level.CLUSTER else 'document'}")
        if size != ebml.UNKNOWN:
            self._check_parent(element, self._base + content, size)
            self._ends[inside] = self._base + content + size
        found = Element(element, self.position, b"")
        self._level, self._at = inside, content
        return found

    def _check(self, element: int, content: int, size: int) -> None:
        """Refuse what cannot be right where we are: content at offset `content`, of `size` bytes."""
        if self._level == Level.TOP and element not in (ids.EBML, ids.VOID, ids.CRC_32):
            raise BadMedia(f"{ids.name(element)} where an EBML header or a Segment was expected")
        if self._level == Level.SEGMENT and element in ids.ONLY_IN_CLUSTER:
            raise BadMedia(f"{ids.name(element)} outside a Cluster")
        if size == ebml.UNKNOWN:
            raise BadMedia(f"{ids.name(element)} of unknown size; only Segment and Cluster may have that")
        limit = int(getattr(self._limits, _HELD.get(element, "element_bytes")))
        if size > limit:
            raise BadMedia(f"{ids.name(element)} of {size} bytes, at most {limit} are allowed")
        self._check_parent(element, content, size)

    def _check_parent(self, element: int, content: int, size: int) -> None:
        end = self._ends.get(self._level, self._ends.get(Level.SEGMENT))
        if end is not None and (over := content + size - end) > 0:
            raise BadMedia(f"{ids.name(element)} of {size} bytes reaches {over} bytes beyond its parent's end")

    def _resynchronise(self, offset: int, reason: str) -> Lost | None:
        """Look for a place to go on since the damage at `offset`; None when it is not in the bytes at hand."""
        while found := _MARKS.search(self._buffer, self._at):
            self._at = found.start()
            verdict = self._plausible(self._at)
            if verdict is None:
                return None
            if verdict:
                self._go_on_at(int.from_bytes(found.group(), "big"))
                return Lost(offset, self.position - offset, reason)
            self._at += 1
        self._at = max(self._at, len(self._buffer) - 3)
        return None

    def _go_on_at(self, element: int) -> None:
        """Leave what was damaged: an EBML header stands alone, a Cluster in a Segment."""
        self._lost = None
        self._ends.pop(Level.CLUSTER, None)
        if element == ids.EBML or self._ends.get(Level.SEGMENT, self.position + 1) <= self.position:
            self._ends.clear()
        self._level = Level.TOP if element == ids.EBML else Level.SEGMENT

    def _plausible(self, at: int) -> bool | None:
        """Whether an EBML header or Cluster at `at` goes on like one; None when more bytes must come first."""
        is_header = self._buffer[at : at + 4] == ids.EBML.to_bytes(4, "big")
        if not is_header and not self._tracks_known:
            return False
        try:
            sized = ebml.size_at(self._buffer, at + 4)
            first = sized and ebml.id_at(self._buffer, at + 4 + sized[1])
        except BadMedia:
            return False
        if not sized or not first:
            return None
        if is_header and not 0 < sized[0] <= self._limits.header_bytes:
            return False
        return first[0] in (ids.FIRST_IN_EBML if is_header else ids.FIRST_IN_CLUSTER)
