"""Tries decoder settings on saved log-probabilities and prints word error rate and speed of each.

    python -m models.asr.logits RUN/model.pt STORE LOGITS dev dev2 --every 5
    python -m models.asr.tune --graph graph.bin --logits LOGITS/dev.npz --set acoustic_scale=0.8,1.0 --set beam=10,12

An `.npz` holds `refs` (texts) and `lp0`, `lp1`, ... (frames, phones) log-probabilities. Every combination of the given
values is tried; fields that are not named keep DecoderConfig's defaults. `prior_weight`, with --prior, is the share of
the labels' prior that is divided out, as `export.py` does for good.
"""

from __future__ import annotations

import argparse
import itertools
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from speech.asr.decoder import Decoder, DecoderConfig
from speech.asr.graph import Graph
from speech.asr.hypothesis import Calibration, Hypothesis

from models.asr.export import log_prior
from models.asr.spoken import spoken

FRAME_S = 0.04
FloatArray = npt.NDArray[np.float32]
Data = list[tuple[list[str], FloatArray]]


def align(reference: list[str], words: list[str]) -> str:
    """The cheapest alignment: `=` right, `S` wrong, `D` missing, `I` too many."""
    row = [(j, "I" * j) for j in range(len(words) + 1)]
    for wanted in reference:
        above, row = row, [(row[0][0] + 1, row[0][1] + "D")]
        for j, got in enumerate(words):
            hit = (above[j][0] + (wanted != got), above[j][1] + ("=" if wanted == got else "S"))
            row.append(min(hit, (above[j + 1][0] + 1, above[j + 1][1] + "D"), (row[j][0] + 1, row[j][1] + "I")))
    return row[-1][1]


def read(path: Path, limit: int | None = None) -> Data:
    """References as spoken words, with their log-probabilities."""
    file = np.load(path)
    references = file["refs"][:limit]
    return [(spoken(str(text)), file[f"lp{i}"].astype(np.float32)) for i, text in enumerate(references)]


def without_prior(log_probs: FloatArray, labels: Path | None, weight: float) -> FloatArray:
    """Posteriors with a share of the prior divided out, normalised again."""
    if not weight:
        return log_probs
    if labels is None:
        raise SystemExit("prior_weight needs --prior labels.npz")
    divided = log_probs - log_prior(labels, weight, log_probs.shape[1]).numpy()
    return np.asarray(divided - np.logaddexp.reduce(divided, axis=1, keepdims=True), np.float32)


def decode(decoder: Decoder, data: Data) -> tuple[list[Hypothesis], float]:
    """The words of each utterance, and processor seconds per second of audio."""
    begun = time.process_time()
    found = []
    for _, log_probs in data:
        [state] = decoder.advance([decoder.start()], [log_probs])
        found.append(decoder.finish(state))
    frames = sum(len(log_probs) for _, log_probs in data)
    return found, (time.process_time() - begun) / (frames * FRAME_S)


def score(data: Data, found: list[Hypothesis]) -> str:
    """The word error rate in words."""
    total = "".join(align(ref, [w.text for w in h.words]) for (ref, _), h in zip(data, found, strict=True))
    wrong, missing, extra, n = total.count("S"), total.count("D"), total.count("I"), len(total) - total.count("I")
    rate = 100 * (wrong + missing + extra) / n
    return f"WER {rate:5.2f} %  ({wrong} wrong, {missing} missing, {extra} too many of {n})"


def calibrate(data: Data, found: list[Hypothesis], rounds: int = 30) -> Calibration:
    """Logistic regression (Newton's method, slightly regularised) of rightness on the evidence for each word."""
    rows, right = [], []
    for (reference, _), hypothesis in zip(data, found, strict=True):
        marks = [m for m in align(reference, [w.text for w in hypothesis.words]) if m != "D"]
        for mark, word in zip(marks, hypothesis.words, strict=True):
            rows.append([1.0, word.evidence.sound, word.evidence.margin, np.log(word.evidence.frames)])
            right.append(mark == "=")
    x, y, weights = np.array(rows), np.array(right, float), np.zeros(4)
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-x @ weights))
        curvature = x.T @ (x * (p * (1 - p))[:, None]) + 0.1 * np.eye(4)
        weights += np.linalg.solve(curvature, x.T @ (y - p) - 0.1 * weights)
    p = 1 / (1 + np.exp(-x @ weights))
    entropy = [-np.mean(y * np.log(q) + (1 - y) * np.log(1 - q)) for q in (p, np.full(len(y), y.mean()))]
    print(f"right {y.mean():.3f}; cross-entropy {entropy[0]:.3f} nats, without evidence {entropy[1]:.3f}")
    return Calibration(*(round(float(w), 3) for w in weights))


def combinations(settings: list[str]) -> list[dict[str, Any]]:
    """`["beam=10,12"]` -> `[{"beam": 10.0}, {"beam": 12.0}]`."""
    kinds = {"max_active": int}
    names = [s.split("=")[0] for s in settings]
    values = [
        [kinds.get(n, float)(v) for v in s.split("=")[1].split(",")] for n, s in zip(names, settings, strict=True)
    ]
    return [dict(zip(names, choice, strict=True)) for choice in itertools.product(*values)]


def main() -> None:
    """Tries every combination on every file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", type=Path, required=True)
    parser.add_argument("--logits", type=Path, nargs="+", required=True)
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="NAME=VALUE,VALUE")
    parser.add_argument("--prior", type=Path, help="labels to count the prior from")
    parser.add_argument("--limit", type=int, help="utterances of each file")
    parser.add_argument("--calibrate", action="store_true", help="also fit the confidences")
    args = parser.parse_args()
    graph = Graph.load(args.graph)
    for chosen in combinations(args.settings):
        weight = chosen.pop("prior_weight", 0.0)
        for path in args.logits:
            data = [(text, without_prior(lp, args.prior, weight)) for text, lp in read(path, args.limit)]
            found, factor = decode(Decoder(graph, DecoderConfig(**chosen)), data)
            if args.calibrate:
                print(calibrate(data, found))
            print(
                f"{path.stem}  prior {weight}  {chosen}  {score(data, found)}  real-time factor {factor:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
