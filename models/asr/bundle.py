"""Puts a recognition bundle together: the exported network, the decoding graph, and a manifest that says what they are.

    python -m models.asr.bundle OUT --id asr-en-v1 --acoustic acoustic.onnx --graph graph.bin --tokens tokens.txt

Settings (decoder, endpoint rules, the text bundle beside it) and licences come from config.toml; measurements that the
manifest already holds are kept with --keep-measured.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tomllib
from pathlib import Path

import onnxruntime
from speech.model.bundle import SCHEMA_VERSION, Manifest, StateSpec, write_manifest

CONFIG = Path(__file__).with_name("config.toml")
FRAME_MS = 40


def describe(acoustic: Path) -> tuple[tuple[StateSpec, ...], int]:
    """The carried states of an exported graph and its output delay in label frames."""
    session = onnxruntime.InferenceSession(str(acoustic), providers=["CPUExecutionProvider"])
    states = tuple(StateSpec(i.name, tuple(i.shape[1:])) for i in session.get_inputs() if i.name != "features")
    return states, int(session.get_modelmeta().custom_metadata_map["delay"])


def measured(folder: Path) -> dict[str, object]:
    manifest = folder / "manifest.json"
    return dict(json.loads(manifest.read_text(encoding="utf-8"))["measured"]) if manifest.is_file() else {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--id", required=True)
    parser.add_argument("--acoustic", type=Path, required=True)
    parser.add_argument("--graph", type=Path, required=True)
    parser.add_argument("--tokens", type=Path, required=True)
    parser.add_argument("--keep-measured", action="store_true")
    args = parser.parse_args()
    config = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["bundle"]
    args.out.mkdir(parents=True, exist_ok=True)
    for source, name in ((args.acoustic, "acoustic.onnx"), (args.graph, "graph.bin")):
        if source.resolve() != (args.out / name).resolve():
            shutil.copyfile(source, args.out / name)
    states, delay = describe(args.out / "acoustic.onnx")
    written = write_manifest(
        args.out,
        Manifest(
            SCHEMA_VERSION, args.id, "recognition", "en-US", {"acoustic.onnx": "", "graph.bin": ""},
            licences=tuple(config["licences"]), training_data=tuple(config["training_data"]),
            measured=measured(args.out) if args.keep_measured else {},
            look_ahead_ms=delay * FRAME_MS, delay_frames=delay, state_rounding=config["state_rounding"], states=states,
            tokens=tuple(args.tokens.read_text(encoding="utf-8").split()), settings=config["settings"],
        ),
    )  # fmt: skip
    size = sum((args.out / name).stat().st_size for name in written.files) / 1e6
    print(f"{args.out}: {size:.1f} MB, look-ahead {written.look_ahead_ms} ms, {len(states)} states")


if __name__ == "__main__":
    main()
