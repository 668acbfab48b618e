"""A hand-made acoustic model that hears tones as phones, as an ONNX graph of a few kilobytes.

It keeps the contract of the trained model (named states, causal, output delayed by some label frames, any batch and
chunk length), so the tests of the recogniser can assert real words and times without its weights.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BINS = 80
DELAY = 3  # label frames
DECAY = 0.3  # of the smoothing state, a label frame
TONES = {"k": 400.0, "a": 700.0, "t": 1100.0, "d": 1700.0, "o": 2300.0, "g": 3100.0}  # phone -> Hz
TOKENS = ("<b>", *TONES)
STATES = {"smooth": (len(TOKENS),), "late": (DELAY, len(TOKENS))}  # without the batch axis


def tone_bin(hz: float) -> int:
    """The mel bin whose centre is nearest to a frequency."""
    edges = np.linspace(1127 * np.log1p(20 / 700), 1127 * np.log1p(7600 / 700), BINS + 2)
    return int(np.abs(edges[1:-1] - 1127 * np.log1p(hz / 700)).argmin())


def weights() -> tuple[np.ndarray, np.ndarray]:
    """(bins, tokens) and (tokens,): a phone's score is its bin less the mean of all bins; the blank's is 0."""
    matrix = np.full((BINS, len(TOKENS)), -4.0 / BINS, np.float32)
    bias = np.full(len(TOKENS), -8.0, np.float32)
    matrix[:, 0], bias[0] = 0.0, 0.0
    for token, hz in enumerate(TONES.values(), 1):
        matrix[tone_bin(hz), token] += 4.0
    return matrix, bias


def build() -> bytes:
    """The serialised graph. L = T / 4 label frames; the smoothing is h_j = a h_{j-1} + (1 - a) x_j, by one product.

    Unrolled over a chunk: h = M x + p h_0 with M[i, j] = (1 - a) a^(i - j) for j <= i and p[i] = a^(i + 1).
    """
    matrix, bias = weights()
    constants = {
        "matrix": matrix, "bias": bias, "by_four": np.array([0, -1, 4, BINS]), "zero": np.int64(0), "one": np.int64(1),
        "axis_0": np.array([0]), "axis_1": np.array([1]), "end": np.array([2**31]), "last_one": np.array([-1]),
        "last_few": np.array([-DELAY]), "ln_a": np.float32(np.log(DECAY)), "gain": np.float32(1 - DECAY),
        "lowest": np.float32(-1e4), "one_f": np.float32(1),
    }  # fmt: skip
    node = helper.make_node
    nodes = [
        node("Reshape", ["features", "by_four"], ["fours"]),  # (B, L, 4, bins)
        node("ReduceMean", ["fours"], ["label_frames"], axes=[2], keepdims=0),
        node("MatMul", ["label_frames", "matrix"], ["product"]),
        node("Add", ["product", "bias"], ["scores"]),  # (B, L, tokens)
        node("Shape", ["scores"], ["shape"]),
        node("Gather", ["shape", "one"], ["length"]),
        node("Range", ["zero", "length", "one"], ["steps"]),
        node("Unsqueeze", ["steps", "axis_1"], ["rows"]),
        node("Unsqueeze", ["steps", "axis_0"], ["columns"]),
        node("Sub", ["rows", "columns"], ["ages"]),
        node("Cast", ["ages"], ["ages_f"], to=TensorProto.FLOAT),
        node("Less", ["ages", "zero"], ["future"]),
        node("Mul", ["ages_f", "ln_a"], ["log_decay"]),
        node("Where", ["future", "lowest", "log_decay"], ["log_masked"]),
        node("Exp", ["log_masked"], ["decay"]),
        node("MatMul", ["decay", "scores"], ["summed"]),
        node("Mul", ["summed", "gain"], ["fed"]),
        node("Cast", ["rows"], ["rows_f"], to=TensorProto.FLOAT),
        node("Add", ["rows_f", "one_f"], ["since"]),
        node("Mul", ["since", "ln_a"], ["log_since"]),
        node("Exp", ["log_since"], ["faded"]),  # (L, 1)
        node("Unsqueeze", ["smooth", "axis_1"], ["before"]),  # (B, 1, tokens)
        node("Mul", ["faded", "before"], ["carried"]),
        node("Add", ["fed", "carried"], ["smoothed"]),
        node("Slice", ["smoothed", "last_one", "end", "axis_1"], ["last"]),
        node("Squeeze", ["last", "axis_1"], ["smooth_out"]),
        node("Concat", ["late", "smoothed"], ["delayed"], axis=1),
        node("Slice", ["delayed", "last_few", "end", "axis_1"], ["late_out"]),
        node("Slice", ["delayed", "axis_0", "last_few", "axis_1"], ["logits"]),
        node("LogSoftmax", ["logits"], ["log_probs"], axis=-1),
    ]
    shapes = {"features": ("T", BINS), **STATES}
    outputs = {"log_probs": ("L", len(TOKENS)), **{name + "_out": shape for name, shape in STATES.items()}}
    graph = helper.make_graph(
        nodes,
        "tones",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["B", *s]) for n, s in shapes.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["B", *s]) for n, s in outputs.items()],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString())
