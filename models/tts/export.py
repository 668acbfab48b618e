"""Exports checkpoints as streaming ONNX graphs, each checked against PyTorch before it is written for good.

    python -m models.tts.export acoustic RUN/model.pt OUT      # OUT/encoder.onnx, decoder.onnx, voices.npz
    python -m models.tts.export vocoder RUN/model.pt OUT       # OUT/vocoder.onnx

Batch and time are dynamic; states are named inputs `<state>` and outputs `<state>_out`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from speech.tts import symbols
from torch import Tensor, nn

from models.asr.export import mix, rms_norm
from models.tts import acoustic, vocoder
from models.tts.acoustic import Acoustic, AcousticConfig, Decoder, Encoder, FeedForward
from models.tts.mel import MELS
from models.tts.training import load
from models.tts.vocoder import Vocoder, VocoderConfig
from models.tts.voices import NAMES

TOLERANCE = 5e-4  # of normalised mel values and of samples


def feed_forward(f: FeedForward, x: Tensor) -> Tensor:
    return x + f.down(F.relu(f.up(rms_norm(x, f.norm.weight))).square())


class StreamingEncoder(nn.Module):
    """One clause, or several of one length: the order is reversed by flipping, not by an index."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, tokens: Tensor, voice: Tensor) -> tuple[Tensor, Tensor]:
        e = self.encoder
        x = e.embed(tokens) + e.voice(voice)[:, None]
        for block in e.blocks:
            y = rms_norm(x, block.norm.weight)
            c, first = block.c, y[:, :1, :1] * 0.0
            tail = first.expand(-1, c.conv - 1, block.ahead.mixed)
            S = first[..., None].expand(-1, c.heads, c.head_dim, c.state)
            ahead = mix(block.ahead, y, tail, S)[0]
            back = mix(block.back, torch.flip(y, [1]), tail, S)[0]
            x = feed_forward(block.ffn, x + ahead + torch.flip(back, [1]))
        x = rms_norm(x, e.norm.weight)
        return x, e.duration(x)[..., 0]


class StreamingDecoder(nn.Module):
    """Predicts its own prosody, shifted by the pitch that the caller wants, and gives real mel values and hertz."""

    def __init__(self, decoder: Decoder) -> None:
        super().__init__()
        self.decoder = decoder

    def forward(
        self, units: Tensor, place: Tensor, voice: Tensor, semitones: Tensor, *state: Tensor
    ) -> tuple[Tensor, ...]:
        d, after = self.decoder, []
        x = units + d.place(place) + d.voice(voice)[:, None]
        for i, block in enumerate([*d.prosody_blocks, *d.blocks]):
            if i == len(d.prosody_blocks):
                predicted = d.prosody(rms_norm(x, d.prosody_norm.weight)).unflatten(-1, (acoustic.FRAMES, 3))
                voiced = (predicted[..., 1] > 0).to(x.dtype)
                shift = semitones[..., None] * (float(np.log(2)) / 12 / acoustic.PITCH_SCALE)
                pitch = (predicted[..., 0] + shift) * voiced
                x = x + d.inject(torch.stack([pitch, voiced, predicted[..., 2]], dim=-1).flatten(2))
            y, tail, S = mix(block.mixer, rms_norm(x, block.norm.weight), state[2 * i], state[2 * i + 1])
            x = feed_forward(block.ffn, x + y)
            after += [tail, S]
        mel = d.mel(rms_norm(x, d.norm.weight)).unflatten(-1, (acoustic.FRAMES, MELS)).flatten(1, 2)
        hertz = torch.exp(pitch * acoustic.PITCH_SCALE) * acoustic.PITCH_HZ * voiced
        return mel * acoustic.MEL_SCALE + acoustic.MEL_MEAN, hertz.flatten(1), *after


