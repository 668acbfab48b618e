"""A client of one stream as it should be: it numbers what it sends, and sends again what the server misses."""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import Any

from tests.stack.door.wire import Wire

MISSES = ("missing_message", "too_many_waiting", "sequence_gap")  # with what is expected
AGAIN = ("busy", "internal_error")  # the message itself may be sent again
GATEWAY = "gateway"  # stands for what comes from API Gateway itself: a message that no process took
QUIET_S = 60.0  # without a record, before the end is asked for again
PAUSE_S = 10.0  # between two returns to the same message: the server complains of each that it cannot place


class Speaker:
    """Speaks on one connection; `line.heard` gets every record but those that sending again has set right."""

    def __init__(self, line: Wire) -> None:
        self.line, self.received = line, 0
        self.troubles = Counter[str]()  # by code, those that sending again has set right
        self._sent = list[dict[str, Any]]()
        self._back = (-1, 0.0)  # the message that it went back to last, and when

    def say(self, message: dict[str, Any]) -> None:
        """Sends the next message; its number is put in here."""
        self._sent.append(message | {"sequence": len(self._sent)})
        self.line.send(self._sent[-1])

    def until(self, kind: str, ends_s: float) -> None:
        """Hears until the last message is answered by a record of a kind. Raises TimeoutError at a monotonic time."""
        while True:
            try:
                text = self.line.socket.recv(timeout=min(QUIET_S, max(0.1, ends_s - time.monotonic())))
            except TimeoutError:
                if time.monotonic() > ends_s:
                    raise
                self._go_back(len(self._sent) - 1)
                continue
            record = _read(text)
            if self._dealt_with(record):
                continue
            self.line.heard.append(record)
            self.received = max(self.received, record.get("received", 0))
            if record["type"] == kind and record.get("sequence") == len(self._sent) - 1:
                return

    def _dealt_with(self, record: dict[str, Any]) -> bool:
        code = record.get("code", "") if "type" in record else GATEWAY
        if code in MISSES:
            self._go_back(record["expected"])
        elif code in (*AGAIN, GATEWAY):
            self._go_back(record.get("sequence", self.received))
        else:
            return False
        self.troubles[code] += 1
        return True

    def _go_back(self, number: int) -> None:
        last, at_s = self._back
        if number == last and time.monotonic() - at_s < PAUSE_S:
            return
        self._back = (number, time.monotonic())
        self.line.send(*self._sent[number:])


def _read(text: str | bytes) -> dict[str, Any]:
    """A record; the emulator tells a function's failure in plain words, where API Gateway has an object."""
    try:
        record = json.loads(text)
    except ValueError:
        record = None
    return record if isinstance(record, dict) else {"message": str(text)}
