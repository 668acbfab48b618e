"""Phone error rate of a checkpoint without lexicon or language model: how training goes, long before words come out.

    python -m models.asr.phone_error RUN/model.pt STORE LEXICON dev dev2 --every 7 --weights last

The most likely token of each frame, repetitions joined and blanks dropped, against the nearest of a sentence's
pronunciations. A blank between two frames of the same phone makes two of it, as in CTC.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.asr.align import read_lexicon
from models.asr.score import Scorer, utterances


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
        wrong = total = 0
        for entry, features in utterances(args.store, name, args.every):
            words = entry["text"].split()
            if all(word in lexicon for word in words):
                errors, length = distance(greedy(scorer(features)), [lexicon[word] for word in words])
                wrong, total = wrong + errors, total + length
        print(f"{name}: {100 * wrong / total:.2f} % of {total} phones wrong", flush=True)


if __name__ == "__main__":
    main()
