"""What a call's stream tells once its fragments are in order: audio by speaker, gaps, and how far it was heard.

Times `..._ms` are milliseconds since 1970 by the producer's clock, or the stream's own timecodes where the service
states no producer timestamp.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from speech.media.events import Damage, FragmentInfo, ServiceError, Track
from speech.media.formats import AudioFormat, Speaker


@dataclass(frozen=True, slots=True)
class Position:
    """How far a stream was heard: enough to go on in another connection without losing or repeating anything."""

    fragment: str | None = None  # number of the last whole fragment: start after it
    heard_ms: Mapping[int, int] = field(default_factory=dict)  # by track number: start of the last block given out
    shift_ms: int = 0  # from the stream's timecodes to the producer's clock


@dataclass(frozen=True, slots=True)
class AudioTrack:
    """A track is heard for the first time, or its format has turned out to be another one."""

    track: Track
    speaker: Speaker
    format: AudioFormat | None  # None: nobody here can decode the blocks, or they are not audio and are left out
    reason: str = ""  # why there is no format


@dataclass(frozen=True, slots=True)
class Audio:
    """One block of one track."""

    track: int
    at_ms: int
    data: bytes
    fragment: str | None


@dataclass(frozen=True, slots=True)
class Gap:
    """Nothing was sent on a track for a while; `to_ms` before `from_ms`: the producer's clock was set back."""

    track: int
    from_ms: int
    to_ms: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """Blocks of a fragment were left out: heard before, or of another call."""

    fragment: str | None
    blocks: int
    reason: str


@dataclass(frozen=True, slots=True)
class FragmentDone:
    """A fragment was given out; a good moment to save `position`."""

    info: FragmentInfo
    tags: Mapping[str, str]
    position: Position
    complete: bool  # False: damaged or cut off; another connection may bring the rest


@dataclass(frozen=True, slots=True)
class ContactChanged:
    """The stream now carries another call: this one has ended, and what came from `from_ms` on is not part of it."""

    contact: str
    fragment: str | None
    from_ms: int


CallEvent = AudioTrack | Audio | Gap | Dropped | FragmentDone | ContactChanged | ServiceError | Damage
