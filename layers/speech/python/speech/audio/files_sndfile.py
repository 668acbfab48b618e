"""Reads what libsndfile decodes: FLAC, Ogg (Vorbis, Opus, FLAC), MP3, AIFF, AU, CAF, Wave64, SPHERE, WAV's ADPCM."""

from __future__ import annotations

import numpy as np
import soundfile

from speech.audio import mpeg, ogg
from speech.audio.pcm import Samples
from speech.audio.reader import AudioReader
from speech.audio.window import Window
from speech.errors import BadAudio

_BLOCK = 1024  # frames decoded at a time: what an error at the end of a truncated file may take with it
_UNKNOWN = 1 << 40  # frames: libsndfile says "as many as fit 63 bits" when the file does not tell
_UNSUPPORTED = 4  # SF_ERR_UNSUPPORTED_ENCODING: a container it knows with a codec it does not


class Unsupported(BadAudio):
    """libsndfile knows the container but not this codec."""


class _Forward(soundfile.SoundFile):  # type: ignore[misc]
    """A file that python-soundfile does not reposition after every read, which would disturb the MP3 decoder."""

    def seekable(self) -> bool:
        return False


class SndfileReader(AudioReader):
    """The samples of one or more files that libsndfile decodes, one behind the other."""

    def __init__(self, name: str, parts: list[Window], promised: int | None = None, tolerance_s: float = 0.0) -> None:
        """`promised` replaces the number of frames that libsndfile says (-1: unknown)."""
        super().__init__()
        self._name, self._parts = name, parts
        self._file: soundfile.SoundFile = self._open(parts.pop(0))
        self.rate, self.channels = self._file.samplerate, self._file.channels
        self.format = f"{name}, {self._file.subtype_info}"
        told = self._file.frames if promised is None else promised
        self.frames = told if 0 <= told < _UNKNOWN and not parts else None
        self.tolerance_s = tolerance_s

    def _open(self, part: Window) -> soundfile.SoundFile:
        self._part = part
        part.seek(0)
        try:
            file = _Forward(part)
        except soundfile.LibsndfileError as error:
            part.check()
            if error.code == _UNSUPPORTED:
                raise Unsupported(f"{self._name} with a codec that libsndfile does not read") from error
            raise BadAudio(f"{self._name} that cannot be read: {_reason(error)}") from error
        part.check()
        return file

    def _decode(self) -> Samples:
        block: Samples = np.zeros((0, self.channels), np.float32)
        try:
            block = self._file.read(_BLOCK, dtype="float32", always_2d=True)
        except soundfile.LibsndfileError as error:
            self._part.check()
            self.warnings.append(f"damaged or cut off in the middle of a frame: {_reason(error)}")
        self._part.check()
        if len(block) or not self._parts:
            return block
        return self._decode() if self._next_part() else block

    def _next_part(self) -> bool:
        """Go on with the next file; one of another rate or number of channels is left out, and said so."""
        try:
            file = self._open(self._parts.pop(0))
        except BadAudio as error:
            self.warnings.append(f"a following part was left out: {error}")
            return False
        if (file.samplerate, file.channels) != (self.rate, self.channels):
            self.warnings.append(
                f"a following part was left out: it has {file.channels} channels at {file.samplerate} Hz, "
                f"the first {self.channels} at {self.rate} Hz"
            )
            return False
        self._file.close()
        self._file = file
        return True

    def close(self) -> None:
        """Free the decoder."""
        self._file.close()


def open_ogg(name: str, file: Window) -> SndfileReader:
    """All chained streams of an Ogg file."""
    starts = ogg.links(file)
    last = ogg.last_page(file)
    ends: list[int | None] = [*starts[1:], None]
    reader = SndfileReader(name, [file.part(start, end) for start, end in zip(starts, ends, strict=True)])
    if last is None or not last.last or last.offset + last.length > len(file):
        reader.warnings.append("truncated: the last Ogg page does not end the stream")
    return reader


def open_mpeg(name: str, file: Window) -> SndfileReader:
    """An MP3 (or MP1, MP2) file from its first frame to its last, whatever its Xing tag says or whether it has one."""
    found = mpeg.find_frame(file.at(0, mpeg.SEARCH + 4096))
    if not found:
        raise BadAudio(f"{name} without a frame in its first {mpeg.SEARCH} bytes")
    offset, frame = found
    first = file.at(offset, frame.length)
    tag = mpeg.parse_tag(first, frame)
    promised = -1
    if tag:
        offset += frame.length
        promised = -1 if (samples := mpeg.promised_samples(tag, frame)) is None else samples
    head = mpeg.endless_tag(first[:4], frame, tag.lame if tag else b"") if frame.layer == 3 else b""
    return SndfileReader(f"MP{frame.layer}", [file.part(offset, head=head)], promised, tolerance_s=0.1)


def _reason(error: soundfile.LibsndfileError) -> str:
    return str(error.error_string).strip().rstrip(".") or f"libsndfile error {error.code}"
