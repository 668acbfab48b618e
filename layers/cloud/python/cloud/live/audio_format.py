"""The audio of a live stream: encoding, rate and channels, checked once, and its bytes as samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from speech.audio import pcm
from speech.audio.pcm import Samples
from speech.errors import BadAudio

ENCODINGS = ("pcm_s16le", "pcm_mulaw", "pcm_alaw", "pcm_f32le")
RATES = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000)  # Hz
MOST_CHANNELS = 2
LOUDEST = 16.0  # times full scale: beyond it somebody forgot to scale integers


@dataclass(frozen=True, slots=True)
class AudioFormat:
    """Interleaved samples. Raises BadAudio where a value is not supported, naming those that are."""

    encoding: str
    rate: int  # Hz
    channels: int

    def __post_init__(self) -> None:
        _one_of("encoding", self.encoding, ENCODINGS)
        _one_of("rate", self.rate, RATES)
        _one_of("channels", self.channels, tuple(range(1, MOST_CHANNELS + 1)))

    @property
    def frame_bytes(self) -> int:
        """Bytes of one sample of every channel."""
        return pcm.sample_bytes(self.encoding) * self.channels

    def check(self, audio: bytes) -> None:
        """Raises BadAudio unless `decode` can take these bytes, whenever their turn comes."""
        if len(audio) % self.frame_bytes:
            raise BadAudio(f"{len(audio)} bytes of audio are not whole frames of {self.frame_bytes} bytes")
        if self.encoding == "pcm_f32le" and (peak := float(np.abs(self.decode(audio)).max(initial=0.0))) > LOUDEST:
            raise BadAudio(f"expected samples in -1 to 1, got a peak of {peak:g}: integers must be scaled first")

    def decode(self, audio: bytes) -> Samples:
        """Samples (frames, channels) of bytes that `check` found good."""
        return pcm.decode(audio, self.encoding).reshape(-1, self.channels)


def _one_of(name: str, value: object, known: tuple[object, ...]) -> None:
    if type(value) is not type(known[0]) or value not in known:
        raise BadAudio(f"{name} {str(value)[:40]!r} is not supported; expected one of {', '.join(map(str, known))}")
