"""ListFragments, and what both archive calls ask of a stream."""

from __future__ import annotations

from typing import Any

from botocore.utils import parse_timestamp

from local.kvs.fragments import Fragment
from local.kvs.refusals import Refused
from local.kvs.streams import VideoStream

MOST_LISTED = 1000


def list_fragments(stream: VideoStream, asked: dict[str, Any]) -> dict[str, Any]:
    """ListFragments; the token is the fragment number to go on behind."""
    require_retention(stream)
    selector = asked.get("FragmentSelector")
    after, most = asked.get("NextToken", ""), asked.get("MaxResults", 100)
    if not 1 <= most <= MOST_LISTED:
        raise Refused("InvalidArgumentException", f"MaxResults is {most}, expected 1 to {MOST_LISTED}")
    found = [f for f in stream.fragments.kept() if f.number > after and (selector is None or chosen(f, selector))]
    told: dict[str, Any] = {"Fragments": [described(fragment) for fragment in found[:most]]}
    return told | ({"NextToken": found[most - 1].number} if len(found) > most else {})


def require_retention(stream: VideoStream) -> None:
    """Without retention there is no archive."""
    if not stream.retention_h:
        raise Refused("ResourceNotFoundException", f"the stream {stream.name} has no data retention")


def chosen(fragment: Fragment, selector: dict[str, Any]) -> bool:
    """Whether a FragmentSelector chooses it."""
    of_producer = selector["FragmentSelectorType"] == "PRODUCER_TIMESTAMP"
    at_s = fragment.producer_s if of_producer else fragment.server_s
    between = selector["TimestampRange"]
    return bool(
        parse_timestamp(between["StartTimestamp"]).timestamp()
        <= at_s
        <= parse_timestamp(between["EndTimestamp"]).timestamp()
    )


def described(fragment: Fragment) -> dict[str, Any]:
    """A member of Fragments."""
    return {
        "FragmentNumber": fragment.number,
        "FragmentSizeInBytes": fragment.size,
        "ProducerTimestamp": fragment.producer_s,
        "ServerTimestamp": fragment.server_s,
        "FragmentLengthInMilliseconds": fragment.duration_ms,
    }
