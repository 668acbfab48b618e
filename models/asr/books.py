"""Public-domain books out of git snapshots into sentences, a line each, for the language model.

    python -m models.asr.books OUT/books_uga REPO.git ... --known text/pd_books_*.txt.xz --chapters CHAPTERS.TXT \
      --readers 1737 2416 3526 --transcripts dev.tsv dev2.tsv test-clean.txt test-other.txt

`books.toml` names the repositories and the authors that are left out. Plain text of Project Gutenberg (or files named
`Author___Title`) loses its header, licence, notes and headings. Left out are books of LibriSpeech's dev and test sets
(by number or title in its CHAPTERS.TXT, and those that --readers read), books that share three runs of ten words with
the transcripts, books nearly all seen before, and lines that share a run of six words with the transcripts or were seen
before. Writes OUT/books_uga_1.txt.xz, ..., and OUT/books_uga.tsv: what became of each book.
"""

from __future__ import annotations

import argparse
import lzma
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from models.asr.book_text import WORD, Book, folded, read_books, sentences

Hashes = npt.NDArray[np.uint64]

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
FUNCTION_WORDS = set("the of and to a in that he was it i his is with as".split())  # noqa: SIM905
SHORTEST = 2500  # words of a book
PART_BYTES = 120_000_000
SAMPLE = np.uint64(32)  # one run of eight words in so many tells whether a book is known
KNOWN_SHARE = 0.8
LINE_WORDS = 6  # shorter lines may occur again: people say "yes" more than once


def plain(title: str) -> str:
    """A title without article, edition, volume, accents and punctuation: `The Miserables, Vol. 2` -> `miserables`."""
    text = re.sub(r"\(.*?\)", " ", folded(title))
    text = re.sub(r",?\s*\b(vol\.?|volume|book|part|books)\s+[0-9ivx]+\b.*", " ", text)
    text = re.sub(r"[^a-z0-9 ]", "", text.replace("-", " "))
    return " ".join(re.sub(r"^\s*(the|a|an|les|la)\s+", "", text).split())


def worded(lines: Iterable[str]) -> list[list[str]]:
    """The words of each line, in lower case."""
    return [WORD.findall(line.lower().replace("’", "'")) for line in lines]


def hashed(words: list[str]) -> Hashes:
    """A number for each word, the same within one process."""
    return np.fromiter(map(hash, words), np.int64, len(words)).view(np.uint64)


def runs(words: Hashes, n: int) -> Hashes:
    """A number for each run of n words."""
    if len(words) < n:
        return np.zeros(0, np.uint64)
    out = np.zeros(len(words) - n + 1, np.uint64)
    for k in range(n):
        out = out * MULTIPLIER + words[k : len(words) - n + 1 + k]
    return out ^ (out >> np.uint64(29))


class HeldOut:
    """What must not be learnt from: books by number or title, and runs of words."""

    def __init__(self, chapters: Iterable[str], readers: set[str], transcripts: Iterable[str]) -> None:
        self.numbers: set[str] = set()
        self.titles: set[str] = set()
        for line in chapters:
            if line.startswith(";"):
                continue
            _, reader, _, subset, _, number, _, title = (field.strip() for field in line.split("|", 7))
            if subset.startswith(("dev", "test")) or reader in readers:
                self.numbers.add(number)
                self.titles.add(plain(title))
        self.titles.discard("")
        words = [hashed(WORD.findall(text.lower())) for text in transcripts]
        self.six, self.ten = (np.unique(np.concatenate([runs(w, n) for w in words])) for n in (6, 10))

    def named(self, book: Book) -> bool:
        """Whether the book is one of those read; long titles also as a part of another."""
        names = {plain(name) for name in book.names}
        inside = (f" {title} " in f" {name} " for name in names for title in self.titles if " " in title)
        return book.number in self.numbers or bool(names & self.titles) or any(inside)

    def lines(self, words: Hashes, line_of: npt.NDArray[np.int64]) -> set[int]:
        """The lines that a run of six words touches."""
        at = np.flatnonzero(np.isin(runs(words, 6), self.six))
        return set(line_of[(at[:, None] + np.arange(6)).ravel()].tolist())


