"""What the workers of a call told: the transcript, the replies, and how late each thing was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

CALLER = "customer"  # as whom the first channel is played
# Of a reply until its end is told: nobody tells it where the worker dies meanwhile.
CUT_OFF = {"turn": None, "text": "", "interrupted": True, "failed": ""}
QUIET_S = 2.5  # of the call behind the recording: by then its last turn has ended


@dataclass
class Heard:
    """What is told again after a death counts once."""

    speed: float
    replies_wanted: bool
    began_s: float = 0.0  # when the call began, in seconds since 1970
    final_ms: list[int] = field(default_factory=list)  # from the end of a final's last word to its being told
    partial_ms: list[int] = field(default_factory=list)  # from the end of the last block to the partial that knows it
    told: set[tuple[int, int]] = field(default_factory=set)
    replies: dict[str, dict[str, Any]] = field(default_factory=dict)  # by id
    transcript: dict[str, Any] | None = None
    turn: int = -1  # number of the caller's last turn end
    answered: int = -1  # of the last one whose reply is over
    heard_s: float = 0.0  # of the call, by the worker

    def take(self, event: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """An event as `cloud.calls.told` has it, if it is new, with `late_ms` where that can be said."""
        told_s = seconds(event["told_at"])
        if event["type"].startswith("reply_"):
            yield from self._reply(event)
        elif event["type"] == "partial":
            late_ms = self._late_ms(told_s, event["heard_s"])
            self.partial_ms.append(late_ms)
            yield event | {"late_ms": late_ms}
        elif "number" in event and (place := (event["channel"], event["number"])) not in self.told:
            self.told.add(place)
            yield from self._numbered(event, told_s)

    def may_hang_up(self, at_s: float, spoken_s: float) -> bool:
        """Whether the caller, at `at_s` of the call, has said everything and has heard every answer."""
        if not self.replies_wanted:
            return at_s >= spoken_s
        waits = self.heard_s < spoken_s + QUIET_S or self.turn > self.answered
        return at_s >= spoken_s + QUIET_S and not waits

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "transcript": self.transcript,
            "final_latency_ms": self.final_ms,
            "partial_latency_ms": self.partial_ms,
            "replies": list(self.replies.values()),
        }

    def _numbered(self, record: dict[str, Any], at_s: float) -> Iterator[dict[str, Any]]:
        if record["type"] == "final":
            self.final_ms.append(self._late_ms(at_s, record["end_s"]))
            yield record | {"late_ms": self.final_ms[-1]}
        elif record["type"] == "turn_end" and record["speaker"] == CALLER and record["reason"] != "nothing_said":
            self.turn = record["number"]

    def _reply(self, record: dict[str, Any]) -> Iterator[dict[str, Any]]:
        begun = {"reply": record["reply"], "first_audio_ms": None} | CUT_OFF
        reply = self.replies.setdefault(record["reply"], begun)
        if record["type"] == "reply_start":
            reply["turn"] = record["turn"]
            reply["first_audio_ms"] = self._late_ms(seconds(record["at"]), record["turn_end_s"])
        elif record["type"] == "reply_end":
            reply |= {name: record[name] for name in ("turn", "text", "interrupted", "failed")}
            if not (record["interrupted"] and record["failed"]):  # of a worker that is gone: the next one answers
                self.answered = max(self.answered, record["turn"])
            yield record | {"late_ms": reply["first_audio_ms"]}

    def _late_ms(self, at_s: float, call_s: float) -> int:
        """How long after a moment of the call something was."""
        return round(1000 * (at_s - self.began_s - call_s / self.speed))


def seconds(time: str) -> float:
    """A time of an event in seconds since 1970."""
    return datetime.fromisoformat(time).timestamp()


def middle(values_ms: list[int]) -> str:
    """Of latencies, as a person reads it."""
    late = sorted(values_ms) or [0]
    return f"{late[len(late) // 2] / 1000:.2f} s (median), {late[-1] / 1000:.2f} s at most"
