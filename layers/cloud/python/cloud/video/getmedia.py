"""GetMedia: where to start, and one connection whose bytes are there as soon as the service has sent them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from botocore.exceptions import BotoCoreError, ClientError
from botocore.response import URLLib3ProtocolError, URLLib3ReadTimeoutError
from speech.errors import Transient
from speech.media.call_events import Position

from cloud.clients import client
from cloud.video import endpoints

_PIECE = 1 << 16
CONNECTIONS = 256  # side by side in one process


class Silent(Transient):
    """Nothing came for a while; the connection may be dead, or the producer pauses."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where to begin in a stream, when nothing of it was heard yet."""

    kind: Literal["NOW", "EARLIEST", "FRAGMENT_NUMBER", "PRODUCER_TIMESTAMP", "SERVER_TIMESTAMP"]
    fragment: str = ""  # FRAGMENT_NUMBER: begins with the one behind it
    timestamp_s: float = 0.0  # .._TIMESTAMP: seconds since 1970; begins with the fragment that holds it

    def selector(self) -> dict[str, Any]:
        """As GetMedia wants it."""
        told: dict[str, Any] = {"StartSelectorType": self.kind}
        if self.kind == "FRAGMENT_NUMBER":
            told["AfterFragmentNumber"] = self.fragment
        elif self.kind.endswith("TIMESTAMP"):
            told["StartTimestamp"] = datetime.fromtimestamp(self.timestamp_s, UTC)
        return told


def resume(position: Position, start: Start, *, fragment_kept: bool = True) -> Start:
    """Where to go on after `position`, which began at `start`; `CallReader` leaves out what is then heard twice.

    Behind the last whole fragment, or, when the service does not keep that any more, by the producer's clock.
    """
    if position.fragment and fragment_kept:
        return Start("FRAGMENT_NUMBER", fragment=position.fragment)
    if position.heard_ms:
        return Start("PRODUCER_TIMESTAMP", timestamp_s=min(position.heard_ms.values()) / 1000)
    return start


class Connection:
    """One GetMedia connection."""

    def __init__(self, payload: Any, stream: str) -> None:
        """`payload` is the StreamingBody of the answer."""
        self._payload, self._stream = payload, stream

    @classmethod
    def open(cls, stream: str, start: Start, silence_s: float) -> Connection:
        """Connect to a stream, given by name or ARN; reads give up after `silence_s` without a byte.

        Raises Transient, or endpoints.NoStream or Forbidden.
        """
        url = endpoints.data_endpoint("GET_MEDIA", stream)
        service = client("kinesis-video-media", url, silence_s, CONNECTIONS)
        try:
            answer = service.get_media(**endpoints.named(stream), StartSelector=start.selector())
        except ClientError as error:
            endpoints.forget()
            raise endpoints.refusal(error, "GetMedia", stream) from error
        except BotoCoreError as error:
            endpoints.forget()
            raise Transient(f"GetMedia on {stream}: {error}") from error
        return cls(answer["Payload"], stream)

    def read(self) -> bytes:
        """What has come, at least a byte; b"" at the end. Raises Silent, or Transient for a broken connection."""
        try:
            # Reading the body by boto3's own methods waits for as much as was asked for.
            return bytes(self._payload._raw_stream.read1(_PIECE))
        except URLLib3ReadTimeoutError as error:
            raise Silent(f"GetMedia on {self._stream}: nothing came") from error
        except (URLLib3ProtocolError, OSError, ValueError) as error:
            raise Transient(f"GetMedia on {self._stream} broke off: {error}") from error

    def interrupt(self) -> None:
        """Make a `read` that waits in another thread return."""
        try:
            self._payload._raw_stream.shutdown()
        except (RuntimeError, ValueError, OSError):
            return  # it has ended by itself

    def close(self) -> None:
        """End it."""
        self._payload.close()
