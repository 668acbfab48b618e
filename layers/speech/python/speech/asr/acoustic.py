"""The acoustic model as a stream: log-mel frames in, phone log-probabilities out, constant-size state between.

The ONNX graph takes `features` (B, T, bins) with T a multiple of 4 and each state of the manifest (B, ...), and gives
`log_probs` (B, T / 4, tokens) and `<state>_out`; states are float32 or float16. It is causal: output frame j is about
label frame j - delay, so the first `delay` outputs of a stream are dropped and the end is flushed with the features of
silence. A graph that holds a speech detector too gives its log odds of speech, `speech` (B, T / 4), of the same frames.

Frames run in steps of a fixed size, chosen per stream: rounding in matrix products depends on the step's length, not
on the batch beside it (measured: equal bits for 1, 3 and 8 streams), so how the caller cuts the audio cannot show.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from speech.asr.evidence import Evidence, evidence
from speech.errors import BadBundle
from speech.features.logmel import FloatArray
from speech.model.bundle import Bundle, Manifest
from speech.model.onnx import OnnxModel

STRIDE = 4  # feature frames (10 ms) for one label frame (40 ms)
LIVE_STEP = 16  # feature frames, 160 ms: latency
FILE_STEP = 256  # feature frames, 2.56 s: a third of the time per second of audio that live steps take
_PER_NAT = 64.0  # log-probabilities are rounded to 1/64, so that noise of 1e-5 from other step sizes rarely shows

Array = NDArray[Any]


@dataclass(frozen=True)
class AcousticState:
    """Of one stream: the network's states, the frames that wait for a whole step, and the outputs still to drop."""

    step_frames: int  # feature frames in one run of the network, a multiple of STRIDE
    tensors: Mapping[str, Array]  # by name, without the batch axis; float16 if the manifest rounds them
    waiting: FloatArray  # (fewer than step_frames after running, bins)
    drop: int  # label frames

    @property
    def ready(self) -> bool:
        """Whether a whole step of frames waits."""
        return len(self.waiting) >= self.step_frames


class Block(NamedTuple):
    """What was heard in some label frames of one stream."""

    log_probs: FloatArray  # (frames, tokens)
    speech: Evidence  # (frames,), zero from a graph without a detector

    def part(self, start: int, stop: int) -> Block:
        """Some of the frames."""
        return Block(self.log_probs[start:stop], self.speech[start:stop])


class AcousticModel:
    """Weights only; every call takes states and returns new ones."""

    def __init__(self, model: OnnxModel, manifest: Manifest, silence: FloatArray) -> None:
        """`silence`: (bins,) the features of digital silence, which flush the look-ahead at the end of a stream."""
        expected = {"features", *(s.name for s in manifest.states)}
        if set(model.inputs) != expected:
            raise BadBundle(f"the graph takes {sorted(model.inputs)}, the manifest says {sorted(expected)}")
        self._model, self._silence = model, silence
        self._specs = manifest.states
        self.detects = "speech" in model.outputs  # whether the graph tells speech from other sounds
        self._delay = manifest.delay_frames
        self._kept = np.dtype(np.float16 if manifest.state_rounding == "float16" else np.float32)

    @classmethod
    def load(cls, bundle: Bundle, silence: FloatArray, threads: int = 1) -> AcousticModel:
        """From `acoustic.onnx` of a bundle. Raises BadBundle if its inputs are not those of the manifest."""
        return cls(OnnxModel(bundle.path("acoustic.onnx"), threads), bundle.manifest, silence)

    def start(self, step_frames: int) -> AcousticState:
        """The state before the first frame. `step_frames` must be a positive multiple of STRIDE."""
        if step_frames <= 0 or step_frames % STRIDE:
            raise ValueError(f"step_frames must be a positive multiple of {STRIDE}, got {step_frames}")
        tensors = {s.name: np.zeros(s.shape, self._kept) for s in self._specs}
        return AcousticState(step_frames, tensors, np.zeros((0, len(self._silence)), np.float32), self._delay)

    def push(self, state: AcousticState, features: FloatArray) -> AcousticState:
        """`state` with features (T, bins) appended to those that wait; nothing is computed."""
        return replace(state, waiting=np.concatenate([state.waiting, features])) if len(features) else state

    def run(self, states: Sequence[AcousticState]) -> list[tuple[AcousticState, Block]]:
        """One step for each stream, which must be ready: the new state and what was heard.

        Streams of the same step size share one run of the network. Frames are step_frames / 4 less what is dropped.
        """
        groups: dict[int, list[int]] = defaultdict(list)
        for i, state in enumerate(states):
            if not state.ready:
                raise ValueError(f"a step takes {state.step_frames} frames, only {len(state.waiting)} wait")
            groups[state.step_frames].append(i)
        results: dict[int, tuple[AcousticState, Block]] = {}
        for frames, members in groups.items():
            results |= zip(members, self._run_batch([states[i] for i in members], frames), strict=True)
        return [results[i] for i in range(len(states))]

    def flush(self, state: AcousticState) -> tuple[AcousticState, Block]:
        """The outputs still owed at the end of a stream, in one run: what waits, then silence for the look-ahead."""
        if state.ready:
            raise ValueError("run the whole steps before the flush")
        frames = (-(-len(state.waiting) // STRIDE) + self._delay) * STRIDE
        if frames == 0:
            return state, Block(np.zeros((0, 0), np.float32), np.zeros(0, np.int8))
        padding = np.broadcast_to(self._silence, (frames - len(state.waiting), len(self._silence)))
        return self._run_batch([self.push(state, padding)], frames)[0]

    def _run_batch(self, states: Sequence[AcousticState], frames: int) -> list[tuple[AcousticState, Block]]:
        inputs = {"features": np.stack([s.waiting[:frames] for s in states])}
        for spec in self._specs:
            kept = np.stack([s.tensors[spec.name] for s in states])
            inputs[spec.name] = kept.astype(self._model.types[spec.name], copy=False)
        outputs = self._model.run(inputs)
        log_probs = np.round(outputs["log_probs"] * np.float32(_PER_NAT)) / np.float32(_PER_NAT)
        speech = evidence(outputs["speech"]) if self.detects else np.zeros(log_probs.shape[:2], np.int8)
        after = {s.name: outputs[s.name + "_out"].astype(self._kept, copy=False) for s in self._specs}
        results = []
        for i, state in enumerate(states):
            drop = min(state.drop, log_probs.shape[1])
            tensors = {name: values[i] for name, values in after.items()}
            waiting = state.waiting[frames:].copy()
            new = AcousticState(state.step_frames, tensors, waiting, state.drop - drop)
            results.append((new, Block(log_probs[i, drop:], speech[i, drop:])))
        return results
