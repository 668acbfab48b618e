"""What was so far of a call, for who comes to watch in its midst: the records that still matter, in bounded frames.

Finals and replies are the session's, so that a worker that has taken the call over knows those of the holders before;
partials and the reply that is being said are of what was told since.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cloud.calls import told
from cloud.calls.told import Event, iso

if TYPE_CHECKING:
    from speech.events import Final

    from cloud.calls.session import Session

MOST_BYTES = 24_000  # of a frame's records: with what is around them a frame has less than 32 KB
MOST_LINES = 1000  # finals and replies, the newest: every newcomer costs a request for each hundred of them
Record = dict[str, Any]


@dataclass(slots=True)
class Running:
    """What is being said in a call: the newest partial of each channel, and the reply that is not over."""

    partials: dict[int, Event] = field(default_factory=dict)
    reply: list[Event] = field(default_factory=list)  # without its sound

    def note(self, event: Event) -> None:
        """One more event of the call."""
        match event["type"]:
            case "partial" if event["words"]:
                self.partials[event["channel"]] = event
            case "partial" | "final":
                self.partials.pop(event["channel"], None)
            case "reply_start" | "reply_audio":
                event = {name: value for name, value in event.items() if name != "audio"}
                same = self.reply and self.reply[0]["reply"] == event["reply"]
                self.reply = [*self.reply, event] if same else [event]
            case "reply_end":
                self.reply = []

    def events(self) -> tuple[Event, ...]:
        """As they were told."""
        return (*self.partials.values(), *self.reply)


@dataclass(frozen=True, slots=True)
class SoFar:
    """What there is to say, taken by the worker's thread, whom it costs little; written out by another one."""

    call_id: str
    began_ms: int
    started: Event
    tracks: tuple[tuple[int, str, tuple[Final, ...]], ...]  # channel, speaker, finals
    replies: tuple[Event, ...]
    running: tuple[Event, ...]
    next: dict[int, int]  # by channel: number of its next numbered record
    told_at: str

    def frames(self) -> list[Event]:
        """As they are sent, one after the other, `part` 0 first; the last one has no `more`, and `next`."""
        said = [self._finals(*track) for track in self.tracks]
        lines = list(heapq.merge(*said, map(_bare, self.replies), key=_start_s))  # each in the order in which it came
        left_out = max(0, len(lines) - MOST_LINES)
        parts = list(_parts([_bare(self.started), *lines[left_out:], *map(_bare, self.running)]))
        frames = [self._frame(part, records, more=True) for part, records in enumerate(parts)]
        frames[-1] |= {"more": False, "left_out": left_out, "next": {str(one): at for one, at in self.next.items()}}
        return frames

    def _frame(self, part: int, records: list[Record], more: bool) -> Event:
        about = {"call": self.call_id, "type": "so_far", "told_at": self.told_at}
        return about | {"part": part, "more": more, "records": records}

    def _finals(self, channel: int, speaker: str, finals: Iterable[Final]) -> Iterator[Record]:
        for final in finals:
            yield {
                "type": "final",
                "channel": channel,
                "speaker": speaker,
                "segment": final.segment,
                "start_s": final.start_s,
                "end_s": final.end_s,
                "start_at": iso(self.began_ms / 1000 + final.start_s),
                "end_at": iso(self.began_ms / 1000 + final.end_s),
                "text": final.text,
                "raw_text": final.raw_text,
            }


def taken(session: Session, running: Running, now_s: float) -> SoFar:
    """Of a call of which everything was told, now."""
    call, tracks = session.call, session.tracks.values()
    return SoFar(
        call.id,
        call.began_ms or 0,
        told.notice(call, told.STARTED, now_s),
        tuple((track.channel, track.speaker, tuple(track.finals)) for track in tracks),
        tuple(told.replies(call, session.replies, now_s)),
        running.events(),
        {track.channel: track.numbered for track in tracks},
        iso(now_s),
    )


def _start_s(line: Record) -> float:
    return float(line["start_s"] if "start_s" in line else line["turn_end_s"])


def _bare(event: Event) -> Record:
    return {name: value for name, value in event.items() if name != "call"}


def _parts(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Of so many bytes each, at least one."""
    part, size = list[Record](), 0
    for record in records:
        length = len(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()) + 1
        if part and size + length > MOST_BYTES:
            yield part
            part, size = [], 0
        part.append(record)
        size += length
    yield part
