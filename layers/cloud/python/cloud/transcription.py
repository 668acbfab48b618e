"""A recording through the recogniser, block by block, until it ends or time is up; put down and taken up anywhere.

What is carried from one invocation to the next is `Progress`: for each channel the recogniser's snapshot and the finals
so far, and how many frames of the recording are behind. The joined transcript is that of one pass, to the byte.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from speech.audio.files import AudioReader
from speech.errors import BadInput
from speech.events import Alternative, Event, Final, Token, Word

if TYPE_CHECKING:
    from speech.asr.options import StreamOptions
    from speech.asr.recognizer import Recognizer, RecognizerStream

BLOCK_S = 10  # audio between two looks at the clock; large blocks are the recogniser's fastest


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a recording was put down."""

    rate: int  # Hz, of the recording
    frames: int  # samples per channel that are behind
    spent_s: float  # of work so far, over all invocations
    snapshots: tuple[bytes, ...]  # one a channel
    finals: tuple[tuple[Final, ...], ...]  # one sequence a channel

    def to_bytes(self) -> bytes:
        """JSON, packed."""
        record = asdict(self) | {"snapshots": [b64encode(blob).decode() for blob in self.snapshots]}
        return gzip.compress(json.dumps(record).encode(), 3, mtime=0)

    @classmethod
    def from_bytes(cls, packed: bytes) -> Progress:
        """The inverse of `to_bytes`."""
        record = json.loads(gzip.decompress(packed))
        snapshots = tuple(b64decode(blob) for blob in record.pop("snapshots"))
        finals = tuple(tuple(_final(final) for final in channel) for channel in record.pop("finals"))
        return cls(snapshots=snapshots, finals=finals, **record)


@dataclass
class Transcription:
    """One recording in work."""

    recognizer: Recognizer
    audio: AudioReader
    streams: list[RecognizerStream]  # one a channel; a single one where channels are averaged
    finals: list[list[Final]] = field(default_factory=list)

    @classmethod
    def begin(
        cls, recognizer: Recognizer, audio: AudioReader, *, mono: bool, options: StreamOptions | None = None
    ) -> Transcription:
        """From the first sample; `mono` averages the channels; `options`: words to listen for or to hide."""
        wishes = {} if options is None else {"options": options}
        count = 1 if mono else audio.channels
        streams = [recognizer.stream(rate=audio.rate, live=False, **wishes) for _ in range(count)]
        return cls(recognizer, audio, streams, [[] for _ in streams])

    @classmethod
    def resume(cls, recognizer: Recognizer, audio: AudioReader, progress: Progress) -> Transcription:
        """From where an earlier invocation put it down."""
        if audio.rate != progress.rate or audio.skip(progress.frames) != progress.frames:
            raise BadInput(f"a checkpoint at sample {progress.frames} of {progress.rate} Hz is not of this recording")
        streams = [recognizer.resume(blob) for blob in progress.snapshots]
        return cls(recognizer, audio, streams, [list(channel) for channel in progress.finals])

    def run(self, time_is_up: Callable[[], bool]) -> bool:
        """Works on; True when the recording is done, False when time was up before. A block is done in any case."""
        for block in self.audio.blocks(BLOCK_S * self.audio.rate):
            self._receive(block)
            if time_is_up():
                return False
        for stream, finals in zip(self.streams, self.finals, strict=True):
            finals.extend(_finals(stream.finish()))
        return True

    def progress(self, spent_s: float) -> Progress:
        """What the next invocation needs to go on."""
        return Progress(
            rate=self.audio.rate,
            frames=self.audio.position,
            spent_s=spent_s,
            snapshots=tuple(stream.snapshot() for stream in self.streams),
            finals=self.heard,
        )

    @property
    def heard(self) -> tuple[tuple[Final, ...], ...]:
        """The finals so far, a sequence for each channel."""
        return tuple(tuple(finals) for finals in self.finals)

    @property
    def seconds(self) -> float:
        """Of audio behind."""
        return self.audio.position / self.audio.rate

    def _receive(self, block: NDArray[np.float32]) -> None:
        if len(self.streams) < block.shape[1]:
            block = block.mean(axis=1, keepdims=True)
        told = self.recognizer.step_many(self.streams, list(np.ascontiguousarray(block.T)))
        for finals, events in zip(self.finals, told, strict=True):
            finals.extend(_finals(events))


def _finals(events: list[Event]) -> list[Final]:
    return [event for event in events if isinstance(event, Final)]


def _final(record: dict[str, Any]) -> Final:
    others = tuple(Alternative(_words(other), _tokens(other)) for other in record.pop("alternatives"))
    return Final(words=_words(record), tokens=_tokens(record), alternatives=others, **record)


def _words(record: dict[str, Any]) -> tuple[Word, ...]:
    return tuple(Word(**word) for word in record.pop("words"))


def _tokens(record: dict[str, Any]) -> tuple[Token, ...]:
    return tuple(Token(**(token | {"spoken": tuple(token["spoken"])})) for token in record.pop("tokens"))
