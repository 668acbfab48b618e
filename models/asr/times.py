"""How well word times fit: `python -m models.asr.times BUNDLE CORPUS`, against exact durations of synthesised speech.

CORPUS holds manifest*.tsv (id, seconds, voice, speed, text, phonemes with a space between words), ID.flac and ID.npz
with `dur`: how many units of 25 ms each phoneme takes, one pad before and one after them. Words that were recognised
right are compared, begin and end each on its own; a word's sounds are those between its spaces.
"""

from __future__ import annotations

import argparse
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from speech.asr.recognizer import Recognizer

from models.asr.evaluate import load
from models.asr.live import finals
from models.asr.spoken import spoken

UNIT_S = 0.025
SILENT = set(' .,!?;:—…"()“”')


class Timed(NamedTuple):
    """A word, seconds."""

    word: str
    start: float
    end: float


def exact(text: str, phonemes: str, durations: NDArray[np.int16]) -> list[Timed]:
    """The words of a sentence; none where its text has another number of words than its phonemes."""
    edges = UNIT_S * np.concatenate([[0], np.cumsum(durations)])[1:]  # edges[i]: begin of phoneme i
    words, groups = spoken(text), [g for g in phonemes.split(" ") if set(g) - SILENT]
    if len(words) != len(groups):
        return []
    found, at = [], 0
    for word, group in zip(words, groups, strict=True):
        begin = at = phonemes.index(group, at)
        sounds = [begin + i for i, p in enumerate(group) if p not in SILENT]
        found.append(Timed(word, float(edges[sounds[0]]), float(edges[sounds[-1] + 1])))
        at += len(group)
    return found


def recognised(recognizer: Recognizer, path: Path) -> list[Timed]:
    """What the recogniser hears in live chunks."""
    samples, rate = load(path)
    heard = finals(recognizer.stream(rate=rate), samples, rate)
    return [Timed(word.text, word.start_s, word.end_s) for final in heard for word in final.words]


def errors(truth: list[Timed], heard: list[Timed]) -> list[tuple[float, float]]:
    """Begin and end of each word in common, heard less true, seconds."""
    matcher = SequenceMatcher(None, [t.word for t in truth], [h.word for h in heard], autojunk=False)
    pairs = [(truth[m.a + k], heard[m.b + k]) for m in matcher.get_matching_blocks() for k in range(m.size)]
    return [(h.start - t.start, h.end - t.end) for t, h in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("corpus", type=Path)
    args = parser.parse_args()
    recognizer = Recognizer.load(args.bundle, verify=False)
    found: list[tuple[float, float]] = []
    sentences = 0
    for manifest in sorted(args.corpus.glob("manifest*.tsv")):
        for line in manifest.read_text(encoding="utf-8").splitlines():
            name, _, _, _, text, phonemes = line.split("\t")
            if not (truth := exact(text, phonemes, np.load(args.corpus / f"{name}.npz")["dur"])):
                continue
            found += errors(truth, recognised(recognizer, args.corpus / f"{name}.flac"))
            sentences += 1
    off = 1000 * np.array(found)
    print(f"{sentences} sentences, {len(off)} words recognised right")
    for what, ms in (("begin", off[:, 0]), ("end", off[:, 1])):
        size = np.abs(ms)
        print(f"{what}: median absolute error {np.median(size):.0f} ms, p90 {np.quantile(size, 0.9):.0f} ms, "
              f"median {np.median(ms):+.0f} ms")  # fmt: skip


if __name__ == "__main__":
    main()
