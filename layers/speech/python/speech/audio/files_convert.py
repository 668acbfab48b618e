"""Turns any recording that FFmpeg reads into FLAC, which a function without FFmpeg reads. Needs `av`.

Streams from one file to the other: memory stays flat for hours of audio.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO

import av

from speech.audio.files import identify
from speech.audio.files_av import TOLERANCE_S, Demuxed
from speech.audio.reader import truncated

HIGHEST_RATE = 48_000  # Hz; what lies above carries no speech


@dataclass(frozen=True, slots=True)
class Converted:
    """What `transcode_to_flac` wrote."""

    format: str  # of the source, for people: "MP4, aac"
    rate: int  # Hz
    channels: int
    frames: int
    warnings: tuple[str, ...]  # what the source lacked, or what was left out


def transcode_to_flac(source: BinaryIO, target: BinaryIO) -> Converted:
    """Write the sound of `source` (seekable) to `target` (seekable, writable) as 16-bit FLAC.

    Channels stay (up to 8), the rate stays up to 48 kHz and becomes 48 kHz above. BadAudio as from `open_audio`.
    """
    file, kind = identify(source)
    demuxed = Demuxed(kind, file)
    try:
        return _transcode(demuxed, target)
    finally:
        demuxed.close()


def _transcode(source: Demuxed, target: BinaryIO) -> Converted:
    frames, written = source.converted("s16", HIGHEST_RATE, frame_size=4096), 0
    first = next(frames, None)  # tells rate and layout
    with av.open(target, "w", format="flac") as out:
        stream = out.add_stream("flac", rate=source.rate, layout=source.layout, format="s16")
        for frame in chain([first] if first else [], frames):
            frame.pts = None
            written += frame.samples
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    there_s = written / source.rate
    if source.promised_s and source.promised_s - there_s > TOLERANCE_S:
        source.warnings.append(truncated(source.promised_s, there_s))
    return Converted(source.format, source.rate, source.layout.nb_channels, written, tuple(source.warnings))
