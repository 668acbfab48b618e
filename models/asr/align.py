"""Forced alignment: which label each 40 ms frame carries, by the best path through a sentence's pronunciations.

    python -m models.asr.align STORE LEXICON_DIR [NAME ...] --checkpoint model.pt

Writes STORE/NAME.labels.npz: `labels` (uint8, all label frames one after the other) with `offsets` (n + 1), and the
pronunciations taken, `phones` with `phone_offsets`. Synthesised
utterances take their exact durations and need no checkpoint; the others are aligned by the model, with every
pronunciation of a word and an optional pause between words as alternatives.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
STRIDE = 4  # feature frames in a label frame
FRAME_MS = 40.0
CENTRE_MS = 27.5  # middle of the samples that the label frame's four windows cover
FAR = np.float32(-1e9)


def read_lexicon(folder: Path) -> tuple[dict[str, list[list[int]]], list[str]]:
    """Pronunciations of each word as token numbers, and the tokens (0 is the blank)."""
    tokens = (folder / "tokens.txt").read_text(encoding="utf-8").split("\n")
    tokens = [token for token in tokens if token]
    number = {token: i for i, token in enumerate(tokens)}
    lexicon: dict[str, list[list[int]]] = defaultdict(list)
    for line in (folder / "lexicon.tsv").read_text(encoding="utf-8").splitlines():
        word, phones = line.split("\t")
        lexicon[word].append([number[phone] for phone in phones.split()])
    return dict(lexicon), tokens


class StateGraph:
    """States in order, each with a label and the states it may follow; built word by word."""

    def __init__(self) -> None:
        self.labels: list[int] = []
        self.before: list[list[int]] = []  # -1 is the start
        self.ends = [-1]  # states the next one may follow

    def add(self, label: int, before: list[int]) -> int:
        self.labels.append(label)
        self.before.append(before)
        return len(self.labels) - 1

    def optional(self, label: int) -> None:
        self.ends = [*self.ends, self.add(label, self.ends)]

    def alternatives(self, sequences: list[list[int]]) -> None:
        ends = []
        for sequence in sequences:
            at = self.ends
            for label in sequence:
                at = [self.add(label, at)]
            ends += at
        self.ends = ends

    def best_path(self, scores: FloatArray) -> NDArray[np.int32] | None:
        """State of each frame on the best path; `scores` (T, S) in log. None if the frames are too few."""
        frames, count = scores.shape
        width = max(len(b) for b in self.before) + 1
        before = np.full((count, width), count, np.int64)  # column `count` is minus infinity, `count + 1` the start
        for state, states in enumerate(self.before):
            before[state, 0] = state
            before[state, 1 : len(states) + 1] = [count + 1 if s < 0 else s for s in states]
        value = np.full(count + 2, FAR, np.float32)
        value[count + 1] = 0.0
        choices = np.empty((frames, count), np.int32)
        rows = np.arange(count)
        for t in range(frames):
            candidates = value[before]
            pick = candidates.argmax(axis=1)
            choices[t] = before[rows, pick]
            value[:count] = candidates[rows, pick] + scores[t]
            value[count + 1] = FAR
        ends = [end for end in self.ends if end >= 0]
        state = max(ends, key=lambda end: value[end])
        if value[state] < FAR / 2:
            return None
        path = np.empty(frames, np.int32)
        for t in range(frames - 1, -1, -1):
            path[t] = state
            state = choices[t, state]
        return path


def sentence_graph(words: list[str], lexicon: dict[str, list[list[int]]]) -> StateGraph:
    graph = StateGraph()
    graph.optional(0)
    for word in words:
        graph.alternatives(lexicon[word])
        graph.optional(0)
    return graph


def labels_of(graph: StateGraph, scores: FloatArray) -> tuple[NDArray[np.uint8], NDArray[np.uint8]] | None:
    """Label of each frame and the phones passed on the best path."""
    path = graph.best_path(scores)
    if path is None:
        return None
    labels = np.array(graph.labels, np.uint8)
    passed = labels[path[np.diff(path, prepend=-1) != 0]]
    return labels[path], passed[passed > 0]


def align_words(
    log_probs: FloatArray, words: list[str], lexicon: dict[str, list[list[int]]]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]] | None:
    """Labels and phones for `log_probs` (T, tokens), or None where a word is unknown or the speech too short."""
    if any(word not in lexicon for word in words):
        return None
    graph = sentence_graph(words, lexicon)
    return labels_of(graph, log_probs[:, np.array(graph.labels)])


def align_exact(
    phones: str, ends_ms: list[float], frames: int, number: dict[str, int]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]] | None:
    """Labels from exact times: every phone keeps at least one frame, pauses under 75 ms go to their neighbours."""
    graph, spans = StateGraph(), []
    start = 0.0
    for phone, end in zip(phones, ends_ms, strict=True):
        if phone != "_":
            graph.alternatives([[number[phone]]])
            spans.append((start, end))
        elif end - start >= 75.0:
            graph.optional(0)
            spans.append((start, end))
        start = end
    if not spans:
        return None
    centre = np.arange(frames)[:, None] * FRAME_MS + CENTRE_MS
    span = np.array(spans)
    distance = np.maximum(np.maximum(span[:, 0] - centre, centre - span[:, 1]), 0.0)
    return labels_of(graph, (-distance).astype(np.float32))


def align_store(store: Path, name: str, lexicon: dict[str, list[list[int]]], tokens: list[str], scorer: object) -> None:
    """Write the labels of one store; an utterance that cannot be aligned gets none (its offsets are equal)."""
    index = [json.loads(line) for line in (store / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    number = {token: i for i, token in enumerate(tokens)}
    features = np.memmap(store / f"{name}.f16", np.float16, "r").reshape(-1, 80)
    results, failed, empty = [], 0, np.zeros(0, np.uint8)
    for u in index:
        found = None
        if u["phones"]:
            found = align_exact(u["phones"], u["ends_ms"], u["frames"] // STRIDE, number)
        elif scorer is not None:
            log_probs = scorer(features[u["offset"] : u["offset"] + u["frames"]])  # type: ignore[operator]
            found = align_words(log_probs, u["text"].split(), lexicon)
        failed += found is None
        results.append(found or (empty, empty))
    labels, phones = zip(*results, strict=True)
    np.savez(
        store / f"{name}.labels.npz",
        labels=np.concatenate(labels), offsets=np.cumsum([0, *map(len, labels)]),
        phones=np.concatenate(phones), phone_offsets=np.cumsum([0, *map(len, phones)]),
    )  # fmt: skip
    print(f"{name}: {len(index) - failed} aligned, {failed} not", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("lexicon", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--checkpoint", type=Path)
    args = parser.parse_args()
    lexicon, tokens = read_lexicon(args.lexicon)
    scorer = None
    if args.checkpoint:
        from models.asr.score import Scorer

        scorer = Scorer(args.checkpoint)
    for name in args.names or sorted(p.stem for p in args.store.glob("*.jsonl")):
        align_store(args.store, name, lexicon, tokens, scorer)


if __name__ == "__main__":
    main()
