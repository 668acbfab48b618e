"""Opens a recording of any supported format, known by its content: bytes in, blocks of float32 samples out.

    with open_audio(stream) as audio:
        for block in audio.blocks(16000):  # (n, channels) float32
            ...

The stream is read forwards in blocks of half a megabyte, with a look at its end where the format keeps its length or
index there, so that a ranged reader of a remote object does well. Decoders are imported when a file needs them.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import BinaryIO

from speech.audio import mp4, riff
from speech.audio.reader import AudioReader
from speech.audio.sniff import HEAD, MP4, Kind, sniff
from speech.audio.wav import WavReader, is_plain
from speech.audio.window import Window
from speech.errors import BadAudio, NeedsDecoder

__all__ = ["AudioReader", "open_audio"]


def open_audio(stream: BinaryIO, *, allow_av: bool = True) -> AudioReader:
    """A reader of the recording in a seekable file.

    Raises NeedsDecoder, naming the container, where only FFmpeg decodes it and `av` is not installed or not allowed;
    BadAudio, saying what was found and what was expected, for everything that is not audible sound in 1 to 8
    channels at 8 to 192 kHz. Errors of `stream` itself (a broken connection) come through as they are.
    """
    file, kind = identify(stream)
    reader = _reader(kind, file, allow_av)
    try:
        return reader.begin()
    except BaseException:
        reader.close()
        raise


def identify(stream: BinaryIO) -> tuple[Window, Kind]:
    """The recording without ID3 tags in front, and its container; BadAudio for what is no audio file."""
    file = Window(stream)
    if not len(file):
        raise BadAudio("the file is empty: 0 bytes, expected a recording")
    file = _behind_id3(file)
    kind = sniff(file.at(0, HEAD))
    if kind == MP4:
        mp4.check(file)
    return file, kind


def _behind_id3(file: Window) -> Window:
    """The file behind its ID3v2 tags: cover pictures make them megabytes, more than decoders look through."""
    while len(header := file.at(0, 10)) == 10 and header[:3] == b"ID3" and max(header[6:10]) < 128:
        size = header[6] << 21 | header[7] << 14 | header[8] << 7 | header[9]  # 7 bits a byte (ID3v2.4, 6.2)
        footer = 10 * (header[5] >> 4 & 1)
        if 10 + size + footer >= len(file):
            raise BadAudio(f"an ID3 tag of {size} bytes and no audio behind it; the file has {len(file)} bytes")
        file = file.part(10 + size + footer)
    return file


def _reader(kind: Kind, file: Window, allow_av: bool) -> AudioReader:
    if kind.decoder == "wav":
        wav = riff.parse(file)
        if is_plain(wav):
            return WavReader(file, wav)
        if wav.tag == riff.MP3:
            file, kind = file.part(wav.offset, wav.offset + wav.size), Kind("WAV with MP3", "mpeg", "mp3")
    if kind.decoder == "av":
        return _av_reader(kind, file, allow_av)

    from speech.audio import files_sndfile

    try:
        if kind.decoder == "ogg":
            return files_sndfile.OggReader(kind.name, file)
        if kind.decoder == "mpeg":
            return files_sndfile.open_mpeg(kind.name, file)
        return files_sndfile.SndfileReader(kind.name, file)
    except files_sndfile.Unsupported:
        return _av_reader(kind, file, allow_av)


def _av_reader(kind: Kind, file: Window, allow_av: bool) -> AudioReader:
    if not allow_av or find_spec("av") is None:
        raise NeedsDecoder(f"{kind.name}: libsndfile does not read this container, a function with FFmpeg (av) does")

    from speech.audio import files_av

    return files_av.AvReader(kind, file)
