"""Makes recordings of calls that are over, one after the other in a thread of its own.

One at a time: there may be hours of sound in one, and the worker's other calls go on meanwhile.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from cloud.calls.recording import Stopped, write
from cloud.calls.sides import Plan
from cloud.observability import logger


@dataclass(frozen=True, slots=True)
class Recorded:
    """What came of it."""

    address: str = ""  # of the object; "": there is none
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Task:
    plan: Plan
    stopped: threading.Event = field(default_factory=threading.Event)
    outcome: Recorded | None = None


class Recorder:
    """Used by the worker's thread, which it never makes wait."""

    def __init__(
        self,
        bucket: str,
        key: Callable[[str], str],
        make: Callable[[Plan, str, str, threading.Event], tuple[str, ...]] = write,
    ) -> None:
        """`key`: of a call's recording, by the call's id."""
        self._bucket, self._key, self._make = bucket, key, make
        self._tasks: dict[str, _Task] = {}
        self._waiting: queue.SimpleQueue[_Task] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def outcome(self, call_id: str, plan: Callable[[], Plan | None]) -> Recorded | None:
        """What came of a call's recording; None while it is made, which begins when this is first asked."""
        task = self._tasks.get(call_id)
        if task is None:
            if (wanted := plan()) is None:
                return Recorded()
            task = self._tasks[call_id] = _Task(wanted)
            self._waiting.put(task)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
                self._thread.start()
        return task.outcome

    def forget(self, call_id: str) -> None:
        """A call has ended with all that belongs to it, or is another worker's."""
        if task := self._tasks.pop(call_id, None):
            task.stopped.set()

    def close(self) -> None:
        """Give up what is in work: the next holders of those calls make it."""
        for call_id in list(self._tasks):
            self.forget(call_id)

    def _run(self) -> None:
        while True:
            task = self._waiting.get()
            if not task.stopped.is_set():
                task.outcome = self._attempt(task)

    def _attempt(self, task: _Task) -> Recorded:
        call_id = task.plan.call
        key = self._key(call_id)
        try:
            warnings = self._make(task.plan, self._bucket, key, task.stopped)
        except Stopped:
            return Recorded()
        except Exception as error:  # a call that cannot be recorded still has its transcript
            logger.exception("call %s is not recorded", call_id)
            return Recorded(warnings=(f"the call was not recorded: {error}",))
        return Recorded(f"s3://{self._bucket}/{key}", warnings)
