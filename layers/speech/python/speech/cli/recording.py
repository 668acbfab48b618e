"""One recording through the recogniser to a transcript, channel by channel or averaged."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from speech.asr.options import StreamOptions
from speech.asr.recognizer import Recognizer, RecognizerStream
from speech.audio.files import AudioReader, open_audio
from speech.events import Event, Final
from speech.text.transcript import Transcript

BLOCK_S = 10

Progress = Callable[[float, float | None], None]  # seconds done, seconds in all if the file says


@dataclass(frozen=True)
class Result:
    """A transcript and how long it took."""

    transcript: Transcript
    work_s: float

    @property
    def rtf(self) -> float:
        """Real-time factor: seconds of work per second of audio."""
        return self.work_s / max(self.transcript.duration_s, 1e-9)


def transcribe(
    recognizer: Recognizer, path: Path, by_channel: bool, progress: Progress, options: StreamOptions | None = None
) -> Result:
    """Decode and recognise a file as a stream, never whole in memory. Raises BadAudio or OSError."""
    started = time.perf_counter()
    with path.open("rb") as file, open_audio(file) as audio:
        count = audio.channels if by_channel else 1
        streams = [recognizer.stream(audio.rate, live=False, options=options) for _ in range(count)]
        finals: list[list[Final]] = [[] for _ in streams]
        total_s = audio.frames / audio.rate if audio.frames else None
        for block in audio.blocks(BLOCK_S * audio.rate):
            _collect(finals, Recognizer.step_many(streams, split(block, by_channel)))
            progress(audio.position / audio.rate, total_s)
        _collect(finals, [stream.finish() for stream in streams])
        return Result(_transcript(audio, streams, finals), time.perf_counter() - started)


def split(block: np.ndarray, by_channel: bool) -> list[np.ndarray]:
    """(n, channels) as one array per stream: each channel, or their mean."""
    if by_channel:
        return [np.ascontiguousarray(column) for column in block.T]
    return [block[:, 0] if block.shape[1] == 1 else block.mean(axis=1)]


def _collect(finals: list[list[Final]], events: list[list[Event]]) -> None:
    for kept, new in zip(finals, events, strict=True):
        kept += [event for event in new if isinstance(event, Final)]


def _transcript(audio: AudioReader, streams: list[RecognizerStream], finals: list[list[Final]]) -> Transcript:
    return Transcript(
        duration_s=audio.position / audio.rate,
        channels=tuple(tuple(channel) for channel in finals),
        warnings=tuple(audio.warnings),
        language=streams[0].recognizer.language,
    )
