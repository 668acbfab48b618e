"""Where a call was put down: how far its stream was heard, and for each track the recogniser's state and its finals."""

from __future__ import annotations

import gzip
import json
from base64 import b64decode, b64encode
from dataclasses import asdict, dataclass
from typing import Any

from speech.errors import BadSnapshot
from speech.events import Final, Token, Word
from speech.media.call_events import Position
from speech.media.formats import AudioFormat

from cloud.live.told import Teller

VERSION = 1


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


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A call between two batches of its stream."""

    position: Position
    origin_ms: int | None  # the call's zero on the producer's clock; None: nothing was heard yet
    tracks: dict[int, SavedTrack]  # by track number
    contact_id: str | None = None  # of Amazon Connect
    mime_type: str = ""  # of the tracks

    def to_bytes(self) -> bytes:
        """JSON, packed."""
        tracks = {}
        for number, track in self.tracks.items():
            snapshot = None if track.snapshot is None else b64encode(track.snapshot).decode()
            tracks[str(number)] = asdict(track) | {"snapshot": snapshot}
        record = {
            "version": VERSION,
            "position": asdict(self.position),
            "origin_ms": self.origin_ms,
            "tracks": tracks,
            "contact_id": self.contact_id,
            "mime_type": self.mime_type,
        }
        return gzip.compress(json.dumps(record, separators=(",", ":")).encode(), 1, mtime=0)

    @classmethod
    def from_bytes(cls, packed: bytes) -> Checkpoint:
        """The inverse of `to_bytes`. Raises BadSnapshot for bytes of another version or of something else."""
        try:
            record = json.loads(gzip.decompress(packed))
            if record["version"] != VERSION:
                raise BadSnapshot(f"a checkpoint of version {record['version']}, expected {VERSION}")
            position = Position(**(record["position"] | {"heard_ms": _by_number(record["position"]["heard_ms"])}))
            tracks = {int(number): _track(track) for number, track in record["tracks"].items()}
            return cls(position, record["origin_ms"], tracks, record["contact_id"], record["mime_type"])
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            raise BadSnapshot(f"these bytes are no checkpoint of a call: {error!r}") from error


def _by_number(record: dict[str, int]) -> dict[int, int]:
    return {int(number): value for number, value in record.items()}


def _track(record: dict[str, Any]) -> SavedTrack:
    snapshot = record["snapshot"]
    known = {
        "format": AudioFormat(**record["format"]),
        "teller": Teller(**record["teller"]),
        "snapshot": None if snapshot is None else b64decode(snapshot),
        "finals": tuple(_final(final) for final in record["finals"]),
    }
    return SavedTrack(**(record | known))


def _final(record: dict[str, Any]) -> Final:
    words = tuple(Word(**word) for word in record["words"])
    tokens = tuple(Token(**(token | {"spoken": tuple(token["spoken"])})) for token in record["tokens"])
    return Final(**(record | {"words": words, "tokens": tokens}))
