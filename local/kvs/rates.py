"""Calls per second of one operation on one stream."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from local.kvs.refusals import Refused


class Rates:
    """Counts calls within the last second; `now` in seconds."""

    def __init__(self, calls_per_s: int, now: Callable[[], float]) -> None:
        self._most, self._now = calls_per_s, now
        self._calls: dict[tuple[str, str], deque[float]] = {}

    def count(self, operation: str, stream: str) -> None:
        """One more call; `Refused` when it is too many."""
        if not self._most:
            return
        now_s = self._now()
        calls = self._calls.setdefault((operation, stream), deque(maxlen=self._most))
        if len(calls) == self._most and now_s - calls[0] < 1.0:
            raise Refused(
                "ClientLimitExceededException", f"more than {self._most} calls of {operation} in a second on {stream}"
            )
        calls.append(now_s)
