"""Incremental writer of the media that PutMedia takes: every frame is bytes to send as soon as it is there.

writer = PutMediaWriter([mulaw_track(1)])
send(writer.block(1, 0, frame))          # header, cluster and block
send(writer.block(1, 20, frame))         # a new fragment begins by itself every `fragment_ms`
send(writer.finish({"reply": "7"}))      # tags of the last fragment, and the tag that asks for its acknowledgement
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from speech.errors import BadMedia
from speech.media import encode
from speech.media.events import Track
from speech.media.tags import END_OF_FRAGMENT

# The service's own limits.
_SHORTEST_MS, _LONGEST_MS = 200, 10_000
_TRACKS, _TAGS, _NAME, _VALUE = 3, 10, 128, 256


def wave_track(number: int, tag: int, rate: int, channels: int, bits: int, name: str) -> Track:
    """A track whose WAVEFORMATEX tells its format: the one way to say mu-law, A-law or PCM that the service knows."""
    frame = channels * bits // 8
    private = struct.pack("<HHIIHHH", tag, channels, rate, rate * frame, frame, bits, 0)
    return Track(number, "A_MS/ACM", float(rate), channels, name, private, bits=bits)


def mulaw_track(number: int, rate: int = 8000, channels: int = 1, name: str = "") -> Track:
    """A track of mu-law."""
    return wave_track(number, 7, rate, channels, 8, name)


def alaw_track(number: int, rate: int = 8000, channels: int = 1, name: str = "") -> Track:
    """A track of A-law."""
    return wave_track(number, 6, rate, channels, 8, name)


def pcm_track(number: int, rate: int = 8000, channels: int = 1, name: str = "") -> Track:
    """A track of 16-bit little-endian PCM."""
    return wave_track(number, 1, rate, channels, 16, name)


def l16_track(number: int, name: str, rate: int = 8000, channels: int = 1) -> Track:
    """A track as Amazon Connect writes it: 16-bit little-endian PCM, labelled A_AAC."""
    return Track(number, "A_AAC", float(rate), channels, name)


class PutMediaWriter:
    """One PutMedia upload: a document with a cluster for each fragment."""

    def __init__(self, tracks: Sequence[Track], fragment_ms: int = 1000, app: str = "undertone") -> None:
        if not 1 <= len(tracks) <= _TRACKS or len({track.number for track in tracks}) != len(tracks):
            raise BadMedia(f"{len(tracks)} tracks, expected 1 to {_TRACKS} with different numbers")
        if not _SHORTEST_MS <= fragment_ms <= _LONGEST_MS:
            raise BadMedia(f"fragments of {fragment_ms} ms, expected {_SHORTEST_MS} to {_LONGEST_MS}")
        self._head = encode.document_head(list(tracks), app)
        self._numbers = {track.number for track in tracks}
        self._fragment_ms = fragment_ms
        self._start: int | None = None  # timecode of the running fragment
        self._last = 0  # timecode of the last block
        self._missing: set[int] = set()  # tracks without a frame in the running fragment: the service refuses it (4011)

    def block(self, track: int, timecode_ms: int, data: bytes, tags: Mapping[str, str] | None = None) -> bytes:
        """One frame; begins a fragment when that is due, and ends the one before with `tags`."""
        if track not in self._numbers:
            raise BadMedia(f"a block of track {track}, expected one of {sorted(self._numbers)}")
        self._check_time(timecode_ms)
        out = b""
        if self._start is None or (timecode_ms - self._start >= self._fragment_ms and not self._missing):
            out = self.begin(timecode_ms, tags)
        start = timecode_ms if self._start is None else self._start
        if timecode_ms - start > _LONGEST_MS:
            raise BadMedia(f"a fragment of {timecode_ms - start} ms, at most {_LONGEST_MS}: {self._lacking()}")
        block = encode.simple_block(track, timecode_ms - start, data)
        self._last = timecode_ms
        self._missing.discard(track)
        return out + block

    def begin(self, timecode_ms: int, tags: Mapping[str, str] | None = None) -> bytes:
        """A fragment begins here; `tags` are those of the one before."""
        self._check_time(timecode_ms)
        cluster = encode.cluster_head(timecode_ms)
        out = self._end(tags)
        head, self._head = self._head, b""
        self._start, self._last, self._missing = timecode_ms, timecode_ms, set(self._numbers)
        return out + head + cluster

    def finish(self, tags: Mapping[str, str] | None = None) -> bytes:
        """The upload pauses or ends: the last fragment's tags and the tag that has it acknowledged at once."""
        out = self._end(tags)
        ended = encode.tags({END_OF_FRAGMENT: ""}) if self._start is not None else b""
        self._start = None
        return out + ended

    def _check_time(self, timecode_ms: int) -> None:
        if timecode_ms < self._last:
            raise BadMedia(f"a block at {timecode_ms} ms behind one at {self._last} ms; timecodes must not go back")

    def _end(self, tags: Mapping[str, str] | None) -> bytes:
        """The tags of the running fragment, which is complete with them."""
        if self._start is None:
            return b""
        if self._missing:
            raise BadMedia(f"a fragment cannot end yet: {self._lacking()}")
        return user_tags(tags or {})

    def _lacking(self) -> str:
        return f"tracks {sorted(self._missing)} have no frame in it" if self._missing else "every track has a frame"


def user_tags(values: Mapping[str, str]) -> bytes:
    """A fragment's own tags within the service's limits; BadMedia says which one is beyond them."""
    if len(values) > _TAGS:
        raise BadMedia(f"{len(values)} tags in one fragment, the service takes {_TAGS}")
    for name, value in values.items():
        if not 1 <= len(name.encode()) <= _NAME or len(value.encode()) > _VALUE:
            raise BadMedia(f"tag {name[:40]!r}: the service takes names of 1 to {_NAME} bytes and values of {_VALUE}")
        if name.startswith("AWS"):
            raise BadMedia(f"tag {name[:40]!r}: names that begin with AWS are the service's own")
    return encode.tags(values)
