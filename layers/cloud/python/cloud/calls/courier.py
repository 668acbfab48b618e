"""Delivers things in the order in which they were given, in a thread of its own, several at a time.

A step of the recogniser serves all calls, and must not wait for a network; what has to be known to have arrived before
a checkpoint is waited for by `settle`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from cloud.notices import NotDelivered
from cloud.observability import logger

Item = TypeVar("Item")
FIRST_WAIT_S, LONGEST_WAIT_S = 0.2, 5.0  # between attempts


class Courier(Generic[Item]):
    """One thread and what waits for it."""

    def __init__(
        self,
        name: str,
        deliver: Callable[[list[Item]], None],
        merge: Callable[[list[Item]], list[Item]] = lambda items: items,
        *,
        attempts: int = 0,
        most: int = 0,
        instead: Callable[[list[Item]], list[Item]] = lambda items: [],
    ) -> None:
        """`deliver` raises when nothing, or not all, has arrived, and is then given the same again.

        merge: drops what later items have made pointless, whenever things had to wait.
        attempts: after so many the items are given up; 0: never. most: items that may wait; 0: any number. More of
        them give way to what `instead` makes of them.
        """
        self._deliver, self._merge, self._attempts = deliver, merge, attempts
        self._most, self._instead = most, instead
        self._waiting: list[Item] = []
        self._busy = False
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def give(self, items: list[Item]) -> None:
        """More to deliver; returns at once."""
        with self._changed:
            self._waiting += items
            if self._most and len(self._waiting) > self._most:
                logger.warning("%s: %d things cannot be waited for", self._thread.name, len(self._waiting))
                self._waiting = self._instead(self._waiting)
            self._changed.notify_all()

    def settle(self, wait_s: float) -> None:
        """Wait until everything has arrived or was given up. Raises NotDelivered after `wait_s`."""
        with self._changed:
            if not self._changed.wait_for(lambda: not (self._waiting or self._busy), wait_s):
                raise NotDelivered(f"{self._thread.name}: {len(self._waiting)} things still wait after {wait_s:g} s")

    def close(self) -> None:
        """End the thread, once it has delivered what waits or has failed at that."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(LONGEST_WAIT_S)

    def _run(self) -> None:
        failures, items = 0, list[Item]()
        while True:
            with self._changed:
                self._busy = bool(items)
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting or self._busy or self._closed)
                if self._closed and (failures or not (items or self._waiting)):
                    return
                items, self._waiting = self._merge(items + self._waiting), []
                self._busy = True
            try:
                self._deliver(items)
                failures, items = 0, []
            except Exception:
                failures += 1
                logger.exception("%s: attempt %d at %d things failed", self._thread.name, failures, len(items))
                if self._attempts and failures >= self._attempts:
                    failures, items = 0, []
                else:
                    self._rest(min(FIRST_WAIT_S * 2 ** (failures - 1), LONGEST_WAIT_S))

    def _rest(self, wait_s: float) -> None:
        ends_s = time.monotonic() + wait_s
        with self._changed:
            self._changed.wait_for(lambda: self._closed or time.monotonic() >= ends_s, wait_s)
