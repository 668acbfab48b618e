"""The vocoder as a stream: log-mel frames and pitch in, 24 kHz samples out. Nothing clicks where two calls meet,
because filters, phase, noise and the overlapping ends of windows are all carried on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from speech.errors import BadBundle
from speech.model.bundle import Bundle, StateSpec
from speech.model.onnx import OnnxModel
from speech.tts.acoustic import Frames, states_of
from speech.tts.excitation import HOP, ExcitationState, excite

LAG = 2  # frames by which samples lag: a window must be complete
SILENCE = float(np.log(2e-5))  # mel value of silence, the floor of the training data

Samples = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class VocoderState:
    """Of one stream."""

    tensors: Mapping[str, NDArray[Any]]
    excitation: ExcitationState
    drop: int  # frames of output that stand for nothing: the lag at the beginning
    gains: Samples  # of the frames whose samples are still owed, and of the one before them


class VocoderModel:
    """Weights only; every call takes a state and returns a new one."""

    def __init__(self, graph: OnnxModel, specs: tuple[StateSpec, ...], bands: int) -> None:
        """Raises BadBundle if the graph takes other inputs than mel, f0, harmonics, noise and the states."""
        expected = {"mel", "f0", "harmonics", "noise", *(s.name for s in specs)}
        if set(graph.inputs) != expected:
            raise BadBundle(f"the vocoder takes {sorted(graph.inputs)}, expected {sorted(expected)}")
        self._graph, self._specs, self._bands = graph, specs, bands

    @classmethod
    def load(cls, bundle: Bundle, bands: int, threads: int = 1) -> VocoderModel:
        """From `vocoder.onnx` of a bundle. Raises BadBundle."""
        return cls(OnnxModel(bundle.path("vocoder.onnx"), threads), states_of(bundle, "vocoder"), bands)

    def start(self) -> VocoderState:
        """The state before the first frame."""
        tensors = {s.name: np.zeros((1, *s.shape), np.float32) for s in self._specs}
        return VocoderState(tensors, ExcitationState(), LAG, np.ones(1, np.float32))

    def run(self, state: VocoderState, frames: Frames) -> tuple[VocoderState, Samples]:
        """Samples (300 T,) for T frames, LAG frames late; the first LAG frames of a stream give none."""
        if not len(frames.f0):
            return state, np.zeros(0, np.float32)
        excitation, harmonics, noise = excite(state.excitation, frames.f0)
        inputs = {"mel": frames.mel, "f0": frames.f0, "harmonics": harmonics, "noise": noise}
        outputs = self._graph.run({name: value[None] for name, value in inputs.items()} | dict(state.tensors))
        drop = min(state.drop, len(frames.f0))
        blocks = outputs["samples"][0].reshape(-1, HOP)[drop:]
        gains = np.concatenate([state.gains, frames.gains])
        after = VocoderState(
            {s.name: outputs[s.name + "_out"] for s in self._specs}, excitation, state.drop - drop, gains[len(blocks) :]
        )
        return after, (blocks * _ramps(gains[: len(blocks) + 1])).ravel()

    def silence(self, count: int, gain: float = 1.0) -> Frames:
        """`count` frames of silence."""
        return Frames(
            np.full((count, self._bands), SILENCE, np.float32),
            np.zeros(count, np.float32),
            np.full(count, gain, np.float32),
        )

    def flush(self, state: VocoderState) -> tuple[VocoderState, Samples]:
        """The samples still owed. They are pushed out by LAG frames of silence, which come out when speech goes on."""
        if state.drop:
            return state, np.zeros(0, np.float32)
        return self.run(state, self.silence(LAG, float(state.gains[-1])))


def _ramps(gains: Samples) -> Samples:
    """(n + 1,) -> (n, 300): from each frame's gain to the next one's, without a step."""
    rise = (np.arange(HOP, dtype=np.float32) + 1) / HOP
    return np.asarray(gains[:-1, None] + np.diff(gains)[:, None] * rise, np.float32)
