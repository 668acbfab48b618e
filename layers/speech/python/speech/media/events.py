"""What the parsers of media streams tell: documents, tracks, fragments, blocks, tags, and damage, as frozen values.

Timecodes are integer milliseconds on the producer's clock as the stream states it; timestamps are seconds since 1970.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class DocumentStart:
    """The EBML header of one more document; GetMedia sends one per fragment."""

    offset: int  # bytes from the start of the stream
    doc_type: str  # "matroska" or "webm"


@dataclass(frozen=True, slots=True)
class Track:
    """One track as a document declares it; said again in every document."""

    number: int
    codec: str  # CodecID: "A_AAC", "A_MS/ACM", "A_PCM/INT/LIT", ...
    rate: float = 8000.0  # Hz
    channels: int = 1
    name: str = ""
    private: bytes = b""  # CodecPrivate: WAVEFORMATEX of A_MS/ACM, AudioSpecificConfig of A_AAC
    kind: Literal["audio", "video", "other"] = "audio"
    bits: int = 0  # per sample; 0: not said
    block_ns: int = 0  # DefaultDuration of one frame in nanoseconds; 0: not said
    encoded: bool = False  # has ContentEncodings: its blocks are compressed or encrypted


@dataclass(frozen=True, slots=True)
class FragmentInfo:
    """What the service says of a fragment; None until it has."""

    number: str | None = None
    server_timestamp: float | None = None  # seconds since 1970
    producer_timestamp: float | None = None  # seconds since 1970, of the fragment's start
    millis_behind_now: int | None = None  # ms; comes after the cluster
    continuation_token: str | None = None  # comes after the cluster


@dataclass(frozen=True, slots=True)
class FragmentStart:
    """A fragment begins: its cluster's timecode has been read, or it has ended without a cluster."""

    info: FragmentInfo
    timecode_ms: int | None  # None: the fragment has tags and no cluster


@dataclass(frozen=True, slots=True)
class Block:
    """One frame of one track."""

    track: int
    timecode_ms: int
    data: bytes
    keyframe: bool = True
    lace: int = 0  # place of the frame within its block, from 0


@dataclass(frozen=True, slots=True)
class Tags:
    """The tags of one Tags element in order of appearance, those of the service included; "A/B" is B nested in A."""

    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ServiceError:
    """The service tells in tags why it ends the stream, or which fragment of a list failed."""

    code: str  # "" when only the number was given
    id: int | None  # see speech.media.acks.ERRORS and the service's documentation of GetMedia
    message: str
    fragment: str | None


@dataclass(frozen=True, slots=True)
class FragmentEnd:
    """A fragment is over, with everything that was said about it."""

    info: FragmentInfo
    tags: Mapping[str, str]  # the producer's own tags of this fragment
    blocks: int
    complete: bool  # False: damaged, or the input ended inside it


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes that could not be understood, and why; the parser has gone on behind them."""

    offset: int  # bytes from the start of the stream
    skipped: int  # bytes lost
    reason: str


Event = DocumentStart | Track | FragmentStart | Block | Tags | ServiceError | FragmentEnd | Damage
