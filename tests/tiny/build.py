"""Writes the tiny bundle `tones` beside this file: python -m tests.tiny.build"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from speech.model.bundle import Manifest, StateSpec, write_manifest

from models.asr.backoff import Backoff
from models.asr.graph import compile_graph
from models.asr.ngram import START, pairs
from tests.tiny import acoustic

FOLDER = Path(__file__).parent / "tones"
LEXICON = {
    "cat": "kat",
    "dog": "dog",
    "go": "go",
    "tad": "tad",
    "gag": "gag",
    "oak": "ok",
    "twenty": "tag",
    "two": "to",
}


def language_model() -> Backoff:
    """Every word as likely as every other, each able to begin and to end a sentence."""
    words = ["<unk>", "<s>", "</s>", *LEXICON]
    numbers = np.arange(3, len(words))
    even = np.log(1 / (len(LEXICON) + 1))
    one = np.array([-20.0, -20.0, *[even] * (len(LEXICON) + 1)])
    none = np.zeros(0)
    return Backoff(
        words,
        one,
        np.zeros(len(words)),
        pairs(np.full(len(numbers), START), numbers),
        np.full(len(numbers), even),
        np.zeros(len(numbers)),
        none.astype(np.int64),
        none,
    )


def build(folder: Path) -> None:
    """Write graph, network and manifest into a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "acoustic.onnx").write_bytes(acoustic.build())
    number = {token: i for i, token in enumerate(acoustic.TOKENS)}
    lexicon = {word: [bytes(number[phone] for phone in sounds)] for word, sounds in LEXICON.items()}
    compile_graph(language_model(), lexicon, list(acoustic.TOKENS)).save(folder / "graph.bin")
    manifest = Manifest(
        schema_version=1,
        id="tones",
        task="recognition",
        language="en-US",
        files={"acoustic.onnx": "", "graph.bin": ""},
        licences=("made by hand for the tests",),
        look_ahead_ms=40 * acoustic.DELAY,
        delay_frames=acoustic.DELAY,
        state_rounding="float16",
        states=tuple(StateSpec(name, shape) for name, shape in acoustic.STATES.items()),
        tokens=acoustic.TOKENS,
    )
    write_manifest(folder, manifest)


if __name__ == "__main__":
    sys.exit(build(FOLDER))
