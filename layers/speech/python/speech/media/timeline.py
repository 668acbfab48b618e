"""How far a call was heard, on each track and by fragment numbers: what is new, what is old and what is missing."""

from __future__ import annotations

from collections.abc import Mapping

from speech.media.call_events import Gap, Position


def is_above(number: str, other: str) -> bool:
    """Whether fragment `number` comes after `other`: they count up, in decimal and of any length."""
    if not (number.isdecimal() and other.isdecimal()):
        return number != other
    one, two = number.lstrip("0"), other.lstrip("0")
    return (len(one), one) > (len(two), two)


class Timeline:
    """What was given out so far."""

    def __init__(self, after: Position, gap_ms: int, rewind_ms: int) -> None:
        self._fragment = after.fragment
        self._heard = dict(after.heard_ms)
        self._ends: dict[int, float] = {track: float(at) for track, at in after.heard_ms.items()}
        self._gap_ms, self._rewind_ms = gap_ms, rewind_ms
        self.shift_ms = after.shift_ms  # from timecodes to the producer's clock, as the last fragment had it

    @property
    def position(self) -> Position:
        """Where to go on."""
        return Position(self._fragment, dict(self._heard), self.shift_ms)

    @property
    def begun(self) -> bool:
        """Whether anything was given out, here or before the position we started from."""
        return bool(self._ends)

    def floor(self, start_ms: int) -> Mapping[int, int]:
        """By track, up to where blocks of a fragment that starts at `start_ms` were heard before.

        Nothing was when it starts very much earlier: the producer's clock was set back, and the audio is new.
        """
        if self._heard and start_ms < max(self._heard.values()) - self._rewind_ms:
            return {}
        return dict(self._heard)

    def is_old(self, number: str | None) -> bool:
        """Whether a fragment of this number was heard whole, or is behind one that was."""
        return number is not None and self._fragment is not None and not is_above(number, self._fragment)

    def follows(self, start_ms: int) -> bool:
        """Whether a fragment that starts at `start_ms` leaves nothing out; always at the beginning."""
        return not self._ends or start_ms <= max(self._ends.values()) + self._gap_ms

    def hear(self, track: int, at_ms: int, duration_ms: float) -> Gap | None:
        """A block is given out; the gap before it, if there is one."""
        end = self._ends.get(track)
        if end is not None and at_ms < end - self._rewind_ms:
            # Set back for every track: an old time of another one would hide what is repeated from here on.
            self._heard.clear()
            self._ends.clear()
        self._heard[track] = at_ms
        self._ends[track] = at_ms + duration_ms
        if end is None or end - self._rewind_ms <= at_ms <= end + self._gap_ms:
            return None
        return Gap(track, round(end), at_ms)

    def done(self, number: str | None) -> None:
        """A fragment was given out whole."""
        if number is not None and not self.is_old(number):
            self._fragment = number
