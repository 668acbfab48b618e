"""What a video stream keeps of a time: its fragments, listed in order and fetched in pieces that memory holds.

Only streams with retention have an archive (DataRetentionInHours above 0). The service lists a fragment some moments
after it was sent, and may give fragments in another order than it was asked for: `CallReader` puts them in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar

from botocore.exceptions import BotoCoreError, ClientError
from botocore.response import URLLib3ProtocolError, URLLib3ReadTimeoutError
from speech.errors import Transient

from cloud.clients import client
from cloud.video import endpoints

Answer = TypeVar("Answer")
MOST_LISTED = 1000  # at a time: the service's own limit
PIECE_BYTES, PIECE_FRAGMENTS = 4 << 20, 100  # fetched at a time


@dataclass(frozen=True, slots=True)
class Kept:
    """A fragment of the archive."""

    number: str
    at_ms: int  # its start by the producer's clock, since 1970
    size: int  # bytes


def retention_hours(stream: str) -> int:
    """How long a stream keeps what it is sent; 0: it has no archive. Raises Transient, NoStream or Forbidden."""
    return int(endpoints.described(stream)["DataRetentionInHours"])


def listed(stream: str, from_ms: int, to_ms: int) -> list[Kept]:
    """Fragments that start in a time of the producer's clock, in the order in which they were sent.

    Raises Transient, or endpoints.NoStream or Forbidden.
    """
    between = {"StartTimestamp": _time(from_ms), "EndTimestamp": _time(to_ms)}
    selector = {"FragmentSelectorType": "PRODUCER_TIMESTAMP", "TimestampRange": between}
    ask: dict[str, Any] = {**endpoints.named(stream), "MaxResults": MOST_LISTED, "FragmentSelector": selector}
    found = list[Kept]()
    while True:
        answer = _called("LIST_FRAGMENTS", stream, lambda api: dict(api.list_fragments(**ask)))
        for one in answer["Fragments"]:
            at_ms = round(1000 * one["ProducerTimestamp"].timestamp())
            found.append(Kept(one["FragmentNumber"], at_ms, one["FragmentSizeInBytes"]))
        if not answer.get("NextToken"):
            return sorted(found, key=lambda one: int(one.number))
        ask["NextToken"] = answer["NextToken"]


def pieces(fragments: list[Kept]) -> Iterator[list[Kept]]:
    """The same in pieces that are fetched at a time."""
    piece, size = list[Kept](), 0
    for fragment in fragments:
        if piece and (size + fragment.size > PIECE_BYTES or len(piece) == PIECE_FRAGMENTS):
            yield piece
            piece, size = [], 0
        piece.append(fragment)
        size += fragment.size
    if piece:
        yield piece


def fetched(stream: str, piece: list[Kept]) -> bytes:
    """Their media. Raises Transient, or endpoints.NoStream or Forbidden."""
    numbers = [fragment.number for fragment in piece]

    def read(api: Any) -> bytes:
        media: bytes = api.get_media_for_fragment_list(**endpoints.named(stream), Fragments=numbers)["Payload"].read()
        return media

    return _called("GET_MEDIA_FOR_FRAGMENT_LIST", stream, read)


def _called(
    api: Literal["LIST_FRAGMENTS", "GET_MEDIA_FOR_FRAGMENT_LIST"], stream: str, call: Callable[[Any], Answer]
) -> Answer:
    operation = "".join(part.title() for part in api.split("_"))
    service = client("kinesis-video-archived-media", endpoints.data_endpoint(api, stream))
    try:
        return call(service)
    except ClientError as error:
        endpoints.forget()
        raise endpoints.refusal(error, operation, stream) from error
    except (BotoCoreError, URLLib3ProtocolError, URLLib3ReadTimeoutError, OSError) as error:
        endpoints.forget()
        raise Transient(f"{operation} on {stream}: {error}") from error


def _time(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)
