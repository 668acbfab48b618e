"""Tracks side by side on one clock: sound with times in, frames with a sample of every track out, gaps as silence.

tape = Tape(8000, 2)
tape.put(0, at_ms, samples, rate)           # a track's sound, in order
for frames in tape.take(until_ms): ...      # (n, 2): what lies before, once nothing more of it can come
for frames in tape.finish(): ...
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from speech.audio.pcm import Samples
from speech.audio.resample import Resampler

DRIFT_MS = 20  # stated times within this go on without a seam, as the recogniser hears them
PIECE_S = 30  # of frames at a time


class _Lane:
    """One track at the rate of the tape."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._ready: deque[Samples] = deque()
        self._given = 0  # samples that were taken
        self._made = 0  # samples taken or ready
        self._end_ms = 0.0  # by stated times: of what was put
        self._resampler: Resampler | None = None  # while sound goes on without a seam

    @property
    def made(self) -> int:
        """Samples up to which there is sound, or silence before it."""
        return self._made

    def put(self, at_ms: float, samples: Samples, rate: int) -> None:
        seam = self._resampler is None or self._resampler.rate_in != rate
        if seam or abs(at_ms - self._end_ms) > DRIFT_MS:
            self.flush()
            self._place(round(at_ms * self._rate / 1000))
            # What would overlap is left out: of a clock that was set back, or that is slower than the samples.
            late = max(0, round((self._made / self._rate - at_ms / 1000) * rate))
            if late >= len(samples):
                return
            samples, at_ms = samples[late:], at_ms + 1000 * late / rate
            self._resampler, self._end_ms = Resampler(rate, self._rate), at_ms
        assert self._resampler is not None
        self._add(self._resampler.receive(samples))
        self._end_ms += 1000 * len(samples) / rate

    def flush(self) -> None:
        """What was put last is followed by something else, or by nothing."""
        if self._resampler is not None:
            self._add(self._resampler.finish())
            self._resampler = None

    def take(self, until: int) -> Samples:
        """The samples before `until`, from where the last ones ended."""
        if self._made < until:
            self.flush()
            self._place(until)
        parts: list[Samples] = []
        while self._given < until:
            part = self._ready.popleft()
            if len(part) > until - self._given:
                self._ready.appendleft(part[until - self._given :])
                part = part[: until - self._given]
            parts.append(part)
            self._given += len(part)
        return np.concatenate(parts) if parts else np.zeros(0, np.float32)

    def _place(self, at: int) -> None:
        """Silence up to a sample, if that is still to come."""
        self._add(np.zeros(max(0, at - self._made), np.float32))

    def _add(self, samples: Samples) -> None:
        if len(samples):
            self._ready.append(samples)
            self._made += len(samples)


class Tape:
    """So many tracks. How the sound is cut into calls changes nothing; memory is what was put and not taken."""

    def __init__(self, rate: int, tracks: int) -> None:
        self.rate = rate  # Hz
        self._lanes = [_Lane(rate) for _ in range(tracks)]
        self._given = 0  # frames

    @property
    def given_s(self) -> float:
        """Seconds of frames that were taken."""
        return self._given / self.rate

    def put(self, track: int, at_ms: float, samples: Samples, rate: int) -> None:
        """Sound (n,) of a track that begins at `at_ms`; what lies before its last sound, or before 0, is left out.

        Raises BadAudio for a rate that cannot be resampled.
        """
        self._lanes[track].put(at_ms, samples, rate)

    def take(self, until_ms: float) -> Iterator[NDArray[np.float32]]:
        """Frames (n, tracks) before `until_ms`; sound of before that is no longer taken in."""
        yield from self._frames(round(until_ms * self.rate / 1000))

    def finish(self) -> Iterator[NDArray[np.float32]]:
        """The rest, up to the end of the longest track."""
        for lane in self._lanes:
            lane.flush()
        yield from self._frames(max((lane.made for lane in self._lanes), default=0))

    def _frames(self, until: int) -> Iterator[NDArray[np.float32]]:
        while self._given < until:
            piece = min(until, self._given + PIECE_S * self.rate)
            yield np.stack([lane.take(piece) for lane in self._lanes], axis=1)
            self._given = piece
