"""A track's blocks as samples: PCM and G.711 by themselves, AAC by a decoder that lives as long as the track.

    sound = Sound(format)
    samples = sound.hear(block.data)            # at sound.rate
    sound = Sound(format, primer=saved)         # in another process: goes on as if never stopped

A frame of AAC overlaps with the one before it. So what another process needs to go on is the last few frames: it
decodes them again and throws the samples away.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from importlib.util import find_spec

import numpy as np

from speech.audio import pcm
from speech.audio.pcm import Samples
from speech.audio.resample import MAX_RATE, MIN_RATE
from speech.errors import BadAudio, NeedsDecoder
from speech.media.formats import AudioFormat

PRIMER = 4  # frames: one overlaps, and what high-efficiency AAC carries on fades within some more
MOST_BYTES = 8192  # of a frame: AAC allows 768 for each of 8 channels


class Sound:
    """Of one track, in order."""

    def __init__(self, format: AudioFormat, primer: Iterable[bytes] = ()) -> None:
        """`primer`: that of the process that has heard the track before.

        Raises NeedsDecoder where there is no FFmpeg (`av`) to decode AAC, BadAudio for what it cannot decode.
        """
        self._format = format
        self.rate = format.rate  # Hz, of the samples given last; high-efficiency AAC has more than it declares
        self._primer: deque[bytes] = deque(maxlen=PRIMER)
        if format.encoding != "aac":
            return
        if find_spec("av") is None:
            raise NeedsDecoder(f"AAC of {format.rate} Hz needs FFmpeg (the package av), which is not installed here")
        if not MIN_RATE <= format.rate <= MAX_RATE:
            raise BadAudio(f"AAC of {format.rate} Hz, expected {MIN_RATE} to {MAX_RATE} Hz")

        from speech.audio.files_packets import AacDecoder

        self._decoder = AacDecoder(bytes.fromhex(format.config))
        self._length = round(format.milliseconds(1) * format.rate / 1000)  # samples of the last frame
        for frame in primer:
            self.hear(frame)

    @property
    def primer(self) -> tuple[bytes, ...]:
        """What another process needs to go on here; nothing for PCM and G.711."""
        return tuple(self._primer)

    def hear(self, data: bytes) -> Samples:
        """The samples (n,) of one block, the mean of its channels; a frame of AAC that is damaged is silence."""
        return self._decoded(data) if self._format.encoding == "aac" else self._plain(data)

    def _plain(self, data: bytes) -> Samples:
        kind = self._format
        samples = pcm.decode(data[: len(data) // kind.frame_bytes * kind.frame_bytes], kind.encoding)
        if kind.channels == 1:
            return samples
        mean: Samples = samples.reshape(-1, kind.channels).mean(axis=1, dtype=np.float32)
        return mean

    def _decoded(self, data: bytes) -> Samples:
        if not data:
            return np.zeros(0, np.float32)
        if len(data) <= MOST_BYTES:
            self._primer.append(data)
        found = self._decoder.decode(data)
        if found is None:
            return np.zeros(self._length, np.float32)
        samples, self.rate = found
        self._length = len(samples)
        return pcm.finite(samples)
