"""Measure a text bundle on held-out text, through the product: `python -m models.text.evaluate DATA BUNDLE`.

Held-out lines become spoken words, cut into segments of 8 to 45 words. `whole` segments end where a sentence ends,
`cut` ones anywhere; `fluent` ones end with a sentence and have no "uh" and "um". Word times carry no pauses, so the
product's hints only know the ends.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from speech.events import Word
from speech.model.bundle import Bundle, write_manifest
from speech.text.formatter import Formatter
from speech.text.punctuation import COMMA, PERIOD, QUESTION, SIGNS, capitalised

from models.text.labels import IGNORE, Example, examples

GROUPS = {
    "earnings calls": ("earnings_calls",),
    "dialogue": ("sgd", "multiwoz", "dstc_hotel_travel", "disfl_qa"),
    "meetings": ("meetings_ami_icsi", "meetings_committee", "crd3_tabletop"),
    "read sentences": ("common_voice_sentences",),
}
SHORTEST, LONGEST = 8, 45  # words in a segment
CAPITAL, OTHER = "capital", "other"  # classes of casing besides "", lower case
LIMIT = 20_000  # words of each group


@dataclass
class Counts:
    """Right, wrong and missed decisions, by class."""

    right: Counter[str] = field(default_factory=Counter)
    guessed: Counter[str] = field(default_factory=Counter)
    true: Counter[str] = field(default_factory=Counter)

    def add(self, truth: str, guess: str) -> None:
        """Count one decision; "" is no sign, or no capital."""
        self.true[truth] += 1
        self.guessed[guess] += 1
        self.right[truth] += truth == guess

    def f1(self, names: Sequence[str]) -> float:
        """F1 over the named classes together (micro-average)."""
        found = sum(self.right[name] for name in names)
        total = sum(self.guessed[name] + self.true[name] for name in names)
        return 2 * found / total if total else 0.0

    def accuracy(self) -> float:
        """Share of all decisions that are right."""
        return sum(self.right.values()) / max(1, sum(self.true.values()))


def held_out(data: Path, names: Sequence[str], fluent: bool) -> list[Example]:
    """Labelled words of the held-out lines of these sources, in order, no more than LIMIT."""
    rng = random.Random(3)
    lines: dict[str, list[str]] = {name: [] for name in names}
    for row in (data / "held_out.tsv").read_text(encoding="utf-8").splitlines():
        name, line = row.split("\t", 1)
        if name in lines:
            lines[name].append(line)
    found: list[Example] = []
    for part in lines.values():
        words: list[Example] = []
        for line in part:
            words += examples(line, rng, drop_fillers=fluent)
        found += words[: LIMIT // len(names)]
    return found


def segments(words: list[Example], cut: bool) -> Iterator[list[Example]]:
    """The words in segments that end with a sentence, or anywhere."""
    rng, first = random.Random(4), 0
    while first < len(words):
        last = first + rng.randint(SHORTEST, LONGEST)
        while not cut and last < len(words) and words[last - 1].punctuation not in (PERIOD, QUESTION, IGNORE):
            last += 1
        yield words[first:last]
        first = last


def measure(formatter: Formatter, words: list[Example], cut: bool) -> tuple[Counts, Counts, Counts]:
    """Punctuation, casing as written, and casing of words that start no sentence."""
    marks, casing, inner = Counts(), Counts(), Counts()
    opens = True
    for segment in segments(words, cut):
        spoken = [Word(item.word, i * 0.3, (i + 1) * 0.3, 1.0) for i, item in enumerate(segment)]
        guessed, spellings, _ = formatter.tags(spoken)
        for item, mark, spelling in zip(segment, guessed, spellings, strict=True):
            if item.punctuation != IGNORE:
                marks.add(SIGNS[item.punctuation], SIGNS[mark])
            casing.add(*casing_pair(item, capitalised(spelling) if opens else spelling))
            if not item.initial:
                inner.add(*casing_pair(item, spelling))
            opens = mark in (PERIOD, QUESTION)
    return marks, casing, inner


def casing_pair(item: Example, spelled: str) -> tuple[str, str]:
    """Classes of the true and the found spelling; another spelling than the true one is a class of its own."""
    found = "" if spelled == item.word else CAPITAL if spelled == item.written else OTHER
    return (CAPITAL if item.written != item.word else ""), OTHER if found and item.written == item.word else found


def report(marks: Counts, casing: Counts, inner: Counts) -> dict[str, float]:
    """The numbers, rounded."""
    capitals = casing.true[CAPITAL] + casing.guessed[CAPITAL] + casing.guessed[OTHER]
    return {
        "words": sum(casing.true.values()),
        "punctuation_f1": round(marks.f1([SIGNS[COMMA], SIGNS[PERIOD], SIGNS[QUESTION]]), 4),
        "comma_f1": round(marks.f1([SIGNS[COMMA]]), 4),
        "period_f1": round(marks.f1([SIGNS[PERIOD]]), 4),
        "question_f1": round(marks.f1([SIGNS[QUESTION]]), 4),
        "casing_f1": round(2 * casing.right[CAPITAL] / max(1, capitals), 4),
        "inner_casing_accuracy": round(inner.accuracy(), 4),
        "casing_accuracy": round(casing.accuracy(), 4),
    }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder written by models.text.corpus")
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--write", action="store_true", help="put the numbers into the bundle's manifest")
    arguments = parser.parse_args()
    formatter = Formatter.load(arguments.bundle)
    measured: dict[str, object] = {"command": "python -m models.text.evaluate DATA models/bundles/text-en-v1"}
    for group, names in GROUPS.items():
        for kind in ("whole", "cut", "fluent"):
            words = held_out(arguments.data, names, fluent=kind == "fluent")
            found = report(*measure(formatter, words, kind == "cut"))
            measured[f"{group}, {kind}"] = found
            print(f"{group:15s} {kind:6s}", json.dumps(found), flush=True)
    if arguments.write:
        bundle = Bundle.load(arguments.bundle, "text")
        write_manifest(arguments.bundle, replace(bundle.manifest, measured=measured))


if __name__ == "__main__":
    main()
