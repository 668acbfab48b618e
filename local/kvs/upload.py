"""One PutMedia upload: bytes in, acknowledgements out, fragments into the stream. No sockets here.

A fragment is acknowledged as BUFFERING when its cluster begins, RECEIVED when it is whole, PERSISTED when it is kept.
The first error ends the upload, as in the service.
"""

from __future__ import annotations

import json

from speech.media.acks import ERRORS
from speech.media.events import Block, Damage, DocumentStart, Event, FragmentEnd, FragmentStart, Track
from speech.media.limits import Limits
from speech.media.parser import Parser

from local.kvs.fragments import Fragment, Fragments
from local.kvs.settings import Settings

_YEAR_2100_S = 4_102_444_800
_TAG_NAME, _TAG_VALUE = 128, 256  # bytes


class Upload:
    """An upload that has been accepted. `over`: it takes no more bytes."""

    def __init__(self, fragments: Fragments, settings: Settings, *, start_s: float | None) -> None:
        """`start_s`: the producer's clock at timecode 0; None where timecodes are milliseconds since 1970."""
        self._fragments, self._settings, self._start_s = fragments, settings, start_s
        self._parser = Parser(Limits(block_bytes=settings.fragment_bytes, element_bytes=1 << 20))
        self._tracks: dict[int, Track] = {}
        self._fragment: Fragment | None = None
        self._last_ms = -1  # timecode of the fragment before
        self._acks: list[bytes] = []
        self.over = False

    def receive(self, data: bytes) -> bytes:
        """Acknowledgements, a line each, that follow from these further bytes."""
        self._take(self._parser.receive(data))
        return self._given()

    def finish(self) -> bytes:
        """The body has ended as it should: its last fragment is whole."""
        if not self.over:
            self._take(self._parser.finish())
            self.over = True
        return self._given()

    def abort(self) -> None:
        """The connection was lost: the fragment on its way is too."""
        self.over = True
        if self._fragment:
            self._fragments.end(self._fragment, {}, whole=False)
            self._fragment = None

    def fail(self, error_id: int) -> bytes:
        """End the upload with an error of the service."""
        if not self.over:
            self._error(error_id)
        return self._given()

    @staticmethod
    def idle() -> bytes:
        """Sent while nothing comes, to keep the connection alive."""
        return _line({"EventType": "IDLE"})

    def _given(self) -> bytes:
        given, self._acks = b"".join(self._acks), []
        return given

    def _take(self, events: list[Event]) -> None:
        for event in events:
            if self.over:
                return
            match event:
                case Block():
                    self._block(event)
                case FragmentStart(_, timecode_ms) if timecode_ms is not None:
                    self._begin(timecode_ms)
                case FragmentEnd() if self._fragment:
                    self._end(event)
                case DocumentStart():
                    self._tracks.clear()
                case Track():
                    self._tracks[event.number] = event
                    if len(self._tracks) > self._settings.tracks:
                        self._error(4005)
                case Damage():
                    self._error(4006)
        if self._fragment:
            self._fragments.touch()

    def _begin(self, timecode_ms: int) -> None:
        producer_s = timecode_ms / 1000 + (self._start_s or 0)
        if timecode_ms <= self._last_ms:
            self._error(4004, timecode_ms)
        elif not 0 < producer_s < _YEAR_2100_S:
            self._error(4007, timecode_ms)
        else:
            self._last_ms = timecode_ms
            self._fragment = self._fragments.begin(timecode_ms, producer_s, tuple(self._tracks.values()))
            self._ack("BUFFERING", self._fragment)

    def _block(self, block: Block) -> None:
        fragment = self._fragment
        if not fragment:
            return
        fragment.size += len(block.data)
        if block.track not in self._tracks:
            self._error(4010)
        elif fragment.size > self._settings.fragment_bytes:
            self._error(4001)
        elif block.timecode_ms - fragment.timecode_ms > self._settings.fragment_ms:
            self._error(4002)
        else:
            fragment.blocks.append(block)

    def _end(self, event: FragmentEnd) -> None:
        fragment = self._fragment
        if not fragment:
            return
        beyond = len(event.tags) > self._settings.fragment_tags or any(
            len(name.encode()) > _TAG_NAME or len(value.encode()) > _TAG_VALUE for name, value in event.tags.items()
        )
        if {block.track for block in fragment.blocks} != self._tracks.keys():
            self._error(4011)
        elif beyond:
            self._error(4009)
        else:
            self._fragment = None
            self._fragments.end(fragment, dict(event.tags), whole=True)
            self._ack("RECEIVED", fragment)
            if self._fragments.retention_s:
                self._ack("PERSISTED", fragment)

    def _ack(self, kind: str, fragment: Fragment) -> None:
        told = {"EventType": kind, "FragmentTimecode": fragment.timecode_ms, "FragmentNumber": fragment.number}
        self._acks.append(_line(told))

    def _error(self, error_id: int, timecode_ms: int | None = None) -> None:
        told: dict[str, object] = {"EventType": "ERROR"}
        if self._fragment:
            told |= {"FragmentTimecode": self._fragment.timecode_ms, "FragmentNumber": self._fragment.number}
        elif timecode_ms is not None:
            told["FragmentTimecode"] = timecode_ms
        self._acks.append(_line(told | {"ErrorCode": ERRORS[error_id], "ErrorId": error_id}))
        self.abort()


def _line(told: dict[str, object]) -> bytes:
    return json.dumps(told, separators=(",", ":")).encode() + b"\n"
