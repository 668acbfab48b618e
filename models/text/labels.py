"""Written lines to training examples: spoken lower-case words, the punctuation after each, the casing of each."""

from __future__ import annotations

import random
import re
import unicodedata
from dataclasses import dataclass

from speech.text.numbers import listed
from speech.text.punctuation import COMMA, LOWER, MIXED, NONE, PERIOD, QUESTION, TITLE, UPPER

from models.text.verbalize import verbalize

IGNORE = -1  # a position whose label is not known and which no loss counts
FILLERS = frozenset(listed("uh um er erm eh ah hmm mm"))
EYE = frozenset(listed("i i'm i'll i've i'd"))
ABBREVIATIONS = {
    "mr": "mister",
    "mrs": "missus",
    "dr": "doctor",
    "st": "saint",
    "vs": "versus",
    "prof": "professor",
} | {word: word for word in listed("ms jr sr inc ltd co corp no")}
UNHYPHENATED = re.compile(r"\b(to)-(day|morrow|night)\b", re.IGNORECASE)
WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)*'?")
INITIALS = re.compile(r"\b(?:[A-Za-z]\.){2,}")
BRACKETS = re.compile(r"<[^>]*>|\[[^]]*\]")
SPACED_DASH = re.compile(r"\s+[-–—]+\s+|--+|[–—]+")
ELLIPSIS = re.compile(r"\.\s?\.\s?\.+|…")
STRONG = {".": PERIOD, "!": PERIOD, "?": QUESTION}
WEAK = {",": COMMA, ";": COMMA, ":": COMMA, "\u2013": COMMA, "\u2026": COMMA}


@dataclass(frozen=True, slots=True)
class Example:
    """A spoken word with its labels; `initial`: a sentence or quotation starts here, so a capital says nothing."""

    word: str
    punctuation: int
    casing: int
    initial: bool
    written: str


def casing_of(written: str) -> int:
    """Class of a written word; one capital letter counts as a title."""
    stem = re.sub(r"'s$", "", written)
    if written.islower():
        return LOWER
    if stem[0].isupper() and (len(stem) == 1 or stem[1:].islower() or stem[1:2] == "'"):
        return TITLE if written.lower() in EYE or stem[1:].islower() or len(stem) == 1 else MIXED
    return UPPER if stem.isupper() else MIXED


def fold(text: str) -> str:
    """ASCII letters and straight quotes; number and currency signs stay."""
    text = text.replace("\u2019", "'").replace("\u2018", "'").replace("\u201c", '"').replace("\u201d", '"')
    text = unicodedata.normalize("NFKD", text) if not text.isascii() else text
    return "".join(c for c in text if not unicodedata.combining(c))


def prepare(line: str, rng: random.Random) -> str:
    """One written line with numbers in words, initials spaced, dashes and ellipses as single signs."""
    line = UNHYPHENATED.sub(r"\1\2", BRACKETS.sub(" ", fold(line)))
    line = INITIALS.sub(lambda m: m[0].replace(".", " ").rstrip() + ("." if line.endswith(m[0]) else ""), line)
    line = ELLIPSIS.sub("\u2026 ", line)
    line = verbalize(line, rng).replace("&", " and ")
    return SPACED_DASH.sub(" \u2013 ", line).replace("\u2026", " \u2026 ")


def mark_after(tail: str, following: str) -> int:
    """Label of the signs between a word and the next one; `following`: the next word as written, or nothing."""
    lower_next = bool(following) and following[0].islower()
    for sign in tail:
        if sign in STRONG:
            if not lower_next:
                return STRONG[sign]
            return NONE if sign == "." else IGNORE
        if sign in WEAK:
            stop = sign == "\u2026" and following and not lower_next and following.lower() not in EYE
            return PERIOD if stop else COMMA
    return NONE


def examples(line: str, rng: random.Random, drop_fillers: bool = False) -> list[Example]:
    """Labelled words of one written line; the last has IGNORE where the line just breaks off."""
    text = prepare(line, rng)
    found = list(WORD.finditer(text))
    result: list[Example] = []
    starts = True
    for i, match in enumerate(found):
        written = match[0].rstrip("'")
        end = match.start() + len(written)
        following = found[i + 1][0] if i + 1 < len(found) else ""
        tail = text[end : found[i + 1].start() if following else len(text)]
        word = written.lower()
        mark = mark_after(tail, following)
        abbreviated = tail.startswith(".") and following and (word in ABBREVIATIONS or (len(word) == 1 and word != "i"))
        if abbreviated:
            mark = mark_after(tail[1:], following)
            word = ABBREVIATIONS.get(word, word) if rng.random() < 0.5 else word
        if not following and mark in (NONE, COMMA):
            mark = IGNORE
        casing = casing_of(written)
        result.append(Example(word, mark, casing, starts, written))
        starts = mark in (PERIOD, QUESTION, IGNORE) or '"' in tail or "(" in tail or "\u2026" in tail
    return without_fillers(result) if drop_fillers else result


def without_fillers(found: list[Example]) -> list[Example]:
    """The same without "uh" and "um"; a stronger sign after a filler moves to the word before it."""
    kept: list[Example] = []
    starts = False
    for item in found:
        if item.word in FILLERS:
            starts = starts or item.initial
            if kept and item.punctuation in (PERIOD, QUESTION, IGNORE):
                kept[-1] = replace_mark(kept[-1], item.punctuation)
            continue
        kept.append(item if not starts else Example(item.word, item.punctuation, item.casing, True, item.written))
        starts = False
    return kept


def replace_mark(item: Example, mark: int) -> Example:
    """The example with another punctuation label."""
    return Example(item.word, mark, item.casing, item.initial, item.written)
