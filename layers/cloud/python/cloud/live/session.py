"""One live stream on its way to words, of one or two channels; put down as bytes after any piece, taken up anywhere."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from speech.asr.options import StreamOptions
from speech.errors import BadSnapshot
from speech.events import Event
from speech.model import state
from speech.model.state import Value

from cloud.live.audio_format import AudioFormat
from cloud.live.told import Teller, Told, settled

if TYPE_CHECKING:
    from speech.asr.recognizer import Recognizer, RecognizerStream

STAMP = "live"  # of a session's own values; the recogniser's snapshots carry their bundle's
MOST_BYTES = state.MAX_BYTES  # of a session, all channels together: it has to fit a table item with room


@dataclass
class Session:
    """Made by `begin` or `resume`. `streams` is empty until audio comes, so that beginning and ending cost nothing."""

    recognizer: Recognizer
    format: AudioFormat
    tellers: list[Teller]  # one a channel
    streams: list[RecognizerStream]  # one a channel, or none while there is nothing to go on with
    frames: int = 0  # samples per channel that were received
    options: StreamOptions | None = None  # a vocabulary, a filter

    @classmethod
    def begin(cls, recognizer: Recognizer, audio_format: AudioFormat, options: StreamOptions | None = None) -> Session:
        """Before the first sample."""
        tellers = [Teller(channel) for channel in range(audio_format.channels)]
        return cls(recognizer, audio_format, tellers, [], options=options)

    @classmethod
    def resume(cls, recognizer: Recognizer, blob: bytes) -> Session:
        """Where it was put down. Raises BadSnapshot if the bytes are damaged or of another bundle."""
        values = state.unpack(blob, STAMP)
        try:
            channels = int(np.asarray(values["channels"]))
            audio_format = AudioFormat(str(values["encoding"]), int(np.asarray(values["rate"])), channels)
            tellers = [_teller(number, np.asarray(values[f"teller{number}"])) for number in range(channels)]
            blobs = [values[f"stream{number}"] for number in range(channels) if f"stream{number}" in values]
            frames = int(np.asarray(values["frames"]))
        except KeyError as error:
            raise BadSnapshot(f"the session lacks {error}") from error
        streams = [recognizer.resume(blob) for blob in blobs if isinstance(blob, bytes)]
        return cls(recognizer, audio_format, tellers, streams, frames, _options(values.get("options")))

    @property
    def duration_s(self) -> float:
        """Seconds of audio received."""
        return self.frames / self.format.rate

    def receive(self, audio: bytes) -> list[Told]:
        """Takes bytes that the format's `check` found good: what they made certain."""
        samples = self.format.decode(audio)
        if not len(samples):
            return []
        if not self.streams:
            wishes = {} if self.options is None else {"options": self.options}
            self.streams = [
                self.recognizer.stream(rate=self.format.rate, live=True, **wishes) for _ in range(self.format.channels)
            ]
            self.tellers = [teller.again(self.duration_s) for teller in self.tellers]
        self.frames += len(samples)
        events = self.recognizer.step_many(self.streams, list(np.ascontiguousarray(samples.T)))
        told = [self._tell(channel, list(heard)) for channel, heard in enumerate(events)]
        return settled([record for records in told for record in records])

    def finalize(self) -> list[Told]:
        """Makes final what was heard so far, without waiting for silence; more audio may follow."""
        told = [self._tell(channel, stream.finish()) for channel, stream in enumerate(self.streams)]
        self.streams = []
        return settled([record for records in told for record in records])

    def snapshot(self) -> bytes:
        """Everything, at most 256 KiB. Raises BadSnapshot where it would be more."""
        values: dict[str, Value] = {
            "encoding": self.format.encoding,
            "rate": self.format.rate,
            "channels": self.format.channels,
            "frames": self.frames,
        }
        if self.options is not None:
            values["options"] = zlib.compress(json.dumps(self.options.values(), ensure_ascii=False).encode())
        for number, teller in enumerate(self.tellers):
            values[f"teller{number}"] = np.array(
                [teller.base_s, teller.base_segment, teller.segments, teller.turn, teller.turn_s], np.float64
            )
        values |= {f"stream{number}": stream.snapshot() for number, stream in enumerate(self.streams)}
        return state.pack(STAMP, values, MOST_BYTES)

    def _tell(self, channel: int, events: list[Event]) -> list[Told]:
        self.tellers[channel], told = self.tellers[channel].tell(events)
        return told


def _options(packed: Value | None) -> StreamOptions | None:
    return StreamOptions.read(json.loads(zlib.decompress(packed))) if isinstance(packed, bytes) else None


def _teller(channel: int, values: NDArray[np.float64]) -> Teller:
    base_s, base_segment, segments, turn, turn_s = values.tolist()
    return Teller(channel, base_s, int(base_segment), int(segments), int(turn), turn_s)
