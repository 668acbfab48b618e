"""The acoustic model is one function, three times: PyTorch in training, ONNX as shipped, NumPy as the formula says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from speech import ssm
from speech.model.onnx import OnnxModel

from models.asr.export import RANGE, carry_halves, export_graph, largest_difference
from models.asr.model import AcousticModel, ModelConfig, ssd
from tests.parity import acoustic_reference

SMALL = ModelConfig(
    tokens=7, mels=12, frontend=6, d=16, layers=2, heads=2, head_dim=6, state=4, ffn=20, chunk=8, dropout=0.0
)
DETECTOR = replace(SMALL, tokens=2, frontend=5, d=10, layers=1, heads=3, head_dim=4, ffn=8)


def made(config: ModelConfig) -> AcousticModel:
    torch.manual_seed(3)
    model = AcousticModel(config).eval()
    for name, p in model.named_parameters():
        if name.endswith(("D", "log_A", "norm.weight", "norm_mixer.weight", "norm_ffn.weight")):
            torch.nn.init.uniform_(p, 0.3, 1.2)  # values at which a forgotten weight would show
    return model


@pytest.fixture(scope="module")
def model() -> AcousticModel:
    return made(SMALL)


@pytest.fixture(scope="module")
def detector() -> AcousticModel:
    return made(DETECTOR)


@pytest.fixture(scope="module")
def graph(model: AcousticModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graph") / "acoustic.onnx"
    export_graph(model, torch.zeros(SMALL.tokens), path)
    return path


def random_ssm(length: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(5)
    H, P, N = 3, 4, 5
    return (
        rng.normal(size=(length, H, P)), rng.uniform(0.01, 2.0, (length, H)), -rng.uniform(0.1, 3.0, H),
        rng.normal(size=(length, N)), rng.normal(size=(length, N)), rng.normal(size=H), rng.normal(size=(H, P, N)),
    )  # fmt: skip


def test_scan_equals_the_recurrence_frame_by_frame() -> None:
    x, dt, A, B, C, D, S = random_ssm(37)
    y, after = ssm.scan(x, dt, A, B, C, D, S)
    for t in range(len(x)):
        expected, S = ssm.step(x[t], dt[t], A, B[t], C[t], D, S)
        np.testing.assert_allclose(y[t], expected, atol=1e-10)
    np.testing.assert_allclose(after, S, atol=1e-10)


def test_scan_may_be_cut_anywhere() -> None:
    x, dt, A, B, C, D, S = random_ssm(40)
    whole, end = ssm.scan(x, dt, A, B, C, D, S)
    for cut in range(1, 40):
        first, middle = ssm.scan(x[:cut], dt[:cut], A, B[:cut], C[:cut], D, S)
        second, after = ssm.scan(x[cut:], dt[cut:], A, B[cut:], C[cut:], D, middle)
        np.testing.assert_allclose(np.concatenate([first, second]), whole, atol=1e-10)
        np.testing.assert_allclose(after, end, atol=1e-10)


@pytest.mark.parametrize("chunk", [1, 5, 8, 64])
def test_training_scan_equals_the_recurrence(chunk: int) -> None:
    x, dt, A, B, C, D, S = random_ssm(29)
    expected, after = ssm.scan(x, dt, A, B, C, np.zeros_like(D), S)
    batch = (torch.from_numpy(v)[None] for v in (x, dt, B, C, S))
    tx, tdt, tB, tC, tS = batch
    y, end = ssd(tx, tdt, torch.from_numpy(A), tB, tC, chunk, tS)
    np.testing.assert_allclose(y[0].numpy(), expected, atol=1e-10)
    np.testing.assert_allclose(end[0].numpy(), after, atol=1e-10)


def test_strong_decay_does_not_overflow() -> None:
    x, _, A, B, C, D, S = random_ssm(64)
    y, _ = ssm.scan(x, np.full((64, 3), 400.0), A, B, C, D, S)
    assert np.isfinite(y).all()


def test_pytorch_equals_numpy(model: AcousticModel) -> None:
    features = np.random.default_rng(1).normal(size=(48, SMALL.mels))
    weights = {k: v.double().numpy() for k, v in model.state_dict().items()}
    expected = acoustic_reference.log_probs(weights, SMALL, features)
    with torch.inference_mode():
        found, _ = model(torch.from_numpy(features).float()[None])
    np.testing.assert_allclose(found[0].numpy(), expected, atol=2e-4)


def test_exported_graph_equals_numpy_frame_by_frame(model: AcousticModel, graph: Path) -> None:
    """The graph fed 40 ms at a time, through the product's own session, against the formula on the whole."""
    features = np.random.default_rng(2).normal(size=(64, SMALL.mels)).astype(np.float32)
    weights = {k: v.double().numpy() for k, v in model.state_dict().items()}
    expected = acoustic_reference.log_probs(weights, SMALL, features.astype(np.float64))
    session = OnnxModel(graph)
    state = {name: np.zeros((1, *shape), np.float32) for name, shape in model.state_shapes().items()}
    found = []
    for t in range(0, 64, 4):
        outputs = session.run({"features": features[None, t : t + 4], **state})
        found.append(outputs["log_probs"][0])
        state = {name: outputs[f"{name}_out"] for name in state}
    np.testing.assert_allclose(np.concatenate(found), expected, atol=2e-4)


