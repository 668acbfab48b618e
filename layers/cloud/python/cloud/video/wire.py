"""A TLS connection that is written and read at the same time by one thread, never waiting longer than it is told to.

boto3's HTTP client sends a whole body before it reads the answer; PutMedia answers while the body is sent.
"""

from __future__ import annotations

import select
import socket
import ssl
from urllib.parse import urlsplit

from speech.errors import Transient

_PIECE = 1 << 16
_NOT_YET = (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError)


class Wire:
    """One connection. Bytes to send are kept until the other side takes them."""

    def __init__(self, url: str, ca: str, connect_s: float = 5.0) -> None:
        """Connect to the host of `url`, trusting the authorities of the file `ca`. Raises Transient."""
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 443
        try:
            plain = socket.create_connection((host, port), connect_s)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket = ssl.create_default_context(cafile=ca).wrap_socket(plain, server_hostname=host)
        except OSError as error:
            raise Transient(f"no connection to {host}:{port}: {error}") from error
        self._socket.setblocking(False)
        self._out = bytearray()
        self.ended = False  # the other side has closed

    @property
    def unsent(self) -> int:
        """Bytes that wait."""
        return len(self._out)

    def exchange(self, data: bytes, wait_s: float = 0.0) -> bytes:
        """Send what can be sent and give what has come, waiting at most `wait_s` for either. Raises Transient."""
        self._out += data
        try:
            moved, came = self._move()
            if not moved and wait_s > 0 and not self.ended:
                poll = select.poll()
                poll.register(self._socket, select.POLLIN | (select.POLLOUT if self._out else 0))
                poll.poll(wait_s * 1000)
                _, came = self._move()
        except OSError as error:
            self.ended = True
            raise Transient(f"the connection was lost: {error}") from error
        return came

    def close(self) -> None:
        """Close at once; what was not sent is not."""
        self.ended = True
        self._socket.close()

    def _move(self) -> tuple[bool, bytes]:
        """(whether anything moved, what has come)."""
        sent = self._write()
        came = bytearray()
        while not self.ended:
            try:
                data = self._socket.recv(_PIECE)
            except _NOT_YET:
                break
            self.ended = not data
            came += data
        return bool(sent or came), bytes(came)

    def _write(self) -> int:
        sent = 0
        while sent < len(self._out) and not self.ended:
            try:
                sent += self._socket.send(memoryview(self._out)[sent : sent + _PIECE])
            except _NOT_YET:
                break
        del self._out[:sent]
        return sent
