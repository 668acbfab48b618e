"""Measure a text bundle on held-out text, through the product: `python -m models.text.evaluate DATA BUNDLE`.

Held-out lines become spoken words without fillers, cut into segments of 8 to 45 words. `whole` segments end where a
sentence ends; `cut` ones are cut anywhere. Word times carry no pauses, so the product's hints only know the ends.
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
from speech.text.punctuation import COMMA, PERIOD, QUESTION, SIGNS

from models.text.labels import IGNORE, Example, examples

GROUPS = {
    "earnings calls": ("earnings_calls",),
    "dialogue": ("sgd", "multiwoz", "dstc_hotel_travel", "disfl_qa"),
    "meetings": ("meetings_ami_icsi", "meetings_committee", "crd3_tabletop"),
    "read sentences": ("common_voice_sentences",),
}
SHORTEST, LONGEST = 8, 45  # words in a segment
LIMIT = 40_000  # words of each group


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


def held_out(data: Path, names: Sequence[str]) -> list[Example]:
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
        rng.shuffle(part) if len(part) > LIMIT else None
        for line in part:
            words += examples(line, rng, drop_fillers=True)
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
        guessed, spellings, _ = formatter._tags(spoken)
        for i, item in enumerate(segment):
            if item.punctuation != IGNORE:
                marks.add(SIGNS[item.punctuation], SIGNS[guessed[i]])
            starts = opens if i == 0 else guessed[i - 1] in (PERIOD, QUESTION)
            spelled = spellings[i][:1].upper() + spellings[i][1:] if starts else spellings[i]
            # A capital is a class of its own spelling: right only if the whole word is spelled as it was written.
            pair = [x if x != item.word else "" for x in (item.written, spelled)]
            same = pair[0] == pair[1]
            names = [("capital" if x else "") for x in pair] if same or not all(pair) else ["capital", "other capital"]
            casing.add(names[0], names[1])
            if not item.initial:
                inner.add(
                    *(["capital" if x else "" for x in (pair[0], spellings[i] if spellings[i] != item.word else "")])
                )
        tail = guessed[-1]
        opens = tail in (PERIOD, QUESTION)
    return marks, casing, inner


def report(marks: Counts, casing: Counts, inner: Counts) -> dict[str, float]:
    """The numbers, rounded."""
    capital = (
        casing.right["capital"]
        * 2
        / max(1, casing.true["capital"] + casing.guessed["capital"] + casing.guessed["other capital"])
    )
    return {
        "words": sum(casing.true.values()),
        "punctuation_f1": round(marks.f1([SIGNS[COMMA], SIGNS[PERIOD], SIGNS[QUESTION]]), 4),
        "comma_f1": round(marks.f1([SIGNS[COMMA]]), 4),
        "period_f1": round(marks.f1([SIGNS[PERIOD]]), 4),
        "question_f1": round(marks.f1([SIGNS[QUESTION]]), 4),
        "casing_f1": round(capital, 4),
        "casing_accuracy": round(casing.accuracy(), 4),
        "inner_capitals_f1": round(inner.f1(["capital"]), 4),
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
        words = held_out(arguments.data, names)
        for kind in ("whole", "cut"):
            found = report(*measure(formatter, words, kind == "cut"))
            measured[f"{group}, {kind}"] = found
            print(f"{group:15s} {kind:6s}", json.dumps(found), flush=True)
    if arguments.write:
        bundle = Bundle.load(arguments.bundle, "text")
        write_manifest(arguments.bundle, replace(bundle.manifest, measured=measured))


if __name__ == "__main__":
    main()
