"""What a normalisation rule is: a pattern at the reading place, and what to say for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from speech.tts.normalise.words import Saying

BACK = 48  # characters a rule may look back
WORD_BEFORE = re.compile(r"([A-Za-z][A-Za-z.']*)[^A-Za-z0-9\n]{0,3}$")
WORD_AFTER = re.compile(r"[ \t]?([A-Za-z][A-Za-z']{0,30})")


@dataclass(frozen=True)
class Place:
    """The plain text and the place where a rule is tried."""

    text: str
    start: int
    end: int  # after what the pattern matched
    known: Callable[[str], bool]  # whether a lower-case word is in the lexicon

    def before(self) -> str:
        """The word before, as written, with at most blanks and a sign between; "" if there is none."""
        found = WORD_BEFORE.search(self.text[max(0, self.start - BACK) : self.start])
        return found[1] if found else ""

    def after(self) -> str:
        """The word right after, as written; "" if there is none."""
        found = WORD_AFTER.match(self.text, self.end)
        return found[1] if found else ""

    def char_before(self) -> str:
        """The character before; "" at the beginning."""
        return self.text[self.start - 1 : self.start] if self.start else ""

    def next_char(self) -> str:
        """The first character after that is no blank; "" at the end or where it is far away."""
        return self.text[self.end : self.end + BACK].lstrip()[:1]


Speak = Callable[[re.Match[str], Place], Saying | None]  # None: not mine; []: silent


@dataclass(frozen=True)
class Rule:
    """A pattern, tried where one of its first characters stands; `speak` may decline with None."""

    starts: str
    pattern: re.Pattern[str]
    speak: Speak


LOWER = "abcdefghijklmnopqrstuvwxyz"
LETTERS = LOWER + LOWER.upper()
DIGITS = "0123456789"


def rule(starts: str, pattern: str, speak: Speak, flags: int = re.ASCII) -> Rule:
    """A rule with its pattern compiled."""
    return Rule(starts, re.compile(pattern, flags), speak)


NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"  # as written, without a sign
NOT_IN_WORD = r"(?![A-Za-z0-9])"
