"""Turns a synthesised corpus into a store for training: `python -m models.tts.corpus NAME.tsv NAME.npz OGGS STORE`.

A corpus has NAME.tsv (id, seconds, voice or blend, speed, text, phonemes), NAME.npz (durations in units of 25 ms, F0 in
Hz and energy at 80 Hz) and OGGS/<id>.ogg at 24 kHz. STORE/NAME then holds flat arrays of all sentences:
`samples.npy` int16, `mel.npy` float16 (frames, 80), and `index.npz` with the rest.
"""

from __future__ import annotations

import argparse
import csv
import re
from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray
from speech.tts.excitation import HOP
from speech.tts.symbols import encode

from models.tts.mel import MELS, log_mel
from models.tts.voices import blend

HESITATION = re.compile(r"\b(uh|um|uhm|mm|hmm)\b", re.IGNORECASE)  # of earnings calls: no model for a voice
UNIT_FRAMES = 2  # frames of a unit of duration


class Store:
    """One corpus, memory-mapped. Sentence i has tokens [token_at[i], token_at[i + 1]) and frames likewise."""

    def __init__(self, folder: Path) -> None:
        index = np.load(folder / "index.npz")
        self.tokens: NDArray[np.int16] = index["tokens"]
        self.durations: NDArray[np.int16] = index["durations"]  # frames of each token
        self.token_at, self.frame_at = index["token_at"], index["frame_at"]
        self.f0: NDArray[np.float32] = index["f0"]
        self.energy: NDArray[np.float32] = index["energy"]
        self.voices: NDArray[np.float32] = index["voices"]  # (n, voices) weights of the blend
        self.speeds: NDArray[np.float32] = index["speeds"]
        self.held_out: NDArray[np.bool_] = index["held_out"]
        self.mel = np.load(folder / "mel.npy", mmap_mode="r")
        self.samples = np.load(folder / "samples.npy", mmap_mode="r")
        path = folder / "predicted.npy"  # of models.tts.predict: what the acoustic model makes of the same sentences
        self.predicted = np.load(path, mmap_mode="r") if path.exists() else None

    def __len__(self) -> int:
        return len(self.token_at) - 1

    def of_tokens(self, i: int) -> slice:
        return slice(self.token_at[i], self.token_at[i + 1])

    def of_frames(self, i: int) -> slice:
        return slice(self.frame_at[i], self.frame_at[i + 1])

    def training(self) -> list[int]:
        return [i for i in range(len(self)) if not self.held_out[i]]


def wanted(text: str) -> bool:
    return not HESITATION.search(text)


def build(table: Path, arrays: Path, oggs: Path, out: Path, hold_out: int) -> None:
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    source = np.load(arrays)
    offsets, place = source["offsets"], {name: i for i, name in enumerate(source["ids"].tolist())}
    every = {name: source[name] for name in ("dur", "f0", "energy")}
    kept = [row for row in rows if row[0] in place and wanted(row[4])]
    lengths = [2 * int(every["dur"][slice(*offsets[[place[r[0]], place[r[0]] + 1], 0])].sum()) for r in kept]
    frame_at = np.concatenate([[0], np.cumsum(lengths)])
    out.mkdir(parents=True, exist_ok=True)
    mel = np.lib.format.open_memmap(out / "mel.npy", "w+", np.float16, (int(frame_at[-1]), MELS))
    samples = np.lib.format.open_memmap(out / "samples.npy", "w+", np.int16, (int(frame_at[-1]) * HOP,))
    tokens, durations, f0, energy = [], [], [], []
    for i, (name, _, _voice, _speed, _, phonemes) in enumerate(kept):
        at, after = offsets[place[name]], offsets[place[name] + 1]
        coded = encode(phonemes)
        duration = every["dur"][at[0] : after[0]].astype(np.int16) * UNIT_FRAMES
        audio, _ = soundfile.read(oggs / f"{name}.ogg", dtype="float32")
        if len(coded) != len(duration) or len(audio) != lengths[i] * HOP:
            raise SystemExit(f"{name}: {len(coded)} symbols, {len(duration)} durations, {len(audio)} samples")
        span = slice(int(frame_at[i]), int(frame_at[i + 1]))
        mel[span] = log_mel(audio)
        samples[span.start * HOP : span.stop * HOP] = np.clip(np.rint(audio * 32768), -32768, 32767)
        tokens.append(coded)
        durations.append(duration)
        f0.append(every["f0"][at[1] : after[1]].astype(np.float32))
        energy.append(every["energy"][at[1] : after[1]].astype(np.float32))
    np.savez(
        out / "index.npz",
        tokens=np.concatenate(tokens).astype(np.int16), durations=np.concatenate(durations),
        token_at=np.concatenate([[0], np.cumsum([len(t) for t in tokens])]), frame_at=frame_at,
        f0=np.concatenate(f0), energy=np.concatenate(energy), voices=np.stack([blend(r[2]) for r in kept]),
        speeds=np.array([float(r[3]) for r in kept], np.float32),
        held_out=np.array([i % hold_out == hold_out - 1 for i in range(len(kept))]),
    )  # fmt: skip
    print(f"{out}: {len(kept)} of {len(rows)} sentences, {frame_at[-1] / 80 / 3600:.2f} h")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("arrays", type=Path)
    parser.add_argument("oggs", type=Path)
    parser.add_argument("store", type=Path)
    parser.add_argument("--hold-out", type=int, default=40, help="every so-manieth sentence is kept from training")
    args = parser.parse_args()
    build(args.table, args.arrays, args.oggs, args.store / args.table.stem, args.hold_out)


if __name__ == "__main__":
    main()
