"""What every decoder of a recording offers: its format, and its samples block by block, memory flat for hours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from speech.audio.pcm import finite
from speech.audio.resample import MAX_RATE, MIN_RATE
from speech.errors import BadAudio

Samples = NDArray[np.float32]

MAX_CHANNELS = 8


class AudioReader(ABC):
    """A recording that is being decoded, forwards only. The caller's file stays open when the reader is closed."""

    rate: int  # Hz
    channels: int
    format: str  # for people: "WAV, pcm_s16le"
    frames: int | None = None  # what the file promises; None: it does not say. A truncated one delivers fewer
    warnings: list[str]  # grows while decoding: what was truncated, damaged or left out
    position: int = 0  # frames delivered or skipped so far
    tolerance_s: float = 0.0  # how much may be missing at the end before the file counts as truncated

    def __init__(self) -> None:
        self.warnings = []
        self._pending: Samples | None = None
        self._ended = False

    @abstractmethod
    def _decode(self) -> Samples:
        """The next samples (n, channels), any n; n is 0 only at the end."""

    def close(self) -> None:  # noqa: B027 (a reader without a decoder of its own has nothing to free)
        """Free the decoder."""

    def begin(self) -> Self:
        """Check the limits and decode the first samples: an audio file without audio is refused, never empty."""
        check_limits(self.format, self.rate, self.channels)
        self._pending = self._decode()
        if not len(self._pending):
            detail = "".join(f" ({warning})" for warning in self.warnings)
            raise BadAudio(f"{self.format} without a single sample of audio{detail}")
        return self

    def read(self, frames: int) -> Samples:
        """The next samples (n, channels): n is `frames`, less only at the end, 0 behind it."""
        parts: list[Samples] = []
        missing = frames
        while missing > 0 and not self._ended:
            block = self._decode() if self._pending is None else self._pending
            self._pending = None
            if not len(block):
                self._end()
                break
            parts.append(block[:missing])
            if len(block) > missing:
                self._pending = block[missing:]
            missing -= len(parts[-1])
            self.position += len(parts[-1])
        return finite(np.concatenate(parts) if parts else np.zeros((0, self.channels), np.float32))

    def blocks(self, frames: int) -> Iterator[Samples]:
        """Blocks (frames, channels) to the end; the last one may be shorter."""
        while len(block := self.read(frames)):
            yield block

    def skip(self, frames: int) -> int:
        """Go forward over `frames`, to take up a recording where it was left; how many there were to skip.

        Decodes what it skips, so that codecs with memory go on exactly as if never left.
        """
        start = self.position
        while (left := frames - (self.position - start)) > 0 and len(self.read(min(left, self.rate))):
            pass
        return self.position - start

    def _end(self) -> None:
        """Notice, once, that less came than was promised."""
        self._ended = True
        there_s = self.position / self.rate
        if self.frames and self.frames / self.rate - there_s > self.tolerance_s:
            self.warnings.append(truncated(self.frames / self.rate, there_s))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def check_limits(name: str, rate: int, channels: int) -> None:
    """BadAudio, with the numbers, beyond 1 to 8 channels or 8 to 192 kHz."""
    if not 1 <= channels <= MAX_CHANNELS:
        raise BadAudio(f"{name} with {channels} channels; expected 1 to {MAX_CHANNELS}")
    if not MIN_RATE <= rate <= MAX_RATE:
        raise BadAudio(f"{name} with a sample rate of {rate} Hz; expected {MIN_RATE} to {MAX_RATE} Hz")


def truncated(promised_s: float, there_s: float) -> str:
    """The warning for a recording that is shorter than it promises."""
    return f"truncated: the header promises {promised_s:.1f} s, {there_s:.1f} s are there"
