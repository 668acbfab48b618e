"""What the answers that come over a connection share: giving up from another thread, at whatever they wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Cancelling:
    """An answer with a connection that can be shut down while another thread reads it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shut: Callable[[], object] | None = None
        self.cancelled = False

    def cancel(self) -> None:
        """Nobody listens any more: a read that waits returns."""
        with self._lock:
            self.cancelled = True
            if self._shut:
                _quietly(self._shut)

    @contextmanager
    def interruptible(self, shut: Callable[[], object]) -> Iterator[None]:
        """While this lasts, `cancel` calls `shut`; at once where it has come before."""
        with self._lock:
            self._shut = shut
            if self.cancelled:
                _quietly(shut)
        try:
            yield
        finally:
            with self._lock:
                self._shut = None


def _quietly(shut: Callable[[], object]) -> None:
    try:
        shut()
    except (RuntimeError, ValueError, OSError):
        return  # it has ended by itself
