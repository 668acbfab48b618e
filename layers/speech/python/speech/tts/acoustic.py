"""The acoustic model as a stream: symbols of a clause in, log-mel frames and pitch out, its state carried between.

`encoder.onnx` reads a clause, a long one in windows, and `decoder.onnx` goes through its units of 25 ms in steps. Steps
begin with the window and have one size, so that the caller's cuts do not show in a single bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from speech.errors import BadBundle
from speech.model.bundle import Bundle, StateSpec
from speech.model.onnx import OnnxModel
from speech.tts.plan import CONTEXT, Plan
from speech.tts.units import FRAMES, places, whole_units

STEP = 4  # units, 100 ms

Array = NDArray[Any]
State = Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Frames:
    """A stretch of speech before it is sound: T frames of 12.5 ms."""

    mel: NDArray[np.float32]  # (T, bands) natural log of amplitude
    f0: NDArray[np.float32]  # (T,) Hz, 0 where unvoiced
    gains: NDArray[np.float32]  # (T,) factors of amplitude


class AcousticModel:
    """Weights only; every call takes states and returns new ones."""

    def __init__(self, encoder: OnnxModel, decoder: OnnxModel, specs: tuple[StateSpec, ...]) -> None:
        """`specs` are the decoder's states. Raises BadBundle if the graphs take other inputs."""
        for graph, expected in (
            (encoder, {"tokens", "voice"}),
            (decoder, {"units", "place", "voice", "semitones", *(s.name for s in specs)}),
        ):
            if set(graph.inputs) != expected:
                raise BadBundle(f"a graph takes {sorted(graph.inputs)}, expected {sorted(expected)}")
        self._encoder, self._decoder, self._specs = encoder, decoder, specs

    @classmethod
    def load(cls, bundle: Bundle, threads: int = 1) -> AcousticModel:
        """From `encoder.onnx` and `decoder.onnx` of a bundle. Raises BadBundle."""
        encoder, decoder = (OnnxModel(bundle.path(f"{name}.onnx"), threads) for name in ("encoder", "decoder"))
        return cls(encoder, decoder, states_of(bundle, "decoder"))

    def start(self) -> State:
        """The decoder's state before a sentence."""
        return {s.name: np.zeros((1, *s.shape), np.float32) for s in self._specs}

    def read(
        self, plan: Plan, voice: NDArray[np.float32], lead_units: int, window: range
    ) -> tuple[Array, NDArray[np.int64]]:
        """Vectors (L, d) and durations in units (L,) of a clause's symbols in `window`, read with CONTEXT around it.

        `lead_units`: of a pad in front of a sentence.
        """
        low = max(0, window.start - CONTEXT)
        outputs = self._encoder.run({"tokens": plan.tokens[None, low : window.stop + CONTEXT], "voice": voice[None]})
        inside = slice(window.start - low, window.stop - low)
        units = whole_units(outputs["log_units"][0][inside], plan.rates[window.start : window.stop])
        if plan.begins and not window.start:
            units[0] = lead_units
        return outputs["vectors"][0][inside], units

    def speak(
        self,
        state: State,
        plan: Plan,
        vectors: Array,
        units: NDArray[np.int64],
        voice: NDArray[np.float32],
        begin: int = 0,
    ) -> Iterator[tuple[State, Frames]]:
        """The frames of a part of a clause, STEP units at a time, each with the state after it.

        `begin`: the unit to go on with, a multiple of STEP, where `state` is the one before it.
        """
        symbol, place = np.repeat(np.arange(len(units)), units), places(units)
        for first in range(begin, len(symbol), STEP):
            chosen = symbol[first : first + STEP]
            outputs = self._decoder.run(
                {
                    "units": vectors[chosen][None],
                    "place": place[first : first + STEP][None],
                    "voice": voice[None],
                    "semitones": plan.semitones[chosen][None],
                    **state,
                }
            )
            state = {s.name: outputs[s.name + "_out"] for s in self._specs}
            yield state, Frames(outputs["mel"][0], outputs["f0"][0], np.repeat(plan.gains[chosen], FRAMES))


def states_of(bundle: Bundle, graph: str) -> tuple[StateSpec, ...]:
    """The states of one graph: the manifest lists those of all, as `graph.state`."""
    prefix = f"{graph}."
    specs = [s for s in bundle.manifest.states if s.name.startswith(prefix)]
    return tuple(StateSpec(s.name.removeprefix(prefix), s.shape, s.dtype) for s in specs)
