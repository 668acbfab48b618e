"""Incremental parser of Matroska as Kinesis Video Streams sends it: push bytes in, get tracks, blocks and tags out.

    parser = Parser()
    for event in parser.receive(data): ...   # data cut anywhere: the events are the same
    for event in parser.finish(): ...        # at the end of the stream: the last fragment

Memory is bounded by `Limits`, time grows with the number of bytes, and a block is out as soon as its last byte is in.
Whatever the bytes, nothing is raised: what cannot be understood becomes a `Damage` event, and reading goes on.
"""

from __future__ import annotations

from collections.abc import Callable

from speech.errors import BadMedia
from speech.media import blocks, ebml, header, ids
from speech.media import tags as names
from speech.media.events import Block, Damage, DocumentStart, Event, Tags
from speech.media.fragments import Fragments
from speech.media.limits import Limits
from speech.media.reader import Element, ElementReader, Lost


class Parser:
    """One stream of documents."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._reader = ElementReader(self._limits)
        self._fragments = Fragments(self._limits)
        self._block_ns: dict[int, int] = {}  # DefaultDuration of each track
        self._scale_ns = header.TIMECODE_SCALE_NS
        self._cluster_time: int | None = None  # Timecode of the cluster, in units of the scale
        self._events: list[Event] = []
        self._finished = False

    @property
    def lost_bytes(self) -> int:
        """How many bytes the running search after damage has skipped so far; 0 when all is well."""
        return self._reader.lost_bytes

    def receive(self, data: bytes | bytearray | memoryview) -> list[Event]:
        """Events that are complete with these further bytes."""
        if self._finished:
            raise BadMedia("bytes after the end of the stream: finish() was called before")
        self._reader.feed(data)
        while (found := self._reader.next()) is not None:
            self._take(found)
        return self._given()

    def finish(self) -> list[Event]:
        """The stream has ended: what was lost at its end, and the end of the last fragment."""
        if not self._finished:
            self._finished = True
            open_cluster = self._reader.in_cluster
            if rest := self._reader.rest():
                self._damage(rest)
            self._events += self._fragments.end(not open_cluster)
        return self._given()

    def _given(self) -> list[Event]:
        given, self._events = self._events, []
        return given

    def _take(self, found: Element | Lost) -> None:
        if isinstance(found, Lost):
            self._damage(found)
            if found.skipped:
                # What comes next may be of any fragment: a cluster must not get the number of an earlier one.
                self._events += self._fragments.end(False)
            return
        try:
            _HANDLERS[found.id](self, found)
        except BadMedia as error:
            # The element's end is known, so no other one is lost.
            self._damage(Lost(found.offset, self._reader.position - found.offset, str(error)))

    def _damage(self, lost: Lost) -> None:
        self._fragments.sound = False
        self._events.append(Damage(lost.offset, lost.skipped, lost.reason))

    def _document(self, element: Element) -> None:
        self._events += self._fragments.end(True)
        self._segment(element)
        self._events.append(DocumentStart(element.offset, header.parse_header(element.data)))

    def _segment(self, element: Element) -> None:
        if element.id == ids.SEGMENT:
            self._events += self._fragments.end(True)
        self._scale_ns, self._cluster_time = header.TIMECODE_SCALE_NS, None
        self._block_ns = {}

    def _info(self, element: Element) -> None:
        self._scale_ns = header.parse_scale(element.data)

    def _tracks(self, element: Element) -> None:
        for track in header.parse_tracks(element.data, self._limits):
            if track.number not in self._block_ns and len(self._block_ns) >= self._limits.tracks:
                raise BadMedia(f"a document with more than {self._limits.tracks} tracks")
            self._block_ns[track.number] = track.block_ns
            self._events.append(track)

    def _tags(self, element: Element) -> None:
        values: dict[str, str] = {}
        try:
            names.parse_tags(element.data, self._limits, values)
        finally:
            if values:
                self._tagged(values)

    def _tagged(self, values: dict[str, str]) -> None:
        number = self._fragments.number
        before, behind = self._fragments.tags(values)
        error = names.service_error(values, number)
        self._events += [*before, Tags(values), *([error] if error else []), *behind]

    def _cluster(self, element: Element) -> None:
        self._events += self._fragments.cluster()
        self._cluster_time = None

    def _timecode(self, element: Element) -> None:
        time = ebml.uint(element.id, element.data)
        self._events += self._fragments.timecode(self._milliseconds(time))
        self._cluster_time = time

    def _simple_block(self, element: Element) -> None:
        found = blocks.parse_block(element.data)
        self._block(found, found.keyframe)

    def _block_group(self, element: Element) -> None:
        self._block(*blocks.parse_group(element.data))

    def _block(self, found: blocks.Frames, keyframe: bool) -> None:
        if self._cluster_time is None:
            raise BadMedia(f"a block of track {found.track} before its Cluster's Timecode")
        time = self._cluster_time + found.relative
        step_ns = self._block_ns.get(found.track, 0)
        for lace, data in enumerate(found.frames):
            milliseconds = self._milliseconds(time, lace * step_ns)
            self._events.append(Block(found.track, milliseconds, data, keyframe, lace))
        self._fragments.block(len(found.frames))

    def _milliseconds(self, time: int, more_ns: int = 0) -> int:
        """Whole milliseconds of a timecode in units of the scale and some nanoseconds, half rounded up."""
        return (time * self._scale_ns + more_ns + 500_000) // 1_000_000


# Not bound to a parser: one that held its own methods would be kept, with its bytes, until a collection of garbage.
_HANDLERS: dict[int, Callable[[Parser, Element], None]] = {
    ids.SIMPLE_BLOCK: Parser._simple_block,
    ids.BLOCK_GROUP: Parser._block_group,
    ids.TIMECODE: Parser._timecode,
    ids.CLUSTER: Parser._cluster,
    ids.TAGS: Parser._tags,
    ids.EBML: Parser._document,
    ids.SEGMENT: Parser._segment,
    ids.INFO: Parser._info,
    ids.TRACKS: Parser._tracks,
}
