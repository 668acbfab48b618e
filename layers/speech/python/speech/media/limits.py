"""How much a media stream may ask of us: bounds of memory and depth, each an argument."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one parser; what goes beyond becomes a Damage event that says both numbers.

    The service itself allows 10 tags a fragment with names of 128 and values of 256 bytes, and 3 tracks.
    """

    element_bytes: int = 1 << 20  # one element held in memory (Tracks, Tags) or skipped as unknown
    block_bytes: int = 1 << 20  # one SimpleBlock or BlockGroup
    header_bytes: int = 4096  # one EBML header
    tag_bytes: int = 4096  # one tag's name or value
    tags: int = 128  # different tags of one fragment
    tracks: int = 16  # of one document
    depth: int = 8  # SimpleTags within each other
    ack_bytes: int = 65536  # one acknowledgement of PutMedia
