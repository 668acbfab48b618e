"""Phone error rate of a checkpoint without lexicon or language model: how training goes, long before words come out.

    python -m models.asr.phone_error RUN/model.pt STORE LEXICON dev dev2 --every 7 --weights last

The most likely token of each frame, repetitions joined and blanks dropped, against the nearest of a sentence's
pronunciations. Runs of one blank frame inside a phone do not count as two phones.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.asr.align import read_lexicon
from models.asr.score import Scorer


def greedy(log_probs: NDArray[np.float32]) -> NDArray[np.int64]:
    """Tokens of the best label of each frame: repetitions joined, blanks dropped."""
    best = log_probs.argmax(axis=1)
    kept = best[np.diff(best, prepend=-1) != 0]
    return kept[kept > 0]


def distance(phones: NDArray[np.int64], words: list[list[list[int]]]) -> tuple[int, int]:
    """Edit distance of `phones` to the nearest choice of pronunciations of `words`, and that choice's length.

    A row of the distance table per reference phone; where a word has several pronunciations the least of their last
    rows goes on, which is exact, for a path through the table has one pronunciation of each word.
    """
    row = np.arange(len(phones) + 1) * 1000  # distance and length in one number, so that the minimum carries both
    for pronunciations in words:
        ends = []
        for pronunciation in pronunciations:
            at = row
            for phone in pronunciation:
                at = _next_row(at, phones != phone) + 1
            ends.append(at)
        row = np.min(ends, axis=0)
    return divmod(int(row[-1]), 1000)


def _next_row(row: NDArray[np.int64], wrong: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The next row of an edit-distance table, in thousands; insertions run along the row."""
    steps = np.minimum(row + 1000, np.concatenate([row[:1] + 1000, row[:-1] + 1000 * wrong]))
    along = np.arange(len(row)) * 1000
    return np.minimum.accumulate(steps - along) + along


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("store", type=Path)
    parser.add_argument("lexicon", type=Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--every", type=int, default=7, help="take every so many utterances")
    parser.add_argument("--weights", choices=("last", "average"), default="last")
    args = parser.parse_args()
    lexicon, _ = read_lexicon(args.lexicon)
    scorer = Scorer(args.checkpoint, args.weights == "average")
    for name in args.names:
        features = np.memmap(args.store / f"{name}.f16", np.float16, "r").reshape(-1, 80)
        index = [json.loads(line) for line in (args.store / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        wrong = total = 0
        for u in index[:: args.every]:
            if all(word in lexicon for word in u["text"].split()):
                log_probs = scorer(features[u["offset"] : u["offset"] + u["frames"]])
                errors, length = distance(greedy(log_probs), [lexicon[word] for word in u["text"].split()])
                wrong, total = wrong + errors, total + length
        print(f"{name}: {100 * wrong / total:.2f} % of {total} phones wrong", flush=True)


if __name__ == "__main__":
    main()
