"""From samples at the caller's rate to log-mel frames at the model's, as a stream that can be saved."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from speech.audio.pcm import finite
from speech.audio.resample import Resampler
from speech.errors import BadAudio, BadSnapshot
from speech.features.logmel import FloatArray, LogMel
from speech.model.state import Value

# Silence before the first sample, so that chunks of whole steps give whole steps of frames at once: the last window
# reaches 240 samples past its hop, and a resampler holds back up to 80 more.
LEAD_SAMPLES = 320
_LOUDEST = 16.0  # times full scale


class FrontEnd:
    """Of one stream: counts samples, resamples, makes features. Label frame j begins at j x 40 ms - `lead_s`."""

    def __init__(self, logmel: LogMel, rate: int) -> None:
        """`rate` in Hz. Raises BadAudio if it is not supported."""
        self._logmel = logmel
        self._resampler = Resampler(rate, logmel.rate)
        self._tail = np.zeros(LEAD_SAMPLES, np.float32)
        self.samples = 0  # received, at the caller's rate

    @property
    def rate(self) -> int:
        """Of the caller's samples, Hz."""
        return self._resampler.rate_in

    @property
    def duration_s(self) -> float:
        """Seconds of audio received."""
        return self.samples / self.rate

    @property
    def lead_s(self) -> float:
        """Seconds of silence put before the audio."""
        return LEAD_SAMPLES / self._logmel.rate

    def receive(self, samples: FloatArray) -> FloatArray:
        """Features (T, bins) of the frames that `samples` (n,) in [-1, 1] complete. Raises BadAudio if they are not."""
        samples = _checked(samples)
        self.samples += len(samples)
        return self._step(self._resampler.receive(samples))

    def finish(self) -> FloatArray:
        """The last frames: what the resampler held back, and silence up to the end of the last hop."""
        frames = self._step(self._resampler.finish())
        rest = len(self._tail) - (self._logmel.window - self._logmel.hop)  # samples that begin a hop of their own
        if rest <= 0:
            return frames
        padding = np.zeros(self._logmel.window - len(self._tail), np.float32)
        return np.concatenate([frames, self._step(padding)])

    def state(self) -> dict[str, Value]:
        """To be saved; `from_state` takes it up."""
        values: dict[str, Value] = {f"resampler_{k}": v for k, v in self._resampler.state().items()}
        return values | {"tail": self._tail, "samples": self.samples}

    @classmethod
    def from_state(cls, logmel: LogMel, values: Mapping[str, Value]) -> FrontEnd:
        """Goes on where the saved one stood. Raises BadSnapshot if something is missing."""
        try:
            resampler = {k: np.asarray(values[f"resampler_{k}"]) for k in ("buffer", "place")}
            front = cls(logmel, int(resampler["place"][0]))
            front._resampler = Resampler.from_state(resampler)
            front._tail = np.asarray(values["tail"], np.float32)
            front.samples = int(np.asarray(values["samples"]))
        except (KeyError, BadAudio) as error:
            raise BadSnapshot(f"the snapshot has no usable front end: {error}") from error
        return front

    def _step(self, samples: FloatArray) -> FloatArray:
        frames, self._tail = self._logmel.step(self._tail, samples)
        return frames


def _checked(samples: FloatArray) -> FloatArray:
    samples = np.asarray(samples)
    if samples.ndim != 1 or samples.dtype.kind != "f":
        raise BadAudio(f"expected one channel of float samples (n,), got {samples.dtype} {samples.shape}")
    samples = finite(samples.astype(np.float32, copy=False))
    if len(samples) and (peak := float(np.abs(samples).max())) > _LOUDEST:
        raise BadAudio(f"expected samples in -1 to 1, got a peak of {peak:g}: integers must be scaled first")
    return samples
