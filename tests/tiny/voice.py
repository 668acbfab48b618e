"""A hand-made voice whose three graphs keep the contract of the trained ones, so that its sound can be worked out.

Symbols of the encoder are rows of tables. The decoder adds half of the unit before; the vocoder scales harmonics and
noise by the mean of the mel frame, two frames late. Built in a blink, of a few kilobytes: `build(folder)`.
`python -m tests.tiny.voice` makes the one in the folder hum anew.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from speech.model.bundle import Manifest, StateSpec, write_manifest
from speech.tts import symbols

FOLDER = Path(__file__).with_name("hum")  # one that is kept, for what takes its bundles from one folder
PRONUNCIATIONS = "../../models/bundles/lexicon-en-v1"  # from there
D, VOICE, BANDS = 4, 3, 80
FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64
VOICED = set(symbols.encode("AIOWYiuæɑəɛɜɪʊʌɔɐᵊᵻblmnɹwzvð", False, False))
VOICES = {"low": np.array([-0.4, 0, 0], np.float32), "high": np.array([0.4, 0, 0], np.float32)}


def vectors() -> np.ndarray:
    """(symbols, D): in the first column the loudness (natural log), in the second whether there is voice."""
    table = np.random.default_rng(4).uniform(-0.5, 0.5, (symbols.COUNT, D)).astype(np.float32)
    table[:, 0] -= 3.0
    table[:, 1] = [1.0 if n in VOICED else -1.0 for n in range(symbols.COUNT)]
    return table


def log_units() -> np.ndarray:
    """(symbols,): 1.2 to 6 units."""
    return np.log(np.random.default_rng(5).uniform(1.2, 6.0, symbols.COUNT)).astype(np.float32)


def model(nodes: list[onnx.NodeProto], inputs: dict, outputs: dict, constants: dict) -> bytes:  # type: ignore[type-arg]
    graph = helper.make_graph(
        nodes, "voice",
        [helper.make_tensor_value_info(n, INT if n == "tokens" else FLOAT, ["B", *s]) for n, s in inputs.items()],
        [helper.make_tensor_value_info(n, FLOAT, ["B", *s]) for n, s in outputs.items()],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made, full_check=True)
    return bytes(made.SerializeToString())


def encoder() -> bytes:
    node = helper.make_node
    return model(
        [
            node("Gather", ["table", "tokens"], ["rows"], axis=0),
            node("Slice", ["voice", "zero", "one", "one"], ["first"]),  # (B, 1): louder or softer
            node("MatMul", ["first", "loudness"], ["shift"]),  # (B, D)
            node("Unsqueeze", ["shift", "one"], ["wide"]),
            node("Add", ["rows", "wide"], ["vectors"]),
            node("Gather", ["durations", "tokens"], ["log_units"], axis=0),
        ],
        {"tokens": ("L",), "voice": (VOICE,)}, {"vectors": ("L", D), "log_units": ("L",)},
        {"table": vectors(), "durations": log_units(), "zero": np.array([0]), "one": np.array([1]),
         "loudness": np.array([[1.0, 0, 0, 0]], np.float32)},
    )  # fmt: skip


def decoder() -> bytes:
    node = helper.make_node
    return model(
        [
            node("Concat", ["last", "units"], ["long"], axis=1),
            node("Slice", ["long", "zero", "minus_one", "one"], ["before"]),
            node("Slice", ["long", "minus_one", "end", "one"], ["last_out"]),
            node("Mul", ["before", "half"], ["faded"]),
            node("Add", ["units", "faded"], ["sum"]),
            node("Slice", ["sum", "zero", "one", "two"], ["loud"]),  # (B, U, 1)
            node("MatMul", ["loud", "spread"], ["both"]),  # (B, U, 2 * BANDS)
            node("Reshape", ["both", "mel_shape"], ["mel"]),
            node("Slice", ["units", "one", "two", "two"], ["voice_sign"]),
            node("Relu", ["voice_sign"], ["voiced"]),
            node("Unsqueeze", ["semitones", "two"], ["st"]),
            node("Mul", ["st", "octave"], ["octaves"]),
            node("Pow", ["base", "octaves"], ["ratio"]),
            node("Mul", ["ratio", "pitch"], ["hertz"]),  # (B, U, 2): 120 and 125 Hz
            node("Mul", ["hertz", "voiced"], ["heard"]),
            node("Reshape", ["heard", "f0_shape"], ["f0"]),
            node("ReduceMean", ["voice"], ["unused"], axes=[1], keepdims=1),
            node("ReduceMean", ["place"], ["unused_too"], axes=[2], keepdims=1),
        ],
        {"units": ("U", D), "place": ("U", 4), "voice": (VOICE,), "semitones": ("U",), "last": (1, D)},
        {"mel": ("T", BANDS), "f0": ("T",), "last_out": (1, D)},
        {"zero": np.array([0]), "one": np.array([1]), "two": np.array([2]), "minus_one": np.array([-1]),
         "end": np.array([2**31]), "half": np.float32(0.5), "spread": np.ones((1, 2 * BANDS), np.float32),
         "mel_shape": np.array([0, -1, BANDS]), "f0_shape": np.array([0, -1]), "base": np.float32(2),
         "octave": np.float32(1 / 12), "pitch": np.array([120.0, 125.0], np.float32)},
    )  # fmt: skip


def vocoder() -> bytes:
    node = helper.make_node
    return model(
        [
            node("ReduceMean", ["mel"], ["level"], axes=[2], keepdims=1),
            node("Exp", ["level"], ["amplitude"]),
            node("Mul", ["noise", "little"], ["hiss"]),
            node("Add", ["harmonics", "hiss"], ["source"]),
            node("Mul", ["source", "amplitude"], ["scaled"]),
            node("Concat", ["late", "scaled"], ["delayed"], axis=1),
            node("Slice", ["delayed", "zero", "minus_two", "one"], ["due"]),
            node("Slice", ["delayed", "minus_two", "end", "one"], ["late_out"]),
            node("Reshape", ["due", "flat"], ["samples"]),
            node("Unsqueeze", ["f0", "two"], ["unused"]),
        ],
        {"mel": ("T", BANDS), "f0": ("T",), "harmonics": ("T", 300), "noise": ("T", 300), "late": (2, 300)},
        {"samples": ("N",), "late_out": (2, 300)},
        {"little": np.float32(0.1), "zero": np.array([0]), "one": np.array([1]), "two": np.array([2]),
         "minus_two": np.array([-2]), "end": np.array([2**31]), "flat": np.array([0, -1])},
    )  # fmt: skip


def build(folder: Path, lexicon: str = "lexicon", settings: dict[str, object] | None = None) -> Path:
    """Write graphs, voices and manifest into a folder; the pronunciations are a folder `lexicon` beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, made in (("encoder", encoder), ("decoder", decoder), ("vocoder", vocoder)):
        (folder / f"{name}.onnx").write_bytes(made())
    np.savez(folder / "voices.npz", **VOICES)
    files = dict.fromkeys(("encoder.onnx", "decoder.onnx", "vocoder.onnx", "voices.npz"), "")
    states = (StateSpec("decoder.last", (1, D)), StateSpec("vocoder.late", (2, 300)))
    usual = {"lexicon": lexicon, "voices": {"low": "low", "high": "high"}, "lead_units": 1, "onset_s": 0.0}
    write_manifest(
        folder,
        Manifest(
            1,
            "hum",
            "synthesis",
            "en-US",
            files,
            sample_rate=24000,
            states=states,
            settings={**usual, **(settings or {})},
        ),
    )
    return folder


if __name__ == "__main__":
    build(FOLDER, PRONUNCIATIONS)
