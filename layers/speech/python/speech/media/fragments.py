"""Puts tags, clusters and blocks together into fragments, whatever their order and however they end.

GetMedia: tags of the service, cluster, tags of the producer, tags of the service, and a new document for the next one.
PutMedia: cluster, tags of the producer, and the next cluster in the same document; an END_OF_FRAGMENT tag at a stop.
"""

from __future__ import annotations

from collections.abc import Mapping

from speech.errors import BadMedia
from speech.media import tags as names
from speech.media.events import Event, FragmentEnd, FragmentInfo, FragmentStart
from speech.media.limits import Limits


class Fragments:
    """The fragment that is being read; every method returns the events that follow from it."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._clear()

    def _clear(self) -> None:
        self._info = FragmentInfo()
        self._tags: dict[str, str] = {}
        self._cluster = False  # whether its cluster has begun
        self._told = False  # whether a FragmentStart was given out
        self._blocks = 0
        self.sound = True  # no damage in it so far

    @property
    def number(self) -> str | None:
        """Number of the running fragment, if there is one and it is known."""
        return self._info.number

    def cluster(self) -> list[Event]:
        """A cluster begins: that of the running fragment, or of the next one."""
        done = self.end(True) if self._cluster else []
        self._cluster = True
        return done

    def timecode(self, timecode_ms: int) -> list[Event]:
        """The cluster has said its timecode."""
        if self._told:
            raise BadMedia("Cluster with a second Timecode, expected one")
        self._told = True
        return [FragmentStart(self._info, timecode_ms)]

    def block(self, frames: int) -> None:
        """A block with so many frames was read."""
        self._blocks += frames

    def tags(self, values: Mapping[str, str]) -> tuple[list[Event], list[Event]]:
        """(events before these tags, events behind them); BadMedia for what cannot be understood of them."""
        other = values.get(names.FRAGMENT_NUMBER, self._info.number) != self._info.number
        ends = other and (self._cluster or self._info.number is not None)
        info = names.told(values, FragmentInfo() if ends else self._info)
        tags = names.users(values) if ends else self._tags | names.users(values)
        if len(tags) > self._limits.tags:
            raise BadMedia(f"{len(tags)} tags in one fragment, at most {self._limits.tags} are allowed")
        before = self.end(True) if ends else []
        self._info, self._tags = info, tags
        over = self._cluster and names.TRAILERS & values.keys()
        return before, self.end(True) if over else []

    def end(self, complete: bool) -> list[Event]:
        """The fragment is over, if one was running; what belongs to none (tags alone) is forgotten."""
        events: list[Event] = []
        if self._cluster or self._info != FragmentInfo():
            if not self._told:
                events.append(FragmentStart(self._info, None))
            events.append(FragmentEnd(self._info, self._tags, self._blocks, complete and self.sound))
        self._clear()
        return events
