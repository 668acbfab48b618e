"""Export the trained tagger as a bundle: `python -m models.text.export DATA RUN BUNDLE`.

One ONNX graph with dynamic batch and word axes. Embedding tables are int8 with a scale per row, which is where
nearly all the weights are. The export is refused unless the graph's outputs equal PyTorch's.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from pathlib import Path

import numpy as np
import onnxruntime as ort
import torch
from speech.model.bundle import MANIFEST, Manifest, write_manifest
from speech.model.onnx import OnnxModel
from speech.text.vocabulary import Vocabulary
from torch import Tensor, nn

from models.text.model import Shape, Tagger

CONFIG = Path(__file__).with_name("config.toml")
ID = "text-en-v1"
OPSET = 17
TOLERANCE = 2e-4  # largest difference of a score, graph against PyTorch
INPUT, OUTPUTS = "features", ("punctuation", "casing")


class Table(nn.Module):
    """An embedding table in int8, with one scale a row."""

    def __init__(self, table: nn.Embedding) -> None:
        super().__init__()
        weight = table.weight.detach()
        scale = weight.abs().amax(dim=1, keepdim=True).clamp(min=1e-8) / 127
        self.register_buffer("values", (weight / scale).round().to(torch.int8))
        self.register_buffer("scale", scale)

    def forward(self, rows: Tensor) -> Tensor:
        """Integers of any shape -> the same shape and the embedding's width."""
        return self.values[rows].float() * self.scale[rows]  # type: ignore[index]


def load(run: Path) -> Tagger:
    """The trained network; averaged weights once the run is complete, else those of its last checkpoint."""
    model = Tagger(Shape.of(tomllib.loads(CONFIG.read_text())))
    complete = run / "averaged.pt"
    state = torch.load(complete if complete.exists() else run / "last.pt", weights_only=True)
    model.load_state_dict(state if complete.exists() else state["model"])
    return model.eval()


def quantise(model: Tagger) -> Tagger:
    """Replace the embedding tables by int8 ones, in place."""
    model.embed.rows = Table(model.embed.rows)  # type: ignore[assignment]
    model.embed.pieces = Table(model.embed.pieces)  # type: ignore[assignment]
    return model


def write_graph(model: Tagger, path: Path) -> None:
    """Write the ONNX graph."""
    example = torch.zeros(2, 7, 3, dtype=torch.long)
    axes = {name: {0: "batch", 1: "words"} for name in (INPUT, *OUTPUTS)}
    torch.onnx.export(
        model,
        (example,),
        str(path),
        input_names=[INPUT],
        output_names=list(OUTPUTS),
        dynamic_axes=axes,
        opset_version=OPSET,
        dynamo=False,
    )
    simplify(path)


def simplify(path: Path) -> None:
    """Fold constants and drop dead nodes in place, so that loading is quick; standard operators only."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(path)
    options.log_severity_level = 3
    ort.InferenceSession(path.read_bytes(), options, providers=["CPUExecutionProvider"])


def check(model: Tagger, path: Path) -> float:
    """Largest difference between graph and PyTorch over segments of several lengths; raises if it is too large."""
    graph, rng = OnnxModel(path), np.random.default_rng(1)
    worst = 0.0
    for batch, words in ((1, 1), (1, 2), (3, 17), (1, 128)):
        rows = rng.integers(0, model.shape.rows, (batch, words, 1))
        features = np.concatenate([rows, rng.integers(0, model.shape.buckets, (batch, words, 2))], axis=2)
        expected = model(torch.from_numpy(features))
        found = graph.run({INPUT: features})
        for name, scores in zip(OUTPUTS, expected, strict=True):
            worst = max(worst, float(np.abs(found[name] - scores.detach().numpy()).max()))
    if worst > TOLERANCE:
        raise SystemExit(f"the exported graph differs from PyTorch by {worst:.2e}, allowed are {TOLERANCE:.0e}")
    return worst


def manifest_of(config: dict[str, object], measured: dict[str, object]) -> Manifest:
    """The bundle's manifest, without the digests."""
    corpus: dict[str, object] = config["corpus"]  # type: ignore[assignment]
    sources: dict[str, object] = corpus["sources"]  # type: ignore[assignment]
    return Manifest(
        schema_version=1,
        id=ID,
        task="text",
        language="en-US",
        files={"tagger.onnx": "", "vocabulary.txt": ""},
        licences=("weights: as this repository; training texts: see models/text/MODEL_CARD.md",),
        training_data=tuple(sorted(sources)),
        measured=measured,
        settings={"buckets": corpus["buckets"]},
    )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder written by models.text.corpus")
    parser.add_argument("run", type=Path, help="folder written by models.text.train")
    parser.add_argument("bundle", type=Path, help="folder to write")
    arguments = parser.parse_args()
    config = tomllib.loads(CONFIG.read_text())
    arguments.bundle.mkdir(parents=True, exist_ok=True)
    vocabulary = Vocabulary.load(arguments.data / "vocabulary.txt", config["corpus"]["buckets"])
    (arguments.bundle / "vocabulary.txt").write_text("\n".join(vocabulary.lines()) + "\n", encoding="utf-8")
    model = quantise(load(arguments.run))
    write_graph(model, arguments.bundle / "tagger.onnx")
    print(f"graph against PyTorch: {check(model, arguments.bundle / 'tagger.onnx'):.1e}")
    old = arguments.bundle / MANIFEST
    measured = json.loads(old.read_text())["measured"] if old.exists() else {}
    write_manifest(arguments.bundle, manifest_of(config, measured))


if __name__ == "__main__":
    main()
