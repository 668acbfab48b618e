"""A read-only view of part of a seekable binary file, read in large aligned blocks: few, long requests to a remote one.

Decoders written in C see errors of a Python file as an early end; `failure` keeps them, so that a broken connection
is never taken for a truncated recording.
"""

from __future__ import annotations

from io import SEEK_CUR, SEEK_END, SEEK_SET
from typing import BinaryIO

BLOCK = 1 << 19  # bytes of one request
KEPT = 6  # blocks held: the start, the index at either end, and where audio and video of one film are read


class Window:
    """The bytes `head`, then those of `stream` from `start` up to `end` (None: its end), as a file of its own."""

    def __init__(self, stream: BinaryIO, start: int = 0, end: int | None = None, head: bytes = b"") -> None:
        self._stream = stream
        size = stream.seek(0, SEEK_END)
        self._end = size if end is None else min(end, size)
        self._start = min(start, self._end)
        self._head = head
        self._blocks: dict[int, bytes] = {}  # by number, least recently used first
        self._position = 0
        self.failure: Exception | None = None

    def __len__(self) -> int:
        return len(self._head) + self._end - self._start

    def part(self, start: int, end: int | None = None, head: bytes = b"") -> Window:
        """A window on the same file; `start` and `end` count in this window's bytes behind its head."""
        return Window(self._stream, self._start + start, self._end if end is None else self._start + end, head)

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes (all with -1); fewer only at the end."""
        size = len(self) - self._position if size < 0 else min(size, len(self) - self._position)
        parts = []
        while size > 0:
            piece = self._piece(self._position)[:size]
            parts.append(piece)
            self._position += len(piece)
            size -= len(piece)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def readinto(self, buffer: bytearray | memoryview) -> int:
        """Fill `buffer`; how many bytes. For libsndfile: an error is kept in `failure` and reads as the end."""
        try:
            data = self.read(len(buffer))
        except Exception as error:
            self.failure = error
            return 0
        buffer[: len(data)] = data
        return len(data)

    def check(self) -> None:
        """Raise the error that `readinto` kept, if any."""
        if self.failure:
            raise self.failure

    def seek(self, offset: int, whence: int = SEEK_SET) -> int:
        """Move to an offset; one outside the window is brought to its nearest end."""
        base = {SEEK_SET: 0, SEEK_CUR: self._position, SEEK_END: len(self)}[whence]
        self._position = min(max(0, base + offset), len(self))
        return self._position

    def tell(self) -> int:
        """The position in bytes."""
        return self._position

    def at(self, offset: int, size: int) -> bytes:
        """Up to `size` bytes at `offset`; the position becomes what lies behind them."""
        self.seek(offset)
        return self.read(size)

    def _piece(self, position: int) -> bytes:
        """Some bytes at `position` (inside the window): what the head or one block holds from there on."""
        if position < len(self._head):
            return self._head[position:]
        absolute = self._start + position - len(self._head)
        number, offset = divmod(absolute, BLOCK)
        block = self._blocks.pop(number, None) or self._load(number)
        self._blocks[number] = block
        if len(self._blocks) > KEPT:
            del self._blocks[next(iter(self._blocks))]
        piece = block[offset : offset + self._end - absolute]
        if not piece:
            raise OSError(f"the file ends at byte {absolute}, {self._end} were promised")
        return piece

    def _load(self, number: int) -> bytes:
        self._stream.seek(number * BLOCK)
        data = self._stream.read(BLOCK)
        while 0 < len(data) < BLOCK and (more := self._stream.read(BLOCK - len(data))):
            data += more
        return data
