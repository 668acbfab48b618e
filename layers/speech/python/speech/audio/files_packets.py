"""Decodes AAC frame by frame, as a live stream brings it without a container. Needs `av` (95 MB)."""

from __future__ import annotations

import av
import numpy as np

from speech.audio.pcm import Samples
from speech.errors import BadAudio


class AacDecoder:
    """One track. A frame's samples come with the frame itself: nothing is held back."""

    def __init__(self, config: bytes) -> None:
        """`config` is the track's AudioSpecificConfig. Raises BadAudio where FFmpeg cannot decode such a track."""
        self._context = av.CodecContext.create("aac", "r")
        self._context.extradata = config
        try:
            self._context.open()
        except av.FFmpegError as error:
            raise BadAudio(f"AAC with the configuration {config[:16].hex()}: {error.strerror}") from error

    def decode(self, frame: bytes) -> tuple[Samples, int] | None:
        """(samples (n,), the mean of all channels; their rate in Hz) of a frame (none is empty); None if it is bad."""
        try:
            decoded = self._context.decode(av.Packet(frame))
        except (av.FFmpegError, EOFError):
            return None
        parts = [np.asarray(one.to_ndarray(), np.float32).mean(axis=0, dtype=np.float32) for one in decoded]
        return (np.concatenate(parts), decoded[0].sample_rate) if parts else None
