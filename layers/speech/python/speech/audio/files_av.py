"""Reads what only FFmpeg decodes: MP4/M4A, WebM/Matroska, AMR, AAC and the sound of films. Needs `av` (95 MB).

The demuxer is pinned to the container that the first bytes name: FFmpeg's own guess can follow a hostile file into
playlists, which open other files and addresses.
"""

from __future__ import annotations

from collections.abc import Iterator

import av
import numpy as np

from speech.audio.pcm import Samples
from speech.audio.reader import AudioReader, check_limits
from speech.audio.resample import MAX_RATE
from speech.audio.sniff import Kind
from speech.audio.window import Window
from speech.errors import BadAudio

TOLERANCE_S = 0.2  # containers count in packets, decoders leave out what the encoder padded
_MOST_DAMAGED = 1000  # packets left out before giving up


class Demuxed:
    """The first sound track of a container, decoded and brought to one sample format."""

    rate: int  # Hz, of what `converted` gives, from its first frame on
    layout: av.AudioLayout  # likewise

    def __init__(self, kind: Kind, file: Window) -> None:
        self.warnings: list[str] = []
        self._kind = kind
        file.seek(0)
        try:
            self._container = av.open(file, "r", format=kind.demuxer, metadata_errors="replace")
        except av.FFmpegError as error:
            raise BadAudio(f"{kind.name} that cannot be read: {error.strerror}") from error
        try:
            self._stream = self._sound_track()
        except BaseException:
            self._container.close()
            raise
        self.format = f"{kind.name}, {self._stream.codec_context.name}"

    def _sound_track(self) -> av.AudioStream:
        streams = self._container.streams
        if not streams.audio:
            what = f"a video ({streams.video[0].name}) but no sound track" if streams.video else "no sound track"
            raise BadAudio(f"{self._kind.name} with {what}: there is nothing to transcribe")
        stream = streams.audio[0]
        if stream.codec_context is None:
            raise BadAudio(f"{self._kind.name} with a sound track in a codec that FFmpeg does not know")
        if len(streams.audio) > 1:
            self.warnings.append(f"{len(streams.audio)} sound tracks: only the first is read")
        return stream

    @property
    def promised_s(self) -> float | None:
        """Seconds of sound that the container promises, where it says."""
        stream = self._stream
        if stream.duration and stream.time_base:
            return float(stream.duration * stream.time_base)
        return self._container.duration / 1e6 if self._container.duration else None

    def converted(
        self, sample_format: str, highest_rate: int, frame_size: int | None = None
    ) -> Iterator[av.AudioFrame]:
        """Frames of one sample format, layout and rate, those of the first frame (HE-AAC doubles what its header says).

        A rate above `highest_rate` becomes that. BadAudio beyond the limits, or when there is no frame at all.
        """
        shape: tuple[str, str, int] | None = None
        resampler: av.AudioResampler | None = None
        for frame in self._frames():
            if shape is None:
                self.rate, self.layout = min(frame.sample_rate, highest_rate), frame.layout
                check_limits(self.format, frame.sample_rate, frame.layout.nb_channels)
            now = (frame.format.name, frame.layout.name, frame.sample_rate)
            if resampler is None or now != shape:
                yield from resampler.resample(None) if resampler else ()
                resampler = av.AudioResampler(sample_format, self.layout, self.rate, frame_size)
                shape = now
            frame.pts = None  # gaps in the time stamps are not sound
            try:
                yield from resampler.resample(frame)
            except av.FFmpegError as error:
                raise BadAudio(f"{self.format} that changes to {shape}, which cannot be converted") from error
        if resampler is None:
            detail = "".join(f" ({warning})" for warning in self.warnings)
            raise BadAudio(f"{self.format} without a single sample of audio{detail}")
        yield from resampler.resample(None)

    def _frames(self) -> Iterator[av.AudioFrame]:
        """Decoded frames; damaged packets are left out and counted in `warnings`."""
        damaged = 0
        packets = self._container.demux(self._stream)
        while damaged <= _MOST_DAMAGED:
            try:
                packet = next(packets, None)
            except av.FFmpegError as error:
                self.warnings.append(f"damaged or cut off: {error.strerror}")
                break
            if packet is None:
                break
            try:
                yield from packet.decode()
            except av.FFmpegError:
                damaged += 1
        if damaged:
            self.warnings.append(f"{damaged} damaged (or encrypted) packets were left out")

    def close(self) -> None:
        """Free demuxer and decoder."""
        self._container.close()


class AvReader(AudioReader):
    """The samples of a container's first sound track."""

    tolerance_s = TOLERANCE_S

    def __init__(self, kind: Kind, file: Window) -> None:
        super().__init__()
        self._source = Demuxed(kind, file)
        self.warnings, self.format = self._source.warnings, self._source.format
        self._blocks = self._source.converted("flt", MAX_RATE)
        try:
            self._first: av.AudioFrame | None = next(self._blocks, None)
        except BaseException:
            self.close()
            raise
        self.rate, self.channels = self._source.rate, self._source.layout.nb_channels
        promised_s = self._source.promised_s
        self.frames = round(promised_s * self.rate) if promised_s else None

    def _decode(self) -> Samples:
        frame, self._first = self._first or next(self._blocks, None), None
        if frame is None:
            return np.zeros((0, self.channels), np.float32)
        return np.asarray(frame.to_ndarray(), np.float32).reshape(-1, self.channels)

    def close(self) -> None:
        """Free the decoder."""
        self._source.close()