class Library:
    """What has been seen: a sample of runs of eight words, and lines."""

    def __init__(self) -> None:
        self.runs: set[int] = set()
        self.lines: set[int] = set()

    def new(self, words: list[str]) -> bool:
        """Whether a line has not been seen before; it now has."""
        if len(words) < LINE_WORDS:
            return True
        key, before = hash(" ".join(words)), len(self.lines)
        self.lines.add(key)
        return len(self.lines) > before

    def known(self, words: Hashes) -> float:
        """The share of a text that was seen before; now all of it has been."""
        found = runs(words, 8)
        sample = found[found % SAMPLE == 0].tolist()
        share = sum(key in self.runs for key in sample) / max(1, len(sample))
        self.runs.update(sample)
        return share

    def learn(self, lines: Iterable[str]) -> None:
        """Takes in text that is there already."""
        split = worded(lines)
        self.known(hashed([w for words in split for w in words]))
        for words in split:
            self.new(words)


def chosen(book: Book, held_out: HeldOut, library: Library) -> list[str] | str:
    """The lines of a book that may be learnt from, or why there are none."""
    if held_out.named(book):
        return "held out"
    lines = sentences(book.text)
    split = worded(lines)
    flat = [w for words in split for w in words]
    if len(flat) < SHORTEST or sum(w in FUNCTION_WORDS for w in flat) < 0.2 * len(flat):
        return "short, verse or not English"
    words = hashed(flat)
    if int(np.isin(runs(words, 10), held_out.ten).sum()) >= 3:
        return "shares text with the transcripts"
    if library.known(words) > KNOWN_SHARE:
        return "seen before"
    held = held_out.lines(words, np.repeat(np.arange(len(split)), [len(w) for w in split]))
    return [
        line for n, (line, w) in enumerate(zip(lines, split, strict=True)) if w and n not in held and library.new(w)
    ]


class Writer:
    """Files of about `PART_BYTES` each, compressed."""

    def __init__(self, stem: Path) -> None:
        self.stem, self.parts = stem, 0
        self.waiting = bytearray()

    def write(self, lines: list[str]) -> None:
        """Takes a book, which is never in two files."""
        self.waiting += "".join(f"{line}\n" for line in lines).encode()
        if len(self.waiting) >= PART_BYTES:
            self.flush()

    def flush(self) -> None:
        """Writes what is waiting."""
        if self.waiting:
            self.parts += 1
            Path(f"{self.stem}_{self.parts}.txt.xz").write_bytes(lzma.compress(bytes(self.waiting), preset=1))
            self.waiting.clear()


def read_transcripts(paths: list[Path]) -> Iterator[str]:
    """The texts of manifests (fourth column), or the lines of a file without tabs."""
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            yield line.split("\t")[3] if "\t" in line else line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder and beginning of the files' names")
    parser.add_argument("repositories", nargs="+", type=Path, help="git directories")
    parser.add_argument("--chapters", type=Path, required=True, help="LibriSpeech's CHAPTERS.TXT")
    parser.add_argument("--readers", nargs="*", default=[], help="LibriSpeech speakers whose books are left out too")
    parser.add_argument("--transcripts", nargs="+", type=Path, required=True)
    parser.add_argument("--known", nargs="*", type=Path, default=[], help="text that is there already")
    parser.add_argument("--config", type=Path, default=Path(__file__).with_name("books.toml"))
    args = parser.parse_args()
    without = set(tomllib.loads(args.config.read_text(encoding="utf-8"))["without_authors"])
    chapters = args.chapters.read_text(encoding="utf-8").splitlines()
    held_out = HeldOut(chapters, set(args.readers), read_transcripts(args.transcripts))
    library, writer, total = Library(), Writer(args.out), 0
    for path in args.known:
        library.learn(lzma.decompress(path.read_bytes()).decode().splitlines())
    with Path(f"{args.out}.tsv").open("w", encoding="utf-8") as report:
        for book in (book for repository in args.repositories for book in read_books(repository)):
            lines = "author left out" if book.author in without else chosen(book, held_out, library)
            report.write(f"{book.path!r}\t{lines if isinstance(lines, str) else f'{len(lines)} lines'}\n")
            if not isinstance(lines, str):
                writer.write(lines)
                total += sum(len(line.split()) for line in lines)
    writer.flush()
    print(f"{total / 1e6:.1f} million words in {writer.parts} files")


if __name__ == "__main__":
    main()
