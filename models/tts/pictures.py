"""Spectrograms one above the other, to look at: `python -m models.tts.pictures OURS THEIRS OUT [--names a b c]`.

OURS and THEIRS are folders with recordings of the same names (`models.tts.evaluate` writes one, the teacher the
other). Each picture has ours above and theirs below, 0 to 12 kHz upwards, 100 pixels a second, 80 dB of range.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import soundfile as sf
from numpy.typing import NDArray
from PIL import Image

RATE = 24_000
WINDOW, HOP = 1024, 240
RANGE_DB = 80.0
ROWS = WINDOW // 4  # of a picture: two bins each
GAP = 8  # pixels between the two


def spectrogram(path: Path) -> NDArray[np.uint8]:
    """(ROWS, T) grey values, white for silence, relative to the recording's loudest bin."""
    samples, rate = sf.read(path, dtype="float32", always_2d=True)
    if rate != RATE:
        raise ValueError(f"{path} has {rate} Hz, expected {RATE} Hz")
    padded = np.pad(samples.mean(axis=1), WINDOW // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP] * np.hanning(WINDOW)
    power = np.abs(np.fft.rfft(frames))[:, : WINDOW // 2].reshape(len(frames), ROWS, 2).max(axis=2).T[::-1]
    decibels = 20 * np.log10(power / power.max() + 1e-9)
    return (255 * np.clip(-decibels / RANGE_DB, 0, 1)).astype(np.uint8)


def beside(above: NDArray[np.uint8], below: NDArray[np.uint8]) -> Image.Image:
    """Both in one picture, as wide as the longer."""
    picture = np.full((2 * ROWS + GAP, max(above.shape[1], below.shape[1])), 255, np.uint8)
    picture[:ROWS, : above.shape[1]] = above
    picture[ROWS : ROWS + GAP] = 128
    picture[ROWS + GAP :, : below.shape[1]] = below
    return Image.fromarray(picture)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ours", type=Path)
    parser.add_argument("theirs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--names", nargs="+", help="without their endings; all that both have when left out")
    args = parser.parse_args()
    files = [
        {p.stem: p for p in folder.iterdir() if p.suffix in (".wav", ".flac")} for folder in (args.ours, args.theirs)
    ]
    names = args.names or sorted(files[0].keys() & files[1].keys())
    if not names:
        parser.error(f"{args.ours} and {args.theirs} have no recording in common")
    args.out.mkdir(parents=True, exist_ok=True)
    for name in names:
        beside(spectrogram(files[0][name]), spectrogram(files[1][name])).save(args.out / f"{name}.png", optimize=True)
        print(args.out / f"{name}.png")


if __name__ == "__main__":
    main()
