"""What the recogniser tells, as records for WebSocket and Kinesis: turns in pairs, times of the whole live stream.

A recogniser's stream may be followed by another in the same live stream (after `finalize`), so its times and segments
are counted from where it began. A turn starts with its first words and ends once, whatever becomes of those words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from speech.events import Event, Final, Partial, TurnEnd, Word

Told = dict[str, Any]  # one record: "type" and what belongs to it

QUIET, SHOWN, SAID = 0, 1, 2  # of a turn: none is open; only partials so far; it has finals


@dataclass(frozen=True, slots=True)
class Teller:
    """Of one channel, between two of its events."""

    channel: int
    base_s: float = 0.0  # seconds before the recogniser's stream began
    base_segment: int = 0  # segments before it
    segments: int = 0  # finals so far, in the whole live stream
    turn: int = QUIET
    turn_s: float = 0.0  # start of the turn that is open, in the live stream

    def tell(self, events: Iterable[Event]) -> tuple[Teller, list[Told]]:
        """The records of events, and who tells the next ones."""
        teller, told = self, list[Told]()
        for event in events:
            turn, turn_s, segments = teller.turn, teller.turn_s, teller.segments
            if isinstance(event, TurnEnd):
                told.append(teller.record("turn_end", at_s=teller.at(event.at_s), reason=event.reason))
                turn = QUIET
            elif event.words:
                if turn == QUIET:
                    turn_s = teller.at(event.words[0].start_s)
                    told.append(teller.record("turn_start", at_s=turn_s))
                told.append(teller.final(event) if isinstance(event, Final) else teller.partial(event))
                turn = SAID if isinstance(event, Final) else max(turn, SHOWN)
                segments += isinstance(event, Final)
            elif isinstance(event, Partial):
                told.append(teller.partial(event))
                if turn == SHOWN:  # what partials showed turned out to be no speech: no turn end will follow
                    told.append(teller.record("turn_end", at_s=turn_s, reason="nothing_said"))
                    turn = QUIET
            teller = replace(teller, segments=segments, turn=turn, turn_s=turn_s)
        return teller, told

    def again(self, base_s: float) -> Teller:
        """Who tells of a recogniser's stream that begins at `base_s`."""
        return Teller(self.channel, base_s, self.segments, self.segments, QUIET)

    def at(self, seconds: float) -> float:
        """A time of the recogniser's stream as one of the live stream, to the millisecond."""
        return round(self.base_s + seconds, 3)

    def record(self, kind: str, **values: Any) -> Told:
        """A record of this channel."""
        return {"type": kind, "channel": self.channel, **values}

    def partial(self, event: Partial) -> Told:
        """The words of the running segment; the first `stable` of them will not change any more."""
        words = list(self._words(event.words))
        text = " ".join(word["text"] for word in words)
        return self.record(
            "partial", segment=self.base_segment + event.segment, text=text, stable=event.stable, words=words
        )

    def final(self, event: Final) -> Told:
        """A finished segment: as it is written, and word by word as it was spoken."""
        return self.record(
            "final",
            segment=self.base_segment + event.segment,
            start_s=self.at(event.start_s),
            end_s=self.at(event.end_s),
            text=event.text,
            raw_text=event.raw_text,
            words=list(self._words(event.words)),
        )

    def _words(self, words: tuple[Word, ...]) -> Iterator[Told]:
        for word in words:
            start_s, end_s = self.at(word.start_s), self.at(word.end_s)
            told = {"text": word.text, "start_s": start_s, "end_s": end_s, "confidence": round(word.confidence, 3)}
            yield {**told, "vocabulary_filter_match": True} if word.filtered else told


def settled(told: list[Told]) -> list[Told]:
    """The records without those partials that a later record of the same channel and segment replaces."""
    last = {(r["channel"], r["segment"]): at for at, r in enumerate(told) if r["type"] in ("partial", "final")}
    return [r for at, r in enumerate(told) if r["type"] != "partial" or last[r["channel"], r["segment"]] == at]
