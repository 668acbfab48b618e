"""How long an invocation may still work: until its margin, or until a budget of its own."""

from __future__ import annotations

import time
from typing import Protocol


class Context(Protocol):
    """The part of Lambda's context that tells the time."""

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until the invocation is cut off."""
        ...


class Deadline:
    """Made when work on a message begins."""

    def __init__(self, context: Context, *, margin_s: float = 0, budget_s: float = 0) -> None:
        """`margin_s`: time kept for writing a checkpoint; `budget_s`: time for work at most, 0 for no such limit."""
        self._context = context
        self._margin_s = margin_s
        self._budget_s = budget_s
        self._began = time.monotonic()

    @property
    def spent_s(self) -> float:
        """Seconds since work on the message began."""
        return time.monotonic() - self._began

    @property
    def now_s(self) -> float:
        """Seconds since 1970."""
        return time.time()

    @property
    def cut_off_s(self) -> float:
        """When the invocation is cut off, in seconds since 1970: a claim need not hold longer."""
        return self.now_s + self._context.get_remaining_time_in_millis() / 1000

    @property
    def left_s(self) -> float:
        """Seconds until it is time to hand over; none are left when this is below 0."""
        left_s = self._context.get_remaining_time_in_millis() / 1000 - self._margin_s
        return min(left_s, self._budget_s - self.spent_s) if self._budget_s else left_s

    def passed(self) -> bool:
        """Whether it is time to hand over."""
        return self.left_s < 0
