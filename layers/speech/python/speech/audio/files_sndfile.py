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
    """The samples of a file that libsndfile decodes."""

    def __init__(self, name: str, file: Window, promised: int | None = None, tolerance_s: float = 0.0) -> None:
        """`promised` replaces the number of frames that libsndfile says (-1: unknown)."""
        super().__init__()
        self._name, self._window = name, file
        self._file = self._open(file)
        self.rate, self.channels = self._file.samplerate, self._file.channels
        self.format = f"{name}, {self._file.subtype_info}"
        told = self._file.frames if promised is None else promised
        self.frames = told if 0 <= told < _UNKNOWN else None
        self.tolerance_s = tolerance_s

    def _open(self, window: Window) -> soundfile.SoundFile:
        window.seek(0)
        try:
            file = _Forward(window)
        except soundfile.LibsndfileError as error:
            window.check()
            if error.code == _UNSUPPORTED:
                raise Unsupported(f"{self._name} with a codec that libsndfile does not read") from error
            raise BadAudio(f"{self._name} that cannot be read: {_reason(error)}") from error
        window.check()
        return file

    def _decode(self) -> Samples:
        block: Samples = np.zeros((0, self.channels), np.float32)
        try:
            block = self._file.read(_BLOCK, dtype="float32", always_2d=True)
        except soundfile.LibsndfileError as error:
            self._window.check()
            self.warnings.append(f"damaged or cut off in the middle of a frame: {_reason(error)}")
        self._window.check()
        return block

    def close(self) -> None:
        """Free the decoder."""
        self._file.close()


class OggReader(SndfileReader):
    """The samples of all chained streams of an Ogg file; libsndfile by itself plays only the first."""

    def __init__(self, name: str, file: Window) -> None:
        first, last = ogg.parse_page(file.at(0, 282), 0), ogg.last_page(file)
        super().__init__(name, file)
        self._links, self._next_at = ogg.Links(file), -1
        if first and last and first.serial != last.serial:
            self.frames = None
        if last is None or not last.last or last.offset + last.length > len(file):
            self.warnings.append("truncated: the last Ogg page does not end the stream")

    def _decode(self) -> Samples:
        block = super()._decode()
        self._walk(self._window.tell() if len(block) else len(self._window))
        return block if len(block) or self._next_at < 0 or not self._go_on() else self._decode()

    def _walk(self, to: int) -> None:
        """Look for the next link's start up to the byte `to`, without moving the decoder."""
        if self._next_at < 0:
            here = self._window.tell()
            self._next_at = self._links.walk(to)
            self._window.seek(here)

    def _go_on(self) -> bool:
        """Go on with the next link; one of another rate or number of channels ends the sound, and says so."""
        window, self._next_at = self._window.part(self._next_at), -1
        try:
            file = self._open(window)
        except BadAudio as error:
            self.warnings.append(f"a following part was left out: {error}")
            return False
        if (file.samplerate, file.channels) != (self.rate, self.channels):
            self.warnings.append(
                f"a following part was left out: it has {file.channels} channels at {file.samplerate} Hz, "
                f"the first {self.channels} at {self.rate} Hz"
            )
            file.close()
            return False
        self._file.close()
        self._file, self._window, self._links = file, window, ogg.Links(window)
        return True


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
    return SndfileReader(f"MP{frame.layer}", file.part(offset, head=head), promised, tolerance_s=0.1)


def _reason(error: soundfile.LibsndfileError) -> str:
    text = str(error.error_string).strip().rstrip(".")
    # What libsndfile says when a codec library refuses the file has nothing to do with the file.
    return f"it is damaged (libsndfile error {error.code})" if not text or "regular file" in text else text
