"""Write the tiny random bundle that the tests load: `python -m models.text.tiny tests/parity/test_text_tiny`.

Beside the bundle's files it keeps what a parity test needs without PyTorch: the raw weights, and PyTorch's own scores.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from speech.model.bundle import Manifest, write_manifest
from speech.text.numbers import listed
from speech.text.vocabulary import Vocabulary

from models.text.export import check, quantise, write_graph
from models.text.model import Shape, Tagger

WORDS = listed("the a i and to of is it you that we in for on are have do not what how much who thanks please")
SHAPE = Shape(
    rows=len(WORDS) + 1,
    buckets=16,
    embedding=8,
    width=16,
    layers=2,
    heads=4,
    state=4,
    kernel=3,
    feedforward=24,
    dropout=0.0,
)
SENTENCE = listed("what do you have for that iphone and how much is it thanks")


def main() -> None:
    """Command line."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(5)
    model = Tagger(SHAPE).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    model = quantise(model)
    write_graph(model, folder / "tagger.onnx")
    print(f"graph against PyTorch: {check(model, folder / 'tagger.onnx'):.1e}")
    vocabulary = Vocabulary(WORDS, {"iphone": "iPhone"}, SHAPE.buckets)
    (folder / "vocabulary.txt").write_text("\n".join(vocabulary.lines()) + "\n", encoding="utf-8")
    marks, casings = model(torch.from_numpy(vocabulary.encode(SENTENCE)[None]))
    arrays = {name: value.numpy() for name, value in model.state_dict().items()}
    scores = {"torch_punctuation": marks.detach().numpy(), "torch_casing": casings.detach().numpy()}
    np.savez_compressed(folder / "parity.npz", sentence=np.array(" ".join(SENTENCE)), **scores, **arrays)
    write_manifest(
        folder,
        Manifest(
            schema_version=1,
            id="text-tiny",
            task="text",
            language="en-US",
            files={"tagger.onnx": "", "vocabulary.txt": "", "parity.npz": ""},
            licences=("random weights, free of any right",),
            settings={"buckets": SHAPE.buckets},
        ),
    )


if __name__ == "__main__":
    main()
