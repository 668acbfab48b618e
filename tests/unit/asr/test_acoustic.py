"""The acoustic stream: any cut of the features gives the same bits, and the values are those of a plain loop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.asr.acoustic import AcousticModel, AcousticState
from speech.errors import BadBundle
from speech.model.bundle import Manifest, StateSpec
from speech.model.onnx import OnnxModel

from tests.tiny import acoustic as tiny

SILENCE = np.full(80, -2.78, np.float32)
MANIFEST = Manifest(
    schema_version=1,
    id="tiny",
    task="recognition",
    language="en-US",
    files={},
    delay_frames=tiny.DELAY,
    states=tuple(StateSpec(name, shape) for name, shape in tiny.STATES.items()),
)
ONNX = OnnxModel(tiny.build())
MODEL = AcousticModel(ONNX, MANIFEST, SILENCE)
ROUNDED = AcousticModel(ONNX, replace(MANIFEST, state_rounding="float16"), SILENCE)


def features(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.0, 1.5, (count, 80)).astype(np.float32)


def whole(model: AcousticModel, state: AcousticState, chunks: list[np.ndarray]) -> np.ndarray:
    """All log-probabilities of a stream that is pushed in chunks and flushed."""
    made = []
    for chunk in chunks:
        state = model.push(state, chunk)
        while state.ready:
            [(state, block)] = model.run([state])
            made.append(block.log_probs)
    _, block = model.flush(state)
    return np.concatenate([*made, block.log_probs])


def plain_loop(frames: np.ndarray) -> np.ndarray:
    """The tiny model by its definition, a label frame at a time, no graph and no delay."""
    matrix, bias = tiny.weights()
    padded = np.concatenate([frames, np.tile(SILENCE, (-len(frames) % 4, 1))]).astype(np.float64)
    smooth, rows = np.zeros(len(tiny.TOKENS)), []
    for four in padded.reshape(-1, 4, 80):
        smooth = tiny.DECAY * smooth + (1 - tiny.DECAY) * (four.mean(axis=0) @ matrix + bias)
        rows.append(smooth - np.log(np.exp(smooth).sum()))
    return np.array(rows)


@pytest.mark.parametrize("count", [0, 1, 4, 11, 12, 63, 64, 200])
@pytest.mark.parametrize("step", [4, 16, 128])
def test_equals_a_plain_loop_at_every_step_size_with_the_delay_taken_out(count: int, step: int) -> None:
    frames = features(count)
    got = whole(MODEL, MODEL.start(step), [frames])
    assert got.shape == (-(-count // 4), len(tiny.TOKENS))
    if count:
        np.testing.assert_allclose(got, plain_loop(frames), atol=0.5 / 64 + 1e-4)


@settings(max_examples=30, deadline=None)
@given(cuts=st.lists(st.integers(0, 300), max_size=15), rounded=st.booleans())
def test_any_cut_gives_the_same_bits(cuts: list[int], rounded: bool) -> None:
    model, frames = ROUNDED if rounded else MODEL, features(300)
    cut = whole(model, model.start(16), np.split(frames, sorted(cuts)))
    assert cut.tobytes() == whole(model, model.start(16), [frames]).tobytes()


def test_a_stream_does_not_notice_the_others_in_its_batch() -> None:
    inputs = [features(64, seed) for seed in range(5)]
    alone = [whole(MODEL, MODEL.start(16), [x]) for x in inputs]
    states = [MODEL.push(MODEL.start(16), x) for x in inputs]
    made: list[list[np.ndarray]] = [[] for _ in inputs]
    while states[0].ready:
        for i, (state, block) in enumerate(MODEL.run(states)):
            states[i] = state
            made[i].append(block.log_probs)
    for i, state in enumerate(states):
        made[i].append(MODEL.flush(state)[1].log_probs)
        assert np.concatenate(made[i]).tobytes() == alone[i].tobytes()


def test_streams_of_different_step_sizes_can_run_in_one_call() -> None:
    states = [MODEL.push(MODEL.start(step), features(32)) for step in (16, 32, 16)]
    results = MODEL.run(states)
    assert [len(block.log_probs) for _, block in results] == [4 - tiny.DELAY, 8 - tiny.DELAY, 4 - tiny.DELAY]
    assert [len(state.waiting) for state, _ in results] == [16, 0, 16]


def test_states_passed_in_are_not_changed() -> None:
    state = MODEL.push(MODEL.start(16), features(20))
    before = {name: value.copy() for name, value in state.tensors.items()}
    MODEL.run([state])
    assert all(np.array_equal(before[name], state.tensors[name]) for name in before)


def test_rounded_states_take_half_the_space_and_change_little() -> None:
    frames = features(400)
    assert {a.dtype for a in ROUNDED.start(16).tensors.values()} == {np.dtype(np.float16)}
    exact, rounded = (whole(m, m.start(16), [frames]) for m in (MODEL, ROUNDED))
    assert np.abs(exact - rounded).max() < 0.1


def test_a_graph_that_does_not_fit_the_manifest_is_refused() -> None:
    with pytest.raises(BadBundle, match=r"the graph takes \['features', 'late', 'smooth'\], the manifest says"):
        AcousticModel(ONNX, replace(MANIFEST, states=()), SILENCE)


@pytest.mark.parametrize("step", [0, -4, 6])
def test_a_step_is_a_multiple_of_four_frames(step: int) -> None:
    with pytest.raises(ValueError, match=f"positive multiple of 4, got {step}"):
        MODEL.start(step)


def test_running_too_early_and_flushing_too_early_are_mistakes() -> None:
    state = MODEL.push(MODEL.start(16), features(15))
    with pytest.raises(ValueError, match="a step takes 16 frames, only 15 wait"):
        MODEL.run([state])
    with pytest.raises(ValueError, match="whole steps before the flush"):
        MODEL.flush(MODEL.push(state, features(1)))
