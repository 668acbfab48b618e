"""Words heard where nobody speaks: `python -m models.asr.no_speech BUNDLE --clips ESC-10 ... [--seconds 600]`.

The clips that `noises.py` holds out from training, then artificial sounds of a seed that training never sees, through
the product's own recogniser in live chunks. Prints every sound in which a word was heard, and one JSON line.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from speech.asr.recognizer import Recognizer

from models.asr.corpus import RATE, load
from models.asr.live import finals
from models.asr.noises import clips, made

SEED = 2026  # not the one of `noises.main`


def sounds(folders: list[Path], seconds: float) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Name and samples of each sound."""
    for folder in folders:
        for path in clips(folder, held_out=True):
            yield f"{path.parent.name}/{path.name}", load(path)
    rng, done = np.random.default_rng(SEED), 0.0
    while done < seconds:
        length = rng.uniform(5, 20)
        done += length
        yield f"made, {done:.0f} s", made(length, rng)


def heard(recognizer: Recognizer, samples: NDArray[np.float32]) -> list[tuple[str, float]]:
    """Words and their confidences."""
    found = finals(recognizer.stream(RATE), samples, RATE)
    return [(word.text, word.confidence) for final in found for word in final.words]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--clips", type=Path, nargs="+", required=True, help="folders, as `noises.py` was given them")
    parser.add_argument("--seconds", type=float, default=600, help="of artificial sounds")
    args = parser.parse_args()
    recognizer = Recognizer.load(args.bundle, verify=False)
    total = words = wrong = 0
    for name, samples in sounds(args.clips, args.seconds):
        found = heard(recognizer, samples)
        total, words, wrong = total + len(samples), words + len(found), wrong + bool(found)
        if found:
            print(f"{name}: {' '.join(f'{word} ({confidence:.2f})' for word, confidence in found)}")
    print(json.dumps({"minutes": round(total / RATE / 60, 2), "words": words, "sounds_with_words": wrong}))


if __name__ == "__main__":
    main()