class StreamingVocoder(nn.Module):
    """The vocoder with Fourier transforms as matrix products."""

    def __init__(self, model: Vocoder) -> None:
        super().__init__()
        self.model = model
        n, k = np.arange(vocoder.WINDOW), np.arange(vocoder.BINS)
        angle = 2 * np.pi * np.outer(n, k) / vocoder.WINDOW
        weight = np.where((k == 0) | (k == vocoder.BINS - 1), 1.0, 2.0) / vocoder.WINDOW
        self.cos, self.sin = (torch.from_numpy(m.astype(np.float32)) for m in (np.cos(angle), -np.sin(angle)))
        self.back_cos, self.back_sin = (
            torch.from_numpy((m * weight).T.astype(np.float32)) for m in (np.cos(angle), -np.sin(angle))
        )
        model.analyse = lambda frames: (frames @ self.cos, frames @ self.sin)  # type: ignore[method-assign]
        model.synthesise = lambda re, im: re @ self.back_cos + im @ self.back_sin  # type: ignore[method-assign]

    def forward(self, mel: Tensor, f0: Tensor, harmonics: Tensor, noise: Tensor, *state: Tensor) -> tuple[Tensor, ...]:
        voiced, noisy, after = self.model(mel, f0, harmonics, noise, list(state))
        return voiced + noisy, *after


def write(module: nn.Module, inputs: dict[str, tuple[Tensor, str]], states: dict[str, tuple[int, ...]],
          outputs: dict[str, str], path: Path, metadata: dict[str, Any]) -> None:  # fmt: skip
    """`inputs` and `outputs` give the name of the time axis of each; "" for none."""
    names = list(states)
    axes = {name: {0: "batch", **({1: axis} if axis else {})} for name, axis in
            [*((n, a) for n, (_, a) in inputs.items()), *outputs.items()]}  # fmt: skip
    axes |= {n: {0: "batch"} for name in names for n in (name, f"{name}_out")}
    example = (*(value for value, _ in inputs.values()), *(torch.zeros(2, *shape) for shape in states.values()))
    torch.onnx.export(
        module.eval(), example, str(path), input_names=[*inputs, *names],
        output_names=[*outputs, *(f"{n}_out" for n in names)], dynamic_axes=axes, opset_version=17, dynamo=False,
    )  # fmt: skip
    graph = onnx.load(str(path))
    halve(graph)
    for key, value in metadata.items():
        graph.metadata_props.add(key=key, value=str(value))
    onnx.save(graph, str(path))


def rounded(model: nn.Module) -> nn.Module:
    """The model with weights that float16 can hold: a tenth of a percent, which no listener hears."""
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(p.half().float())
    return model


def halve(graph: onnx.ModelProto) -> None:
    """Store matrices of such weights in float16, cast back when the graph is loaded: half the file, equal numbers."""
    casts = []
    for tensor in graph.graph.initializer:
        values = numpy_helper.to_array(tensor)
        half = values.astype(np.float16) if values.dtype == np.float32 and values.size > 1000 else None
        if half is None or not (half.astype(np.float32) == values).all():
            continue
        casts.append(helper.make_node("Cast", [f"{tensor.name}.half"], [tensor.name], to=TensorProto.FLOAT))
        tensor.CopyFrom(numpy_helper.from_array(half, f"{tensor.name}.half"))
    nodes = [*casts, *graph.graph.node]
    del graph.graph.node[:]
    graph.graph.node.extend(nodes)


def example(rng: np.random.Generator, d: int, voice: int, length: int) -> dict[str, NDArray[Any]]:
    """Random inputs of the decoder."""
    return {
        "units": rng.normal(size=(2, length, d)).astype(np.float32),
        "place": rng.random((2, length, acoustic.PLACES)).astype(np.float32),
        "voice": rng.normal(size=(2, voice)).astype(np.float32),
        "semitones": np.zeros((2, length), np.float32),
    }


def export_encoder(model: Acoustic, path: Path) -> float:
    c = model.c
    tokens, voice = torch.randint(0, symbols.COUNT, (2, 40)), torch.randn(2, c.voice)
    inputs = {"tokens": (tokens, "symbols"), "voice": (voice, "")}
    write(
        StreamingEncoder(model.encoder), inputs, {}, {"vectors": "symbols", "log_units": "symbols"}, path, c.as_dict()
    )
    tokens, voice = torch.randint(0, symbols.COUNT, (3, 57)), torch.randn(3, c.voice)
    with torch.inference_mode():
        expected = model.encoder(tokens, voice, torch.arange(57).flip(0).expand(3, -1))
    found = session(path).run(None, {"tokens": tokens.numpy(), "voice": voice.numpy()})
    return max(float(np.abs(e.numpy() - f).max()) for e, f in zip(expected, found, strict=True))


