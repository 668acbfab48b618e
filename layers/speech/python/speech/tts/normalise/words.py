"""A spoken word with its place in the written text, and how rules say what they read."""

from __future__ import annotations

from dataclasses import dataclass, replace

RANKS = {"": 0, ",": 1, ";": 2, ":": 3, "—": 4, ".": 5, "!": 6, "?": 7}  # of two signs the higher one is kept


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """One word as it is said. Words of one written token ("$25") share its place in the text."""

    text: str  # lower case, a to z and apostrophes
    start: int  # offset of its written token in the caller's text, in characters
    end: int  # offset after it
    letters: bool = False  # the name of a letter: "b" is said "bee"
    emphasis: bool = False  # written in capitals among small letters
    after: str = ""  # the sign that follows: one of . , ! ? ; : — or nothing
    cased: str = ""  # as written, where capitals may tell words apart ("Polish"); else ""
    phonemes: str = ""  # given by the caller; else ""


@dataclass(frozen=True, slots=True)
class Said:
    """What a rule says for a token: a word without its place."""

    text: str
    letters: bool = False
    emphasis: bool = False
    after: str = ""
    cased: str = ""


Saying = list[Said]


def say(text: str, cased: str = "", emphasis: bool = False) -> Saying:
    """The words of a text; a single letter but "a" and "i" is the name of the letter."""
    return [Said(w, len(w) == 1 and w not in "ai", emphasis, cased=cased) for w in text.split()]


def spell(text: str) -> Saying:
    """The names of the letters of a text; other characters are dropped."""
    return [Said(c, letters=True) for c in text.lower() if c.isalpha() and c.isascii()]


def pause(saying: Saying, sign: str) -> Saying:
    """The same with a sign after its last word."""
    return [*saying[:-1], replace(saying[-1], after=stronger(saying[-1].after, sign))] if saying else saying


def stronger(one: str, other: str) -> str:
    """Of two signs the one that counts."""
    return one if RANKS[one] >= RANKS[other] else other
