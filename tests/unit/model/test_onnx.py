"""A graph runs by the names of its inputs and says clearly when it cannot."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from speech.errors import BadBundle
from speech.model.onnx import OnnxModel


def doubling_graph() -> bytes:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "double", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, {"layers": "1"})
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def test_a_graph_runs_by_name() -> None:
    model = OnnxModel(doubling_graph())
    assert (model.inputs, model.outputs, model.metadata) == (("x",), ("y",), {"layers": "1"})
    assert model.run({"x": np.array([1, 2], np.float32)})["y"].tolist() == [2, 4]


def test_missing_and_unknown_inputs_are_named() -> None:
    with pytest.raises(ValueError, match=r"missing \['x'\], unknown \['z'\]"):
        OnnxModel(doubling_graph()).run({"z": np.zeros(1, np.float32)})


def test_what_is_not_a_graph_is_a_bad_bundle(tmp_path: object) -> None:
    with pytest.raises(BadBundle, match="no ONNX graph"):
        OnnxModel(b"not a graph")
    with pytest.raises(BadBundle, match=r"missing\.onnx is no ONNX graph"):
        OnnxModel("missing.onnx")
