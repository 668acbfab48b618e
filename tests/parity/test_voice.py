"""Acoustic model and vocoder are one function each: PyTorch in training, ONNX as shipped, NumPy as the formula says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from speech.model.onnx import OnnxModel
from speech.tts import symbols
from speech.tts.excitation import ExcitationState, excite

from models.tts.acoustic import Acoustic, AcousticConfig, Decoder
from models.tts.export import export_decoder, export_encoder, export_vocoder, rounded
from models.tts.mel import envelope, log_mel
from models.tts.vocoder import WINDOW, Vocoder, VocoderConfig
from tests.parity import acoustic_reference, vocoder_reference
from tests.parity.acoustic_reference import rms_norm

SMALL = AcousticConfig(d=12, heads=2, head_dim=6, state=4, ffn=20, encoder=2, prosody=1, decoder=2, voices=3, voice=5)
Weights = dict[str, np.ndarray]


def shaken(model: torch.nn.Module) -> None:
    """Values at which a forgotten weight would show, where training begins with ones and zeros."""
    for name, p in model.named_parameters():
        if p.ndim == 1:
            torch.nn.init.uniform_(p, 0.3, 1.2) if "bias" not in name else torch.nn.init.uniform_(p, -0.5, 0.5)


@pytest.fixture(scope="module")
def acoustic() -> Acoustic:
    torch.manual_seed(3)
    model = Acoustic(SMALL).eval()
    shaken(model)
    return model


@pytest.fixture(scope="module")
def vocoder() -> Vocoder:
    torch.manual_seed(4)
    model = Vocoder(VocoderConfig(d=12, blocks=2, ffn=20, taps=4)).eval()
    shaken(model)
    torch.nn.init.normal_(model.head.weight, std=0.1)
    return model


def weights(model: torch.nn.Module) -> Weights:
    return {k: v.double().numpy() for k, v in model.state_dict().items()}


def feed_forward(w: Weights, name: str, x: np.ndarray) -> np.ndarray:
    h = w[f"{name}.up.weight"] @ rms_norm(x, w[f"{name}.norm.weight"]) + w[f"{name}.up.bias"]
    return x + w[f"{name}.down.weight"] @ np.square(np.maximum(h, 0)) + w[f"{name}.down.bias"]


def mixed(w: Weights, name: str, frames: list[np.ndarray]) -> np.ndarray:
    return acoustic_reference.mixer(w, name, np.array(frames), SMALL.heads, SMALL.head_dim, SMALL.state)


def encoded(w: Weights, tokens: np.ndarray, voice: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vectors and log durations of one clause, the second mixer fed from its end."""
    x = [w["embed.weight"][t] + w["voice.weight"] @ voice + w["voice.bias"] for t in tokens]
    for i in range(SMALL.encoder):
        b = f"blocks.{i}"
        y = [rms_norm(frame, w[f"{b}.norm.weight"]) for frame in x]
        ahead, back = mixed(w, f"{b}.ahead", y), mixed(w, f"{b}.back", y[::-1])[::-1]
        x = [feed_forward(w, f"{b}.ffn", frame + p + q) for frame, p, q in zip(x, ahead, back, strict=True)]
    x = [rms_norm(frame, w["norm.weight"]) for frame in x]
    return np.array(x), np.array([w["duration.weight"][0] @ frame + w["duration.bias"][0] for frame in x])


