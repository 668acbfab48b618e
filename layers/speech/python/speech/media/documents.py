"""Writes a fragment as the service hands it out: a document of its own, with the service's tags before and behind.

For endpoints that stand in for Kinesis Video Streams; the pieces can be sent while the fragment still arrives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from speech.media import encode
from speech.media import tags as names
from speech.media.events import Block, FragmentInfo, Track


@dataclass(frozen=True, slots=True)
class FragmentWriter:
    """One fragment of GetMedia, or of GetMediaForFragmentList when `archived` (which names its tags otherwise)."""

    tracks: tuple[Track, ...]
    info: FragmentInfo
    archived: bool = False

    def start(self) -> bytes:
        """Header, tracks and what the service knows of the fragment before its cluster."""
        server, producer = names.SERVER_TIMESTAMP, names.PRODUCER_TIMESTAMP
        if self.archived:
            server, producer = names.SERVER_SIDE_TIMESTAMP, names.PRODUCER_SIDE_TIMESTAMP
        told = {
            names.FRAGMENT_NUMBER: self.info.number,
            server: _seconds(self.info.server_timestamp),
            producer: _seconds(self.info.producer_timestamp),
        }
        return encode.document_head(list(self.tracks)) + _service_tags(told)

    def cluster(self, timecode_ms: int) -> bytes:
        """The fragment's cluster begins."""
        return encode.cluster_head(timecode_ms)

    def block(self, block: Block, cluster_ms: int) -> bytes:
        """One frame of the cluster that began at `cluster_ms`."""
        return encode.simple_block(block.track, block.timecode_ms - cluster_ms, block.data, block.keyframe)

    def end(self, tags: Mapping[str, str] | None = None) -> bytes:
        """The producer's tags, then where the fragment stands in time and how to go on behind it."""
        if self.archived:
            return encode.tags(tags or {})
        behind = self.info.millis_behind_now
        told = {
            names.MILLIS_BEHIND_NOW: None if behind is None else str(behind),
            names.CONTINUATION_TOKEN: self.info.continuation_token,
        }
        return encode.tags(tags or {}) + _service_tags(told)

    def whole(self, blocks: Iterable[Block], timecode_ms: int | None, tags: Mapping[str, str] | None = None) -> bytes:
        """The whole document; without a cluster when `timecode_ms` is None."""
        body = []
        if timecode_ms is not None:
            body = [self.cluster(timecode_ms), *(self.block(block, timecode_ms) for block in blocks)]
        return b"".join([self.start(), *body, self.end(tags)])


def error_document(code: str, error_id: int) -> bytes:
    """What GetMedia sends before it ends because of an error: a document with tags only."""
    return encode.document_head([]) + _service_tags({names.ERROR_CODE: code, names.ERROR_ID: str(error_id)})


def exception_document(number: str, error_id: int, message: str) -> bytes:
    """What GetMediaForFragmentList sends for a fragment that it cannot give."""
    told = {
        names.FRAGMENT_NUMBER: number,
        names.EXCEPTION_CODE: str(error_id),
        names.EXCEPTION_MESSAGE: message,
    }
    return encode.document_head([]) + _service_tags(dict(told))


def _service_tags(values: Mapping[str, str | None]) -> bytes:
    return encode.tags({name: value for name, value in values.items() if value is not None}, long_sizes=True)


def _seconds(value: float | None) -> str | None:
    return None if value is None else f"{value:.3f}"
