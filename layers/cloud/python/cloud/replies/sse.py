"""Server-sent events out of bytes as they come (HTML standard, 9.2.6): the data of each event, whatever the cuts."""

from __future__ import annotations

from cloud.replies.responder import Refused

MOST_BYTES = 1 << 20  # of one event: more is no event


class SseParser:
    """Push bytes in with `receive`, take events out. Comments, which keep connections alive, and names are left out."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._data: list[str] = []
        self._size = 0
        self._after_cr = False

    def receive(self, data: bytes) -> list[str]:
        """The data of the events that end in these bytes. Raises Refused for one that does not end."""
        events: list[str] = []
        if self._after_cr and data[:1] == b"\n":
            data = data[1:]
        self._after_cr = (data[-1:] or b"\r" * self._after_cr) == b"\r"
        *lines, rest = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for line in lines:
            whole, self._line = bytes(self._line) + line, bytearray()
            events += self._take(whole)
        self._line += rest
        if len(self._line) + self._size > MOST_BYTES:
            raise Refused(f"an event of more than {MOST_BYTES} bytes, expected server-sent events")
        return events

    def _take(self, line: bytes) -> list[str]:
        if not line:
            data, self._data, self._size = self._data, [], 0
            return ["\n".join(data)] if data else []
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" ").decode(errors="replace"))
            self._size += len(value)
        return []
