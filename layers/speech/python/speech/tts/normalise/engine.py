"""The reading loop: at each place of the text the first rule that fits says what it stands for.

Every rule looks at a bounded stretch of text, so that the time grows with the length of the text and no faster.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from speech.tts.normalise import (
    abbreviations,
    amounts,
    calendar,
    capitals,
    codes,
    quantities,
    roman,
    symbols,
    web,
)
from speech.tts.normalise.common import WORDS
from speech.tts.normalise.fold import Folded, fold
from speech.tts.normalise.rules import Place, Rule
from speech.tts.normalise.words import SpokenWord, stronger

# The order decides: a web address before a word, money before a number, a date before a fraction.
RULES = [
    *web.RULES, *roman.RULES, *calendar.RULES, *amounts.RULES, *codes.RULES, *calendar.YEARS, *quantities.RULES,
    *symbols.RULES, *abbreviations.RULES, *capitals.RULES,
]  # fmt: skip
TABLE: dict[str, list[Rule]] = {}
for _rule in RULES:
    for _char in set(_rule.starts):
        TABLE.setdefault(_char, []).append(_rule)

WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)*")
SIGN = re.compile(r"\.{2,}|--+|[.,!?;:()—–\[\]|-]")
NEWLINE = re.compile(r"\n\s{0,20}")
NEW_BLOCK = re.compile(r"\n *(?:\n|[-*#>] ?|\d{1,3}[.)] )")  # a blank line, a list item, a heading


def normalise(text: str, known: Callable[[str], bool] = WORDS.__contains__) -> tuple[SpokenWord, ...]:
    """The words of a text as one says them; a text without words gives none.

    `known`: whether a lower-case word is in the lexicon; it tells words in capitals from acronyms.
    """
    reader = _Reader(fold(text), known)
    reader.read()
    return tuple(reader.words)


class _Reader:
    """The words so far and the place in the folded text."""

    def __init__(self, folded: Folded, known: Callable[[str], bool]) -> None:
        self.folded = folded
        self.text = folded.text
        self.known = known
        self.words: list[SpokenWord] = []
        self.at = 0

    def read(self) -> None:
        """Read to the end."""
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == " ":
                self.at += 1
            elif char == "\n":
                self._newline()
            elif not (self._rules(char) or self._word() or self._sign()):
                self.at += 1

    def _rules(self, char: str) -> bool:
        for rule in TABLE.get(char, ()):
            found = rule.pattern.match(self.text, self.at)
            if found is None:
                continue
            said = rule.speak(found, Place(self.text, self.at, found.end(), self.known))
            if said is None:
                continue
            start, end = self.folded.place(self.at, found.end())
            for word in said:
                self.words.append(
                    SpokenWord(word.text, start, end, word.letters, word.emphasis, word.after, word.cased)
                )
            self.at = found.end()
            return True
        return False

    def _word(self) -> bool:
        found = WORD.match(self.text, self.at)
        if not found:
            return False
        start, end = self.folded.place(self.at, found.end())
        self.words.append(SpokenWord(found[0].lower(), start, end, cased=self._cased(found[0])))
        self.at = found.end()
        return True

    def _cased(self, written: str) -> str:
        """The word as written if its capitals mean something: not those that only begin a sentence."""
        if written.islower():
            return ""
        begins = not self.words or self.words[-1].after in (".", "!", "?", ":")
        return "" if begins and written[1:].islower() and self.known(written.lower()) else written

    def _sign(self) -> bool:
        found = SIGN.match(self.text, self.at)
        if not found:
            return False
        self._pause(self._meaning(found))
        self.at = found.end()
        return True

    def _meaning(self, found: re.Match[str]) -> str:
        sign = found[0]
        beside = self.text[max(0, found.start() - 1) : found.start()], self.text[found.end() : found.end() + 1]
        spaced = all(char in ("", " ", "\n") for char in beside)
        if sign.startswith(".."):
            following = self.text[found.end() : found.end() + 20].lstrip()[:1]
            return "." if not following or following.isupper() else ","
        if sign in ("-", "–"):
            return "—" if spaced else ""
        if sign.startswith("--"):
            return "—"
        if sign in ".!?" and self._inside_word(found):
            return ""
        return "," if sign in "()[]|" else sign

    def _inside_word(self, found: re.Match[str]) -> bool:
        """A full stop between letters without blanks ("node.js") is no end."""
        return found[0] == "." and self.text[found.end() : found.end() + 1].isalnum()

    def _newline(self) -> None:
        if NEW_BLOCK.match(self.text, self.at):
            self._pause(".")
        found = NEWLINE.match(self.text, self.at)
        assert found
        self.at = found.end()
        bullet = re.compile(r"(?:[-*>#]+ )").match(self.text, self.at)
        if bullet:
            self.at = bullet.end()

    def _pause(self, sign: str) -> None:
        if self.words and sign:
            last = self.words[-1]
            self.words[-1] = replace(last, after=stronger(last.after, sign))
