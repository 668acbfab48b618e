"""Samples to bytes in the rate and encoding that a listener wants, as a stream: PCM, G.711, WAV, FLAC, MP3, Opus."""

from __future__ import annotations

import struct
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from speech.audio import pcm
from speech.audio.pcm import Samples
from speech.audio.resample import Resampler
from speech.errors import BadAudio, BadSnapshot

SpeechEncoding = Literal["pcm_s16le", "pcm_f32le", "pcm_mulaw", "pcm_alaw", "wav", "flac", "mp3", "ogg_opus"]
SPEECH_ENCODINGS: tuple[SpeechEncoding, ...] = get_args(SpeechEncoding)
RATES = (8_000, 16_000, 22_050, 24_000, 44_100, 48_000)  # Hz
_UNKNOWN = 0xFFFFFFFF  # length of a WAV file that is still being made


class _Writer(Protocol):
    def receive(self, samples: Samples) -> bytes: ...
    def finish(self) -> bytes: ...


class AudioEncoder:
    """One channel. How the samples are cut into calls changes nothing in the bytes all in all."""

    def __init__(self, encoding: str, rate_in: int, rate: int) -> None:
        """Raises BadAudio for an unknown encoding, an unsupported rate, or a rate that the encoding cannot have."""
        if rate not in RATES:
            raise BadAudio(f"speech at {rate} Hz is not supported; expected one of {', '.join(map(str, RATES))}")
        self.encoding, self.rate = encoding, rate
        self._resampler = Resampler(rate_in, rate)
        self._writer = _writer(encoding, rate)

    def receive(self, samples: Samples) -> bytes:
        """The bytes that `samples` (n,) in -1 to 1 complete; beyond full scale is clipped."""
        return self._writer.receive(self._resampler.receive(samples))

    def finish(self) -> bytes:
        """What is still owed, and the end of a file. The encoder is used up."""
        return self._writer.receive(self._resampler.finish()) + self._writer.finish()

    def state(self) -> dict[str, NDArray[Any]]:
        """`buffer` and `place` of the resampler, and `owes` (1,): bytes of a header that have not been given yet.

        Raises BadSnapshot for FLAC, MP3 and Opus, whose codecs keep their state to themselves.
        """
        if not isinstance(self._writer, _Raw):
            raise BadSnapshot(f"speech in {self.encoding} cannot be put down; expected pcm_* or wav")
        return {**self._resampler.state(), "owes": np.array([self._writer.owes], np.int64)}

    @classmethod
    def from_state(cls, encoding: str, state: dict[str, NDArray[Any]]) -> AudioEncoder:
        """An encoder that goes on where the saved one stood. Raises BadSnapshot."""
        resampler = Resampler.from_state(state)
        try:
            encoder = cls(encoding, resampler.rate_in, resampler.rate_out)
        except BadAudio as error:
            raise BadSnapshot(f"the encoder's state is damaged: {error}") from error
        encoder._resampler = resampler
        if isinstance(encoder._writer, _Raw) and not int(state["owes"][0]):
            encoder._writer.finish()
        return encoder


def _writer(encoding: str, rate: int) -> _Writer:
    if encoding not in SPEECH_ENCODINGS:
        raise BadAudio(f"encoding {encoding!r} is not known; expected one of {', '.join(SPEECH_ENCODINGS)}")
    if encoding.startswith("pcm_"):
        return _Raw(encoding)
    if encoding == "wav":
        return _Raw("pcm_s16le", _wav_header(rate))
    from speech.audio.files_write import CompressedWriter

    return CompressedWriter(encoding, rate)


class _Raw:
    """Samples as they are, behind a header if there is one."""

    def __init__(self, encoding: str, header: bytes = b"") -> None:
        self._encoding, self._header = encoding, header

    @property
    def owes(self) -> int:
        return len(self._header)

    def receive(self, samples: Samples) -> bytes:
        if not len(samples):
            return b""
        return self.finish() + pcm.encode(samples, self._encoding)

    def finish(self) -> bytes:
        header, self._header = self._header, b""
        return header


def _wav_header(rate: int) -> bytes:
    """Of 16-bit mono whose length is not known yet: the largest, which players read as "to the end"."""
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16)
    return struct.pack("<4sI4s", b"RIFF", _UNKNOWN, b"WAVE") + form + struct.pack("<4sI", b"data", _UNKNOWN)
