"""Reads WAV files of PCM, float, mu-law and A-law by itself, so that wrong or missing sizes do no harm."""

from __future__ import annotations

from speech.audio import pcm, riff
from speech.audio.pcm import Samples
from speech.audio.reader import AudioReader
from speech.audio.window import Window
from speech.errors import BadAudio

_PCM = {1: "pcm_u8", 2: "pcm_s16le", 3: "pcm_s24le", 4: "pcm_s32le"}
_FLOAT = {4: "pcm_f32le", 8: "pcm_f64le"}
_ENCODINGS = {riff.PCM: _PCM, riff.FLOAT: _FLOAT, riff.MULAW: {1: "pcm_mulaw"}, riff.ALAW: {1: "pcm_alaw"}}
_BLOCK = 1 << 16  # bytes decoded at a time


class WavReader(AudioReader):
    """The samples of an uncompressed or G.711 WAV file."""

    def __init__(self, file: Window, wav: riff.Wav) -> None:
        super().__init__()
        sample_bytes = wav.frame_bytes // max(1, wav.channels)
        encoding = _ENCODINGS[wav.tag].get(sample_bytes)
        if encoding is None:
            kind = "floats" if wav.tag == riff.FLOAT else "samples"
            raise BadAudio(f"WAV with {kind} of {sample_bytes} bytes (format {wav.tag}), which no WAV format has")
        self._file, self._wav, self._encoding = file, wav, encoding
        self.rate, self.channels = wav.rate, wav.channels
        self.format = f"WAV, {encoding}"
        self.frames = wav.size // wav.frame_bytes
        self.warnings = list(wav.warnings)
        self._next = 0  # frame to decode next

    def _decode(self) -> Samples:
        frame_bytes = self._wav.frame_bytes
        count = min(max(1, _BLOCK // frame_bytes), (self.frames or 0) - self._next)
        data = self._file.at(self._wav.offset + self._next * frame_bytes, count * frame_bytes)
        self._next += count
        return pcm.decode(data, self._encoding).reshape(-1, self.channels)

    def skip(self, frames: int) -> int:
        """Go forward over `frames` without reading them; how many there were to skip."""
        skipped = min(frames, (self.frames or 0) - self.position)
        self.position += skipped
        self._next, self._pending = self.position, None
        return skipped


def is_plain(wav: riff.Wav) -> bool:
    """Whether WavReader reads this format."""
    return wav.tag in _ENCODINGS
