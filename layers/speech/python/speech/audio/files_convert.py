"""Turns any recording that FFmpeg reads into FLAC, which a function without FFmpeg reads. Needs `av`.

Streams from one file to the other: memory stays flat for hours of audio.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

import av

from speech.audio.files import identify
from speech.audio.files_av import TOLERANCE_S, Demuxed
from speech.audio.reader import MAX_CHANNELS, truncated
from speech.audio.resample import MIN_RATE
from speech.errors import BadAudio

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
        return _transcode(f"{kind.name}, {demuxed.codec}", demuxed, target)
    finally:
        demuxed.close()


def _transcode(name: str, source: Demuxed, target: BinaryIO) -> Converted:
    decoded = source.frames()
    first = next(decoded, None)
    if first is None:
        detail = "".join(f" ({warning})" for warning in source.warnings)
        raise BadAudio(f"{name} without a single sample of audio{detail}")
    if first.layout.nb_channels > MAX_CHANNELS:
        raise BadAudio(f"{name} with {first.layout.nb_channels} channels; expected 1 to {MAX_CHANNELS}")
    if first.sample_rate < MIN_RATE:
        raise BadAudio(f"{name} with a sample rate of {first.sample_rate} Hz; expected {MIN_RATE} Hz or more")
    rate, written = min(first.sample_rate, HIGHEST_RATE), 0
    with av.open(target, "w", format="flac") as out:
        stream = out.add_stream("flac", rate=rate, layout=first.layout, format="s16")
        resampler = av.AudioResampler(format="s16", layout=first.layout, rate=rate, frame_size=4096)
        frame: av.AudioFrame | None = first
        while frame is not None:
            frame.pts = None
            written += _encode(resampler.resample(frame), stream, out)
            frame = next(decoded, None)
        written += _encode(resampler.resample(None), stream, out)
        out.mux(stream.encode(None))
    if source.promised_s and source.promised_s - written / rate > TOLERANCE_S:
        source.warnings.append(truncated(source.promised_s, written / rate))
    return Converted(name, rate, first.layout.nb_channels, written, tuple(source.warnings))


def _encode(frames: list[av.AudioFrame], stream: av.AudioStream, out: av.container.OutputContainer) -> int:
    """Encode and write frames; how many samples per channel they held."""
    for frame in frames:
        frame.pts = None
        out.mux(stream.encode(frame))
    return sum(frame.samples for frame in frames)