def export_decoder(model: Acoustic, path: Path) -> float:
    c, shapes, rng = model.c, model.decoder.state_shapes(), np.random.default_rng(1)
    axes = {"units": "units", "place": "units", "voice": "", "semitones": "units"}
    inputs = {k: (torch.from_numpy(v), axes[k]) for k, v in example(rng, c.d, c.voice, 8).items()}
    write(StreamingDecoder(model.decoder), inputs, shapes, {"mel": "frames", "f0": "frames"}, path, c.as_dict())
    whole = example(rng, c.d, c.voice, 60)
    with torch.inference_mode():
        mel, prosody, _ = model.decoder(*(torch.from_numpy(whole[k]) for k in ("units", "place", "voice")))
        told = acoustic.voiced_only(prosody)
    hertz = (torch.exp(told[..., 0] * acoustic.PITCH_SCALE) * acoustic.PITCH_HZ * told[..., 1]).flatten(1).numpy()
    found = in_chunks(path, whole, shapes, (1, 4, 40, 15), [k for k in whole if axes[k]])
    mel = (mel * acoustic.MEL_SCALE + acoustic.MEL_MEAN).numpy()
    return max(float(np.abs(found[0] - mel).max()), float(np.abs(found[1] - hertz).max()) / 100)


def export_vocoder(model: Vocoder, path: Path) -> float:
    rng = np.random.default_rng(1)

    def made(length: int) -> dict[str, NDArray[Any]]:
        return {
            "mel": rng.normal(-6, 2, (2, length, MELS)).astype(np.float32),
            "f0": rng.uniform(0, 250, (2, length)).astype(np.float32),
            "harmonics": rng.normal(size=(2, length, 300)).astype(np.float32),
            "noise": rng.normal(size=(2, length, 300)).astype(np.float32),
        }

    whole, shapes = made(60), model.state_shapes()
    with torch.inference_mode():
        voiced, noisy, _ = model(*(torch.from_numpy(v) for v in whole.values()))
    expected = (voiced + noisy).numpy()
    inputs = {k: (torch.from_numpy(v), "frames") for k, v in made(8).items()}
    write(StreamingVocoder(model), inputs, shapes, {"samples": "samples"}, path, model.c.as_dict())
    found = in_chunks(path, whole, shapes, (1, 4, 40, 15), list(whole))
    return float(np.abs(found[0] - expected).max() / np.abs(expected).max())


def session(path: Path) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def in_chunks(path: Path, whole: dict[str, NDArray[Any]], shapes: dict[str, tuple[int, ...]], sizes: Sequence[int],
              timed: list[str]) -> list[NDArray[Any]]:  # fmt: skip
    """The graph's outputs when `whole` is fed in chunks, with the states carried."""
    graph, at = session(path), 0
    state = {name: np.zeros((2, *shape), np.float32) for name, shape in shapes.items()}
    parts: list[list[NDArray[Any]]] = []
    for size in sizes:
        chunk = {k: v[:, at : at + size] if k in timed else v for k, v in whole.items()}
        outputs = graph.run(None, {**chunk, **state})
        count = len(outputs) - len(state)
        parts.append(outputs[:count])
        state = dict(zip(state, outputs[count:], strict=True))
        at += size
    return [np.concatenate(column, axis=1) for column in zip(*parts, strict=True)]


def checked(path: Path, export: Callable[[Path], float]) -> None:
    """Write the graph under another name first; keep it if it does what PyTorch does."""
    temporary = path.with_suffix(".unchecked.onnx")
    difference = export(temporary)
    if difference > TOLERANCE:
        raise SystemExit(f"{temporary} differs from PyTorch by {difference:.2g}, more than {TOLERANCE}")
    temporary.replace(path)
    print(f"{path}: differs from PyTorch by {difference:.1g}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("acoustic", "vocoder"))
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--weights", choices=("average", "last"), default="average")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    averaged = args.weights == "average"
    if args.part == "vocoder":
        model = rounded(load(args.checkpoint, lambda c: Vocoder(VocoderConfig(**c)), averaged))
        checked(args.out / "vocoder.onnx", lambda path: export_vocoder(model, path))  # type: ignore[arg-type]
        return
    model = rounded(load(args.checkpoint, lambda c: Acoustic(AcousticConfig(**c)), averaged))
    checked(args.out / "encoder.onnx", lambda path: export_encoder(model, path))  # type: ignore[arg-type]
    checked(args.out / "decoder.onnx", lambda path: export_decoder(model, path))  # type: ignore[arg-type]
    table = model.voices.detach().numpy()
    np.savez(args.out / "voices.npz", **dict(zip(NAMES, table, strict=True)))


if __name__ == "__main__":
    main()
