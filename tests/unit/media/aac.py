"""AAC as a producer sends it: frames without ADTS, each with the time at which it is to be heard."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import av
import numpy as np
from numpy.typing import NDArray
from speech.media.events import Track

FRAME = 1024  # samples


@dataclass(frozen=True)
class Encoded:
    """A recording as AAC; FFmpeg's encoder puts a frame before the first sample, which is at time 0."""

    track: Track
    frames: list[bytes]
    rate: int

    def at_ms(self, index: int) -> int:
        """When a frame is to be heard, in ms behind the first of all."""
        return round(1000 * index * FRAME / self.rate)


def encoded(samples: NDArray[np.float32], rate: int, number: int = 1, name: str = "", channels: int = 1) -> Encoded:
    """The same samples (n,) on every channel."""
    layout = {1: "mono", 2: "stereo"}[channels]
    context = av.CodecContext.create("aac", "w")
    context.sample_rate, context.layout, context.format = rate, layout, "fltp"
    context.bit_rate, context.time_base = 48_000, Fraction(1, rate)
    context.open()
    packets, padded = [], np.pad(samples, (0, -len(samples) % FRAME)).astype(np.float32)
    for at in range(0, len(padded), FRAME):
        frame = av.AudioFrame.from_ndarray(np.tile(padded[at : at + FRAME], (channels, 1)), "fltp", layout)
        frame.rate, frame.pts, frame.time_base = rate, at, Fraction(1, rate)
        packets += context.encode(frame)
    packets += context.encode(None)
    track = Track(number, "A_AAC", float(rate), channels, name, bytes(context.extradata or b""))
    return Encoded(track, [bytes(packet) for packet in packets], rate)
