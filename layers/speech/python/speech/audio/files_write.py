"""Writes audio: samples in, the bytes of a FLAC, MP3 or Ogg Opus file out, piece by piece as it is made, or whole."""

from __future__ import annotations

import io

import soundfile

from speech.audio.pcm import Samples
from speech.errors import BadAudio

FORMATS = {"flac": ("FLAC", "PCM_16"), "mp3": ("MP3", "MPEG_LAYER_III"), "ogg_opus": ("OGG", "OPUS")}
WAV = ("WAV", "PCM_16")
OPUS_RATES = (8_000, 12_000, 16_000, 24_000, 48_000)  # what Opus knows


class CompressedWriter:
    """One channel. What has been given out cannot be changed any more, so a FLAC header tells no length."""

    def __init__(self, encoding: str, rate: int) -> None:
        """`encoding` is a key of FORMATS. Raises BadAudio if it cannot have this rate."""
        self._sink = _Sink()
        self._file = _opened(self._sink, encoding, rate)

    def receive(self, samples: Samples) -> bytes:
        """The bytes that are complete with `samples` (n,): often none, as codecs work in blocks."""
        self._file.write(samples)
        return self._sink.take()

    def finish(self) -> bytes:
        """The rest of the file."""
        self._file.close()
        return self._sink.take()


class FileWriter:
    """Sound into a binary file in which one may go back to the beginning, where headers tell the length."""

    def __init__(self, sink: io.RawIOBase | io.BytesIO, encoding: str, rate: int, channels: int = 1) -> None:
        """`encoding` is a key of FORMATS, or wav. Raises BadAudio if it cannot have this rate."""
        self._file = _opened(sink, encoding, rate, channels)

    def receive(self, samples: Samples) -> None:
        """Take samples (n,) in -1 to 1, or (n, channels); beyond full scale is clipped."""
        self._file.write(samples)

    def finish(self) -> None:
        """Write what is owed. The writer is used up; its file stays open."""
        self._file.close()


class WholeFile:
    """One channel, kept until it is complete: its header tells the length, which what is sent off piecemeal cannot."""

    def __init__(self, encoding: str, rate: int) -> None:
        """`encoding` is a key of FORMATS, or wav. Raises BadAudio if it cannot have this rate."""
        self._bytes = io.BytesIO()
        self._file = _opened(self._bytes, encoding, rate)

    @property
    def size(self) -> int:
        """Bytes so far."""
        return self._bytes.getbuffer().nbytes

    def receive(self, samples: Samples) -> None:
        """Take samples (n,) in -1 to 1; beyond full scale is clipped."""
        self._file.write(samples)

    def finish(self) -> bytes:
        """The file. The writer is used up."""
        self._file.close()
        return self._bytes.getvalue()


def _opened(sink: io.RawIOBase | io.BytesIO, encoding: str, rate: int, channels: int = 1) -> soundfile.SoundFile:
    if encoding == "ogg_opus" and rate not in OPUS_RATES:
        raise BadAudio(f"ogg_opus cannot have {rate} Hz; expected one of {', '.join(map(str, OPUS_RATES))}")
    container, subtype = WAV if encoding == "wav" else FORMATS[encoding]
    try:
        return soundfile.SoundFile(sink, "w", rate, channels, subtype, format=container)
    except soundfile.LibsndfileError as error:
        raise BadAudio(f"{encoding} at {rate} Hz cannot be written: {error}") from error


class _Sink(io.RawIOBase):
    """A file for libsndfile of which the beginning has been sent off: going back there to correct it has no effect."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._sent = 0  # bytes
        self._at = 0

    def take(self) -> bytes:
        """What was written since the last time."""
        data = bytes(self._kept)
        self._sent += len(data)
        self._kept.clear()
        return data

    def write(self, data: object) -> int:
        piece = bytes(data)  # type: ignore[call-overload]
        late = max(0, self._sent - self._at)
        place = self._at + late - self._sent
        self._kept[place : place + len(piece[late:])] = piece[late:]
        self._at += len(piece)
        return len(piece)

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (0, self._at, self._sent + len(self._kept))[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        return b""  # nothing that was sent off is there any more

    def seekable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True
