"""One ONNX graph, ready to run on the CPU: the only place that imports onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from speech.errors import BadBundle

Array = NDArray[Any]

_FATAL_ONLY = 4
_TYPES = {"tensor(float16)": "float16", "tensor(int64)": "int64"}


class OnnxModel:
    """An inference session with named inputs and outputs. Safe to share between streams: it holds weights only."""

    def __init__(self, source: str | Path | bytes, threads: int = 1) -> None:
        """Load a graph from a file or from its bytes. Raises BadBundle if onnxruntime cannot read it."""
        data = source if isinstance(source, bytes) else str(source)
        try:
            self._session = ort.InferenceSession(data, _options(threads), providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime raises a different class for each way of being unreadable
            name = "the graph given as bytes" if isinstance(source, bytes) else str(source)
            raise BadBundle(f"{name} is no ONNX graph that onnxruntime {ort.__version__} can load: {error}") from error
        self.inputs: tuple[str, ...] = tuple(i.name for i in self._session.get_inputs())
        types = {i.name: np.dtype(_TYPES.get(i.type, "float32")) for i in self._session.get_inputs()}
        self.types: Mapping[str, np.dtype[Any]] = types  # of the inputs
        self.outputs: tuple[str, ...] = tuple(o.name for o in self._session.get_outputs())

    @property
    def metadata(self) -> dict[str, str]:
        """The hyper-parameters that the exporter wrote into the graph."""
        return dict(self._session.get_modelmeta().custom_metadata_map)

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """All outputs by name. Raises ValueError naming the inputs that are missing or unknown."""
        if set(inputs) != set(self.inputs):
            missing, unknown = sorted(set(self.inputs) - set(inputs)), sorted(set(inputs) - set(self.inputs))
            raise ValueError(f"the graph takes {list(self.inputs)}: missing {missing}, unknown {unknown}")
        results: list[Array] = self._session.run(None, dict(inputs))
        return dict(zip(self.outputs, map(np.asarray, results), strict=True))


def _options(threads: int) -> ort.SessionOptions:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = _FATAL_ONLY
    # A thread that spins between steps burns the core that the other streams need.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    return options
