"""Where a call was put down: how far its stream was heard, and for each track the recogniser's state and its finals."""

from __future__ import annotations

import gzip
import json
from base64 import b64decode, b64encode
from dataclasses import asdict, dataclass, field
from typing import Any

from speech.errors import BadSnapshot
from speech.events import Final, Token, Word
from speech.media.call_events import Position
from speech.media.formats import AudioFormat

from cloud.live.told import Teller, Told

VERSION = 4
READABLE = (2, 3, VERSION)  # 2 knew no primers, 3 no replies


@dataclass(frozen=True, slots=True)
class SavedTrack:
    """A track of which nothing waits."""

    channel: int
    speaker: str
    format: AudioFormat
    teller: Teller
    snapshot: bytes | None  # of the recogniser's stream, where there is one
    end_ms: float | None
    finals: tuple[Final, ...]
    numbered: int
    primer: tuple[bytes, ...] = ()  # of a decoder


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A call between two batches of its streams."""

    positions: dict[int, Position]  # by stream of the call
    origin_ms: int | None  # the call's zero on the producer's clock; None: nothing was heard yet
    tracks: dict[tuple[int, int], SavedTrack]  # by stream and track number
    contact_id: str | None = None  # of Amazon Connect
    mime_types: dict[int, str] = field(default_factory=dict)  # by stream: of its tracks
    replies: tuple[Told, ...] = ()  # how each has ended

    def to_bytes(self) -> bytes:
        """JSON, packed."""
        tracks = {}
        for (leg, number), track in self.tracks.items():
            snapshot = None if track.snapshot is None else b64encode(track.snapshot).decode()
            primer = [b64encode(frame).decode() for frame in track.primer]
            tracks[f"{leg} {number}"] = asdict(track) | {"snapshot": snapshot, "primer": primer}
        record = {
            "version": VERSION,
            "positions": {leg: asdict(position) for leg, position in self.positions.items()},
            "origin_ms": self.origin_ms,
            "tracks": tracks,
            "contact_id": self.contact_id,
            "mime_types": self.mime_types,
            "replies": self.replies,
        }
        return gzip.compress(json.dumps(record, separators=(",", ":")).encode(), 1, mtime=0)

    @classmethod
    def from_bytes(cls, packed: bytes) -> Checkpoint:
        """The inverse of `to_bytes`. Raises BadSnapshot for bytes of another version or of something else."""
        try:
            record = json.loads(gzip.decompress(packed))
            if record["version"] not in READABLE:
                raise BadSnapshot(f"a checkpoint of version {record['version']}, expected {VERSION}")
            positions = {leg: _position(position) for leg, position in _by_number(record["positions"]).items()}
            tracks = {_place(place): _track(track) for place, track in record["tracks"].items()}
            mime_types = _by_number(record["mime_types"])
            replies = tuple(record.get("replies", ()))
            return cls(positions, record["origin_ms"], tracks, record["contact_id"], mime_types, replies)
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            raise BadSnapshot(f"these bytes are no checkpoint of a call: {error!r}") from error


def _by_number(record: dict[str, Any]) -> dict[int, Any]:
    return {int(number): value for number, value in record.items()}


def _position(record: dict[str, Any]) -> Position:
    return Position(**(record | {"heard_ms": _by_number(record["heard_ms"])}))


def _place(text: str) -> tuple[int, int]:
    leg, number = text.split()
    return int(leg), int(number)


def _track(record: dict[str, Any]) -> SavedTrack:
    snapshot = record["snapshot"]
    known = {
        "format": AudioFormat(**record["format"]),
        "teller": Teller(**record["teller"]),
        "snapshot": None if snapshot is None else b64decode(snapshot),
        "finals": tuple(_final(final) for final in record["finals"]),
        "primer": tuple(b64decode(frame) for frame in record.get("primer", ())),
    }
    return SavedTrack(**(record | known))


def _final(record: dict[str, Any]) -> Final:
    words = tuple(Word(**word) for word in record["words"])
    tokens = tuple(Token(**(token | {"spoken": tuple(token["spoken"])})) for token in record["tokens"])
    return Final(record["segment"], words, tokens, record["start_s"], record["end_s"])
