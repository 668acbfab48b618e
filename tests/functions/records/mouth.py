"""A producer, a shard that gives its records in batches, and the function behind it, with AWS in memory."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from cloud.live.audio_format import AudioFormat
from cloud.records.frames import Frame
from speech.audio import pcm

from tests.functions.fake_live import FakeLive
from tests.functions.situations import Context

RATE = 8000
FIRST = 49590338271490256608559692538361571095921575989136588898  # a sequence number as Kinesis counts

Record = tuple[int, str, bytes]  # sequence number, partition key, data


@dataclass
class Mouth:
    """`app` is functions/records."""

    app: ModuleType
    aws: FakeLive

    def give(self, *records: Record) -> list[str]:
        """One batch: the sequence numbers that come again."""
        event = {"Records": [_record(*record) for record in records]}
        answer = self.app.handler(event, Context())
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

    def results(self, stream: str = "call") -> list[dict[str, Any]]:
        """What the transcript stream has of a stream, in the order in which it was put."""
        put = self.aws.kinesis.put
        assert {(name, key) for name, key, _ in put} <= {("transcripts", result["stream"]) for _, _, result in put}
        return [result for _, key, result in put if key == stream]

    def told(self, stream: str = "call") -> list[dict[str, Any]]:
        """The same without partials, and without the numbers that depend on how records came."""
        kept = [result for result in self.results(stream) if result["type"] not in ("partial", "turn_start")]
        return [{k: v for k, v in result.items() if k not in ("number", "session")} for result in kept]

    def words(self, stream: str = "call") -> list[str]:
        """What was said."""
        finals = [result for result in self.results(stream) if result["type"] == "final"]
        return [word["text"] for final in finals for word in final["words"]]


def frames(samples: np.ndarray, encoding: str = "pcm_s16le", chunk_s: float = 0.2) -> list[Frame]:
    """A recording as a producer cuts it."""
    size = round(chunk_s * RATE)
    channels = samples.shape[1] if samples.ndim == 2 else 1
    audio_format = AudioFormat(encoding, RATE, channels)
    starts = range(0, len(samples), size)
    return [
        Frame(audio_format, at, pcm.encode(samples[at : at + size], encoding), last=at == starts[-1]) for at in starts
    ]


def shard(pieces: Sequence[Frame | bytes], stream: str = "call", first: int = 0) -> list[Record]:
    """Records of one stream, numbered from `first`."""
    data = [piece if isinstance(piece, bytes) else piece.pack() for piece in pieces]
    return [(FIRST + first + number, stream, one) for number, one in enumerate(data)]


def _record(sequence: int, stream: str, data: bytes) -> dict[str, Any]:
    return {
        "kinesis": {"partitionKey": stream, "sequenceNumber": str(sequence), "data": b64encode(data).decode()},
        "eventSource": "aws:kinesis",
    }
