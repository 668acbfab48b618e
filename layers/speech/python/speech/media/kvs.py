"""A call out of Kinesis Video Streams: audio by track, each block once and in order, over any number of connections.

    reader = CallReader(contact_id="...", after=position)
    for event in reader.receive(data): ...   # bytes of GetMedia as they come
    for event in reader.finish(): ...        # this connection is over; reader.position says where the next one starts

A block goes out as soon as it is in. Only a fragment that starts behind a gap may have to wait: for the fragments
that are missing (at most `reorder` of them), or for its ContactId, which comes behind its blocks and may be another's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from speech.media.call_events import Audio, CallEvent, ContactChanged, Dropped, FragmentDone, Position
from speech.media.events import (
    Block,
    Damage,
    Event,
    FragmentEnd,
    FragmentInfo,
    FragmentStart,
    ServiceError,
    Tags,
    Track,
)
from speech.media.limits import Limits
from speech.media.parser import Parser
from speech.media.timeline import Timeline
from speech.media.voices import Voices

CONTACT = "ContactId"
MIME_TYPE = "MimeType"
OLD = "heard before"
OTHER_CALL = "another call's"


@dataclass(slots=True)
class _Fragment:
    """A fragment on its way."""

    info: FragmentInfo
    start_ms: int
    shift_ms: int  # from timecodes to the producer's clock
    floor: Mapping[int, int]
    waits: bool = False
    refused: str = ""  # why none of it is given out
    blocks: list[Block] = field(default_factory=list)  # while it waits
    held_bytes: int = 0
    dropped: int = 0
    contact: str | None = None
    end: FragmentEnd | None = None


class CallReader:
    """One call; one reader for all its connections, or a new one from a saved position."""

    def __init__(
        self,
        *,
        contact_id: str | None = None,  # of Amazon Connect; None: that of the first fragment that has one
        after: Position | None = None,
        mime_type: str = "",  # where it is known from elsewhere, as by Chime's events
        gap_ms: int = 500,  # a longer pause between fragments is a gap
        rewind_ms: int = 60_000,  # a producer's clock that goes back further was set back
        reorder: int = 0,  # fragments that may wait for one that is missing: 0 for GetMedia, whose order is kept
        held_bytes: int = 8 << 20,  # of blocks that wait
        limits: Limits | None = None,
    ) -> None:
        self._limits = limits or Limits()
        self._parser = Parser(self._limits)
        self._timeline = Timeline(after or Position(), gap_ms, rewind_ms)
        self._voices = Voices(mime_type, self._limits.tracks)
        self._contact, self._confirmed = contact_id, False
        self._reorder, self._held_bytes = reorder, held_bytes
        self._ahead: str | None = None  # a contact that was told before its fragment began
        self._current: _Fragment | None = None
        self._held: list[_Fragment] = []
        self._out: list[CallEvent] = []
        self.ended = False  # the stream carries another call now

    @property
    def position(self) -> Position:
        """Where another connection has to go on."""
        return self._timeline.position

    def receive(self, data: bytes | bytearray | memoryview) -> list[CallEvent]:
        """Events that are complete with these further bytes; none once the call has ended."""
        if not self.ended:
            self._take(self._parser.receive(data))
        return self._given()

    def finish(self) -> list[CallEvent]:
        """The connection is over: the last fragment and all that waited; a new connection may follow."""
        self._take(self._parser.finish())
        self._release(0)
        self._parser, self._ahead = Parser(self._limits), None
        return self._given()

    def _given(self) -> list[CallEvent]:
        given, self._out = self._out, []
        return given

    def _take(self, events: list[Event]) -> None:
        for event in events:
            if self.ended:
                return
            match event:
                case Block():
                    self._block(event)
                case FragmentStart():
                    self._start(event)
                case FragmentEnd():
                    self._end(event)
                case Tags(values):
                    self._tags(values)
                case Track():
                    self._voices.declare(event)
                case ServiceError() | Damage():
                    self._out.append(event)

    def _start(self, event: FragmentStart) -> None:
        info, timeline = event.info, self._timeline
        if info.producer_timestamp is not None and event.timecode_ms is not None:
            timeline.shift_ms = round(info.producer_timestamp * 1000) - event.timecode_ms
        # Without a cluster nothing says when it was; it must not overtake those that wait.
        start = self._held[-1].start_ms if self._held else 0
        if event.timecode_ms is not None:
            start = event.timecode_ms + timeline.shift_ms
        fragment = _Fragment(info, start, timeline.shift_ms, timeline.floor(start))
        if timeline.is_old(info.number):
            fragment.refused = OLD
        elif event.timecode_ms is None:
            fragment.waits = bool(self._held)
        else:
            unsure = self._contact is not None and not (timeline.begun and timeline.follows(start))
            fragment.waits = unsure or (self._reorder > 0 and not self._follows(start))
        self._current = fragment
        if self._ahead is not None:
            self._contact_told(fragment, self._ahead)
            self._ahead = None

    def _follows(self, start_ms: int) -> bool:
        """Whether nothing is missing before a fragment; at the beginning, an earlier one may still come."""
        return self._timeline.follows(start_ms) and (self._timeline.begun or not self._reorder)

    def _block(self, block: Block) -> None:
        if not (fragment := self._current):
            return
        if not fragment.waits:
            self._give(fragment, block)
            return
        fragment.blocks.append(block)
        fragment.held_bytes += len(block.data)
        if fragment.held_bytes + sum(other.held_bytes for other in self._held) > self._held_bytes:
            self._release(0)
            self._unhold(fragment)

    def _tags(self, values: Mapping[str, str]) -> None:
        self._voices.mime(values.get(MIME_TYPE, ""))
        if CONTACT in values:
            if self._current:
                self._contact_told(self._current, values[CONTACT])
            else:
                self._ahead = values[CONTACT]

    def _contact_told(self, fragment: _Fragment, contact: str) -> None:
        """The contact of a fragment is known, before its blocks or behind them."""
        if not fragment.refused:
            fragment.contact = contact
            self._check(fragment)
            if fragment.waits and not (fragment.refused or self.ended or self._reorder):
                self._unhold(fragment)

    def _end(self, event: FragmentEnd) -> None:
        fragment, self._current = self._current, None
        if not fragment:
            return
        fragment.end = event
        fragment.info = event.info
        if fragment.waits and not fragment.refused:
            self._held.append(fragment)
        else:
            self._done(fragment)
        self._release(self._reorder)

    def _check(self, fragment: _Fragment) -> None:
        """Compare a fragment's contact with that of the call."""
        self._contact = self._contact or fragment.contact
        if fragment.contact == self._contact:
            self._confirmed = True
        elif self._confirmed or self._timeline.begun:
            self._release(0)
            self._out.append(ContactChanged(fragment.contact or "", fragment.info.number, fragment.start_ms))
            self.ended = True
        else:
            # The stream was opened a little before the call: this is the end of the one before.
            fragment.refused = OTHER_CALL
            fragment.dropped += len(fragment.blocks)
            fragment.blocks.clear()

    def _release(self, keep: int) -> None:
        """Give out what has waited long enough: it follows now, or more than `keep` fragments wait."""
        self._held.sort(key=lambda fragment: fragment.start_ms)
        while self._held and (len(self._held) > keep or self._follows(self._held[0].start_ms)):
            fragment = self._held.pop(0)
            fragment.refused = OLD if self._timeline.is_old(fragment.info.number) else ""
            self._unhold(fragment)
            self._done(fragment)

    def _unhold(self, fragment: _Fragment) -> None:
        """A fragment waits no longer."""
        fragment.waits, fragment.held_bytes = False, 0
        fragment.floor = self._timeline.floor(fragment.start_ms)
        blocks, fragment.blocks = fragment.blocks, []
        for block in blocks:
            self._give(fragment, block)

    def _give(self, fragment: _Fragment, block: Block) -> None:
        at_ms = block.timecode_ms + fragment.shift_ms
        if fragment.refused or at_ms <= fragment.floor.get(block.track, at_ms - 1):
            fragment.dropped += 1
            return
        news, duration_ms, audible = self._voices.hear(block)
        self._out += news
        if not audible:
            return
        if gap := self._timeline.hear(block.track, at_ms, duration_ms):
            self._out.append(gap)
        self._out.append(Audio(block.track, at_ms, block.data, fragment.info.number))

    def _done(self, fragment: _Fragment) -> None:
        if fragment.dropped or fragment.refused:
            reason = fragment.refused or OLD
            self._out.append(Dropped(fragment.info.number, fragment.dropped, reason))
        if fragment.end and not fragment.refused:
            if fragment.end.complete:
                self._timeline.done(fragment.info.number)
            end = fragment.end
            self._out.append(FragmentDone(end.info, end.tags, self.position, end.complete))
