"""Saves log-probabilities for `tune.py`: `python -m models.asr.logits RUN/model.pt STORE OUT dev dev2`.

OUT/NAME.npz has `refs` (the texts) and `lp0`, `lp1`, ... (frames, tokens) float16, the output delay taken out.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from models.asr.score import Scorer, utterances


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("store", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--every", type=int, default=1, help="take every so many utterances")
    parser.add_argument("--weights", choices=("last", "average"), default="last")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    scorer = Scorer(args.checkpoint, args.weights == "average")
    for name in args.names:
        chosen = list(utterances(args.store, name, args.every))
        scored = [scorer(features).astype(np.float16) for _, features in chosen]
        arrays = {f"lp{i}": lp for i, lp in enumerate(scored)}
        np.savez(args.out / f"{name}.npz", refs=np.array([u["text"] for u, _ in chosen]), **arrays)
        print(f"{name}: {len(chosen)} utterances", flush=True)


if __name__ == "__main__":
    main()