def decoded(
    w: Weights, units: np.ndarray, place: np.ndarray, voice: np.ndarray, semitones: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mel frames and hertz of one clause from an empty state."""
    x = [w["place.weight"] @ p + w["place.bias"] + u + w["voice.weight"] @ voice + w["voice.bias"]
         for u, p in zip(units, place, strict=True)]  # fmt: skip

    def block(name: str) -> list[np.ndarray]:
        y = mixed(w, f"{name}.mixer", [rms_norm(frame, w[f"{name}.norm.weight"]) for frame in x])
        return [feed_forward(w, f"{name}.ffn", frame + p) for frame, p in zip(x, y, strict=True)]

    for i in range(SMALL.prosody):
        x = block(f"prosody_blocks.{i}")
    hertz = []
    for t, frame in enumerate(x):
        said = w["prosody.weight"] @ rms_norm(frame, w["prosody_norm.weight"]) + w["prosody.bias"]
        told = []
        for pitch, voiced, energy in said.reshape(2, 3):
            shifted = pitch + semitones[t] * np.log(2) / 12 / 0.3
            told += [shifted, 1.0, energy] if voiced > 0 else [0.0, 0.0, energy]
            hertz.append(200 * np.exp(0.3 * shifted) if voiced > 0 else 0.0)
        x[t] = frame + w["inject.weight"] @ np.array(told) + w["inject.bias"]
    for i in range(SMALL.decoder):
        x = block(f"blocks.{i}")
    mel = [w["mel.weight"] @ rms_norm(frame, w["norm.weight"]) + w["mel.bias"] for frame in x]
    return np.array(mel).reshape(-1, 80) * 2.5 - 7.0, np.array(hertz)


def test_encoder_equals_numpy_and_its_graph(acoustic: Acoustic, tmp_path: Path) -> None:
    assert export_encoder(acoustic, tmp_path / "encoder.onnx") < 1e-5
    rng = np.random.default_rng(1)
    tokens, voice = rng.integers(0, symbols.COUNT, 19), rng.normal(size=SMALL.voice)
    expected = encoded(weights(acoustic.encoder), tokens, voice)
    found = OnnxModel(tmp_path / "encoder.onnx").run({"tokens": tokens[None], "voice": voice.astype(np.float32)[None]})
    np.testing.assert_allclose(found["vectors"][0], expected[0], atol=2e-4)
    np.testing.assert_allclose(found["log_units"][0], expected[1], atol=2e-4)


def test_padding_of_a_batch_does_not_reach_a_clause(acoustic: Acoustic) -> None:
    tokens = torch.randint(0, symbols.COUNT, (1, 12))
    voice = torch.randn(1, SMALL.voice)
    padded = torch.cat([tokens, torch.zeros(1, 5, dtype=torch.int64)], dim=1)
    reverse = torch.cat([torch.arange(12).flip(0), torch.arange(12, 17)])[None]
    with torch.inference_mode():
        alone, _ = acoustic.encoder(tokens, voice, torch.arange(12).flip(0)[None])
        found, _ = acoustic.encoder(padded, voice, reverse)
    np.testing.assert_allclose(found[:, :12].numpy(), alone.numpy(), atol=1e-5)


@pytest.mark.parametrize("shift", [0.0, -4.0])
def test_decoder_equals_numpy_and_its_graph_in_steps(acoustic: Acoustic, tmp_path: Path, shift: float) -> None:
    assert export_decoder(acoustic, tmp_path / "decoder.onnx") < 1e-4
    rng = np.random.default_rng(2)
    units, place, voice = rng.normal(size=(23, SMALL.d)), rng.random((23, 4)), rng.normal(size=SMALL.voice)
    semitones = np.full(23, shift)
    mel, hertz = decoded(weights(acoustic.decoder), units, place, voice, semitones)
    assert 0 < (hertz > 0).mean() < 1
    graph, state, parts = OnnxModel(tmp_path / "decoder.onnx"), zeros(acoustic.decoder), []
    for at in range(0, 23, 4):
        timed = {"units": units, "place": place, "semitones": semitones}
        inputs = {k: v[None, at : at + 4].astype(np.float32) for k, v in timed.items()}
        out = graph.run({**inputs, "voice": voice.astype(np.float32)[None], **state})
        state = {name: out[f"{name}_out"] for name in state}
        parts.append(out)
    np.testing.assert_allclose(np.concatenate([p["mel"][0] for p in parts]), mel, atol=5e-4)
    np.testing.assert_allclose(np.concatenate([p["f0"][0] for p in parts]), hertz, rtol=1e-4)


def zeros(model: Decoder | Vocoder) -> dict[str, Any]:
    return {name: np.zeros((1, *shape), np.float32) for name, shape in model.state_shapes().items()}


def test_vocoder_equals_numpy_and_its_graph_in_steps(vocoder: Vocoder, tmp_path: Path) -> None:
    assert export_vocoder(vocoder, tmp_path / "vocoder.onnx") < 1e-5
    rng = np.random.default_rng(3)
    f0 = np.concatenate([np.zeros(4), rng.uniform(90, 250, 15)]).astype(np.float32)
    mel = rng.normal(-6, 1, (19, 80)).astype(np.float32)
    _, harmonics, noise = excite(ExcitationState(), f0)
    sources = [s.astype(np.float64) for s in (harmonics, noise)]
    shape = envelope(WINDOW).astype(np.float64)
    expected = vocoder_reference.samples(
        weights(vocoder), 2, shape, mel.astype(np.float64), f0.astype(np.float64), *sources
    )
    graph, state, found = OnnxModel(tmp_path / "vocoder.onnx"), zeros(vocoder), []
    for at in (0, 1, 8, 16):
        until = {0: 1, 1: 8, 8: 16, 16: 19}[at]
        timed = {"mel": mel, "f0": f0, "harmonics": harmonics, "noise": noise}
        out = graph.run({**{k: v[None, at:until] for k, v in timed.items()}, **state})
        state = {name: out[f"{name}_out"] for name in state}
        found.append(out["samples"][0])
    np.testing.assert_allclose(np.concatenate(found), expected, atol=1e-4 * np.abs(expected).max())


def test_weights_of_float16_are_stored_so_and_give_the_same(tmp_path: Path) -> None:
    torch.manual_seed(5)
    model = rounded(Vocoder(VocoderConfig(d=48, blocks=1, ffn=64)).eval())
    assert export_vocoder(model, tmp_path / "vocoder.onnx") < 1e-5  # type: ignore[arg-type]
    kinds = {i.name: i.data_type for i in onnx.load(str(tmp_path / "vocoder.onnx")).graph.initializer}
    assert onnx.TensorProto.FLOAT16 in kinds.values()


def test_unfiltered_sources_come_back_as_they_were() -> None:
    """With filters of 1 analysis and overlap-add undo each other, 450 samples late (sources run 150 samples ahead)."""
    model = Vocoder(VocoderConfig(d=4, blocks=1, ffn=4)).eval()
    torch.nn.init.zeros_(model.head.weight)
    mel, source = torch.full((1, 20, 80), -3.0), torch.randn(1, 20, 300)
    with torch.inference_mode():
        voiced, _, _ = model(mel, torch.zeros(1, 20), source, source)
    np.testing.assert_allclose(voiced[0, 450:].numpy(), source.flatten()[:-450].numpy(), atol=1e-4)


def test_mel_of_a_tone_peaks_at_its_band_and_tells_its_amplitude() -> None:
    tone = (0.25 * np.sin(2 * np.pi * 1000 * np.arange(24000) / 24000)).astype(np.float32)
    mel = log_mel(tone)
    assert mel.shape == (80, 80)
    loudest = mel[40].argmax()
    assert envelope(1200)[loudest].argmax() * 20 == pytest.approx(1000, abs=40)
    assert log_mel(2 * tone)[40, loudest] - mel[40, loudest] == pytest.approx(np.log(2), abs=1e-3)
