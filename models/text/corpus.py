"""Build the tagger's training arrays from a folder of text files: `python -m models.text.corpus TEXT_FOLDER OUT`.

Written lines become spoken words with labels (labels.py); each source keeps its order, so that neighbouring lines
give windows with sentence boundaries inside.
"""

from __future__ import annotations

import argparse
import lzma
import random
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from speech.text.punctuation import MIXED, TITLE
from speech.text.vocabulary import Vocabulary

from models.text.labels import EYE, IGNORE, Example, examples

CONFIG = Path(__file__).with_name("config.toml")
TAIL = 0.05  # share of the last lines held out
EVERY = 40  # one line in so many held out
UNTRIMMED = ("meetings_ami_icsi", "crd3_tabletop", "masc")  # real talk: lines may break off, and say so


@dataclass
class Collector:
    """Examples of one source as flat arrays, words as indices into a shared list."""

    index: dict[str, int]
    words: list[int] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    casings: list[int] = field(default_factory=list)
    initials: list[bool] = field(default_factory=list)

    def add(self, found: list[Example], cased: bool) -> None:
        """Append one line's examples; a capital that opens a sentence teaches no casing."""
        for item in found:
            self.words.append(self.index.setdefault(item.word, len(self.index)))
            self.marks.append(item.punctuation)
            opening = item.initial and item.casing == TITLE and item.word not in EYE
            self.casings.append(item.casing if cased and not opening else IGNORE)
            self.initials.append(item.initial)

    def save(self, path: Path) -> None:
        """Write the arrays, uncompressed: reading them must not cost training time."""
        np.savez(
            path,
            words=np.array(self.words, np.int32),
            marks=np.array(self.marks, np.int8),
            casings=np.array(self.casings, np.int8),
            initials=np.array(self.initials, np.bool_),
        )


def lines_of(path: Path) -> list[str]:
    """Lines of a compressed text file."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return file.read().splitlines()


def well_written(line: str) -> bool:
    """A line with a capital first and a final sign: typed dialogue often has neither, and would teach neither."""
    first = next((c for c in line if c.isalnum()), "")
    return bool(first) and not first.islower() and line.rstrip("\"') ")[-1:] in ".?!"


def split(lines: list[str], held_out: str) -> tuple[list[str], list[str]]:
    """Training lines and held-out lines."""
    if held_out == "tail":
        cut = int(len(lines) * (1 - TAIL))
        return lines[:cut], lines[cut:]
    if held_out == "lines":
        order = list(lines)
        return [x for i, x in enumerate(order) if i % EVERY], order[::EVERY]
    return lines, []


def sources(folder: Path, config: dict[str, Any]) -> Iterator[tuple[str, list[str], list[str], bool]]:
    """(name, training lines, held-out lines, casing counts) of each source in the configuration."""
    books = [name for name in config["sources"] if name.startswith("pd_books")]
    for name, (_, cased, held_out) in config["sources"].items():
        lines = lines_of(folder / f"{name}.txt.xz")
        if name not in UNTRIMMED and name not in books:
            lines = [line for line in lines if well_written(line)]
        if name in books:
            lines = cut_words(lines, config["books_words"] // len(books))
        train, test = split(lines, held_out)
        yield name, train, test, cased


def cut_words(lines: list[str], words: int) -> list[str]:
    """Evenly spaced stretches of lines with about so many words in all."""
    total = sum(line.count(" ") + 1 for line in lines)
    keep = min(1.0, words / total)
    return [line for i, line in enumerate(lines) if (i // 200 * keep) % 1 < keep]


def vocabulary(counts: Counter[str], spellings: dict[str, Counter[str]], config: dict[str, Any]) -> Vocabulary:
    """The most frequent words, and the mixed-case spellings that are the usual ones of their words."""
    rows = tuple(word for word, _ in counts.most_common(config["rows"] - 1))
    mixed = {}
    for word, forms in spellings.items():
        form, count = forms.most_common(1)[0]
        often = count >= config["mixed_count"] and count >= config["mixed_share"] * counts[word]
        if often and 2 * count >= forms.total() and not form.endswith("'S"):
            mixed[word] = form
    mixed |= {form.lower(): form for form in config["spellings"].split()}
    return Vocabulary(rows, mixed, config["buckets"])


def build(folder: Path, out: Path) -> None:
    """Write <source>.npz, held_out.tsv, words.txt (every word) and vocabulary.txt into `out`."""
    config = tomllib.loads(CONFIG.read_text())["corpus"]
    out.mkdir(parents=True, exist_ok=True)
    index: dict[str, int] = {}
    counts: Counter[str] = Counter()
    spellings: dict[str, Counter[str]] = {}
    with open(out / "held_out.tsv", "w", encoding="utf-8") as held:
        for name, train, test, cased in sources(folder, config):
            rng = random.Random(name)
            collector = Collector(index)
            for line in train:
                found = examples(line, rng, drop_fillers=rng.random() < 0.6)
                collector.add(found, cased)
                counts.update(item.word for item in found)
                for item in found:
                    if item.casing == MIXED:
                        spellings.setdefault(item.word, Counter())[item.written] += 1
            collector.save(out / f"{name}.npz")
            held.writelines(f"{name}\t{line}\n" for line in test)
            print(name, len(train), len(test), len(collector.words), flush=True)
    (out / "words.txt").write_text("\n".join(index), encoding="utf-8")
    (out / "vocabulary.txt").write_text(
        "\n".join(vocabulary(counts, spellings, config).lines()) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text_folder", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    build(arguments.text_folder, arguments.out)
