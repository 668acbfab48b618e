"""Puts a synthesis bundle together from exported graphs: `python -m models.tts.bundle GRAPHS OUT --id tts-en-v1`.

GRAPHS is what `models.tts.export` wrote. Voices, pauses and licences come from bundle.toml; measurements that the
manifest already holds are kept with --keep-measured.
"""

from __future__ import annotations

import argparse
import shutil
import tomllib
from pathlib import Path

import numpy as np
import onnxruntime
from speech.model.bundle import SCHEMA_VERSION, Manifest, StateSpec, write_manifest
from speech.tts.excitation import HOP, RATE

from models.asr.bundle import measured

CONFIG = Path(__file__).with_name("bundle.toml")
FILES = ("encoder.onnx", "decoder.onnx", "vocoder.onnx")
INPUTS = {"units", "place", "voice", "semitones", "mel", "f0", "harmonics", "noise"}


def states(folder: Path) -> tuple[StateSpec, ...]:
    """The carried states of the exported graphs, as `graph.state`."""
    found = []
    for graph in ("decoder", "vocoder"):
        session = onnxruntime.InferenceSession(str(folder / f"{graph}.onnx"), providers=["CPUExecutionProvider"])
        found += [
            StateSpec(f"{graph}.{i.name}", tuple(i.shape[1:])) for i in session.get_inputs() if i.name not in INPUTS
        ]
    return tuple(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--id", required=True)
    parser.add_argument("--keep-measured", action="store_true")
    parser.add_argument("--voices", nargs="+", help="only these of bundle.toml")
    args = parser.parse_args()
    config = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["bundle"]
    settings = config["settings"]
    if args.voices:
        settings["voices"] = {name: settings["voices"][name] for name in args.voices}
    args.out.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        if (args.graphs / name).resolve() != (args.out / name).resolve():
            shutil.copyfile(args.graphs / name, args.out / name)
    rows = np.load(args.graphs / "voices.npz")
    chosen = {row: rows[row] for row in settings["voices"].values()}
    np.savez(args.out / "voices.npz", **chosen)
    manifest = Manifest(
        SCHEMA_VERSION, args.id, "synthesis", "en-US", dict.fromkeys((*FILES, "voices.npz"), ""),
        licences=tuple(config["licences"]), training_data=tuple(config["training_data"]),
        measured=measured(args.out) if args.keep_measured else {},
        sample_rate=RATE, frame_ms=25, hop_ms=HOP * 1000 // RATE, chunk_ms=100,
        states=states(args.out), settings=settings,
    )  # fmt: skip
    written = write_manifest(args.out, manifest)
    size = sum((args.out / name).stat().st_size for name in written.files) / 1e6
    print(f"{args.out}: {size:.1f} MB, voices {', '.join(settings['voices'])}, {len(manifest.states)} states")


if __name__ == "__main__":
    main()
