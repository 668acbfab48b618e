"""Tries decoder settings on saved log-probabilities and prints word error rate and speed of each.

    python -m models.asr.tune --graph graph.bin --logits dev.npz --set acoustic_scale=0.8,1.0 --set beam=10,12

An `.npz` holds `refs` (texts) and `lp0`, `lp1`, ... (frames, phones) log-probabilities. Every combination of the given
values is tried; fields that are not named keep DecoderConfig's defaults.
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

from models.asr.spoken import spoken

FRAME_S = 0.04
Data = list[tuple[list[str], npt.NDArray[np.float32]]]


def errors(reference: list[str], words: list[str]) -> tuple[int, int, int]:
    """Substitutions, deletions and insertions of the cheapest alignment."""
    row = [(j, 0, 0, j) for j in range(len(words) + 1)]  # cost, substitutions, deletions, insertions
    for wanted in reference:
        above, row = row, [(row[0][0] + 1, 0, row[0][2] + 1, 0)]
        for j, got in enumerate(words):
            hit = above[j] if wanted == got else _add(above[j], 1, 0, 0)
            row.append(min(hit, _add(above[j + 1], 0, 1, 0), _add(row[j], 0, 0, 1)))
    return row[-1][1:]


def _add(cell: tuple[int, int, int, int], s: int, d: int, i: int) -> tuple[int, int, int, int]:
    return cell[0] + 1, cell[1] + s, cell[2] + d, cell[3] + i


def read(path: Path, limit: int | None = None) -> Data:
    """References as spoken words, with their log-probabilities."""
    file = np.load(path)
    references = file["refs"][:limit]
    return [(spoken(str(text)), file[f"lp{i}"].astype(np.float32)) for i, text in enumerate(references)]


def decode(decoder: Decoder, data: Data) -> tuple[list[list[str]], float]:
    """The words of each utterance, and processor seconds per second of audio."""
    begun = time.process_time()
    found = []
    for _, log_probs in data:
        [state] = decoder.advance([decoder.start()], [log_probs])
        found.append([w.text for w in decoder.finish(state).words])
    frames = sum(len(log_probs) for _, log_probs in data)
    return found, (time.process_time() - begun) / (frames * FRAME_S)


def score(data: Data, found: list[list[str]]) -> str:
    """The word error rate in words."""
    total = np.sum([errors(reference, words) for (reference, _), words in zip(data, found, strict=True)], axis=0)
    n = sum(len(reference) for reference, _ in data)
    return f"WER {100 * total.sum() / n:5.2f} %  ({total[0]} wrong, {total[1]} missing, {total[2]} too many of {n})"


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
    parser.add_argument("--limit", type=int, help="utterances of each file")
    args = parser.parse_args()
    graph = Graph.load(args.graph)
    for chosen in combinations(args.settings):
        for path in args.logits:
            data = read(path, args.limit)
            found, factor = decode(Decoder(graph, DecoderConfig(**chosen)), data)
            print(f"{path.stem}  {chosen}  {score(data, found)}  real-time factor {factor:.4f}", flush=True)


if __name__ == "__main__":
    main()