def test_exported_graph_equals_pytorch_in_uneven_chunks(model: AcousticModel, graph: Path) -> None:
    assert largest_difference(model, torch.zeros(SMALL.tokens), graph) < 1e-4


def test_a_graph_that_carries_halves_equals_one_whose_states_are_rounded_outside(
    model: AcousticModel, graph: Path, tmp_path: Path
) -> None:
    halves = onnx.load(str(graph))
    carry_halves(halves.graph)
    onnx.save(halves, str(tmp_path / "halves.onnx"))
    whole, half = OnnxModel(graph), OnnxModel(tmp_path / "halves.onnx")
    assert {half.types[name] for name in model.state_shapes()} == {np.dtype(np.float16)}
    features = np.random.default_rng(5).normal(size=(2, 64, SMALL.mels)).astype(np.float32)
    state = {name: np.zeros((2, *shape), np.float16) for name, shape in model.state_shapes().items()}
    for t in range(0, 64, 16):
        inputs = {"features": features[:, t : t + 16]}
        expected = whole.run(inputs | {name: value.astype(np.float32) for name, value in state.items()})
        found = half.run(inputs | state)
        assert found["log_probs"].tobytes() == expected["log_probs"].tobytes()
        state = {name: found[f"{name}_out"] for name in state}
        for name, value in state.items():
            assert value.tobytes() == expected[f"{name}_out"].astype(np.float16).tobytes()


def test_a_prior_is_divided_out(model: AcousticModel, tmp_path: Path) -> None:
    prior = torch.log(torch.tensor([0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]))
    export_graph(model, prior, tmp_path / "prior.onnx")
    assert largest_difference(model, prior, tmp_path / "prior.onnx") < 1e-4


def test_a_detector_in_the_same_graph_equals_numpy_frame_by_frame_and_changes_nothing_else(
    model: AcousticModel, detector: AcousticModel, graph: Path, tmp_path: Path
) -> None:
    export_graph(model, torch.zeros(SMALL.tokens), tmp_path / "both.onnx", detector)
    assert largest_difference(model, torch.zeros(SMALL.tokens), tmp_path / "both.onnx", detector) < 1e-4
    features = np.random.default_rng(4).normal(size=(64, SMALL.mels)).astype(np.float32)
    weights = {k: v.double().numpy() for k, v in detector.state_dict().items()}
    expected = acoustic_reference.log_probs(weights, DETECTOR, features.astype(np.float64))
    alone, both = OnnxModel(graph), OnnxModel(tmp_path / "both.onnx")
    shapes = model.state_shapes() | {f"speech_{name}": shape for name, shape in detector.state_shapes().items()}
    state = {name: np.zeros((1, *shape), np.float32) for name, shape in shapes.items()}
    speech, log_probs, without = [], [], []
    for t in range(0, 64, 4):
        inputs = {"features": features[None, t : t + 4], **state}
        outputs = both.run(inputs)
        without.append(alone.run({name: inputs[name] for name in alone.inputs})["log_probs"])
        speech.append(outputs["speech"][0])
        log_probs.append(outputs["log_probs"])
        state = {name: outputs[f"{name}_out"] for name in state}
    np.testing.assert_allclose(np.concatenate(speech), expected[:, 1] - expected[:, 0], atol=2e-4)
    np.testing.assert_allclose(np.concatenate(log_probs), np.concatenate(without), atol=1e-5)


def test_a_detector_of_another_delay_is_refused(model: AcousticModel, tmp_path: Path) -> None:
    other = AcousticModel(replace(DETECTOR, delay=SMALL.delay + 1))
    with pytest.raises(ValueError, match="a delay of 5 as the model: got 2, 12 and 6"):
        export_graph(model, torch.zeros(SMALL.tokens), tmp_path / "no.onnx", other)


@pytest.mark.parametrize(("which", "name"), [("model", "ssm_0"), ("detector", "speech_ssm_0")])
def test_what_loud_networks_carry_fits_float16(which: str, name: str, tmp_path: Path) -> None:
    networks = {"model": made(SMALL), "detector": made(DETECTOR)}
    loud = networks[which]
    with torch.no_grad():
        loud.blocks[0].mixer.conv_weight *= 1000.0
    export_graph(networks["model"], torch.zeros(SMALL.tokens), tmp_path / "loud.onnx", networks["detector"])
    session = OnnxModel(tmp_path / "loud.onnx")
    features = np.random.default_rng(4).normal(size=(1, 64, SMALL.mels)).astype(np.float32)
    shapes = {f"speech_{n}": shape for n, shape in networks["detector"].state_shapes().items()}
    shapes |= networks["model"].state_shapes()
    found = session.run({"features": features, **{n: np.zeros((1, *s), np.float32) for n, s in shapes.items()}})
    with torch.inference_mode():
        _, after = loud(torch.from_numpy(features))
    carried = dict(zip(loud.state_shapes(), after, strict=True))["ssm_0"].numpy()
    assert np.abs(carried).max() > np.finfo(np.float16).max
    np.testing.assert_allclose(found[f"{name}_out"] * RANGE, carried, rtol=1e-3, atol=1.0)
