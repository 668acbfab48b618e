"""Sentences and clauses out of text that arrives in pieces, as soon as it is certain that they end.

Where a text is cut depends on the text alone, never on how it arrived: a place is judged only when the characters
that decide about it are there (at most `LOOK_AHEAD` of them), and at the end of the text by what there is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from speech.text.numbers import listed

Kind = Literal["sentence", "clause", "paragraph"]

LOOK_AHEAD = 24  # characters after a place that may decide about it
LOOK_BACK = 32  # and before it
CLAUSE_CHARS = 24  # a clause shorter than this is not worth its own breath
LIMIT = 300  # characters without an end: the text is cut where it hurts least

CANDIDATE = re.compile(r"[.!?…]+[\"'”’)\]*_]*|[;:—]|,|\n|[。！？]")
# Before these a full stop is no end.
TITLES = frozenset(
    listed(
        "mr mrs ms dr prof st gen sen rep gov capt lt col sgt rev hon pres mt ft messrs mme fr vs no nos fig figs vol "
        "pp approx jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun eq ch sec"
    )
)
# Before these it may be one: what follows decides.
MAYBE = frozenset(
    listed(
        "etc inc ltd corp co bros dept ave blvd rd apt jr sr est ext esq intl assn univ min max tel al ed hr hrs lb "
        "lbs oz mins secs"
    )
)
STARTERS = frozenset(
    listed(
        "the a an it he she we they i you this that these those there here in on at if when what who why how where "
        "then so but and or as for to is are was were do does did my our your his her their its no yes now also "
        "please thanks let after before once because while"
    )
)
ALSO_WORDS = frozenset(listed("no sat sun mar st jan fri mon wed"))  # titles that end sentences too
SPOKEN = re.compile(r"[^\W_]")  # a letter or digit: something to say
WORD_BEFORE = re.compile(r"([^\s\"'“”‘’(\[]+)$")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text to be spoken in one go; the pieces together are the whole text."""

    text: str
    start: int  # offset in all text received, in characters
    kind: Kind  # what ends with it

    @property
    def end(self) -> int:
        """Offset after its last character."""
        return self.start + len(self.text)


class Splitter:
    """Push text in with `receive`, take pieces out; `flush` ends the text.

    `clauses`: cut at commas, semicolons, colons and dashes too. `limit`: the most characters of a piece.
    """

    def __init__(self, clauses: bool = True, shortest: int = CLAUSE_CHARS, limit: int = LIMIT) -> None:
        if limit < 2 * LOOK_AHEAD:
            raise ValueError(f"limit is {limit} characters, expected {2 * LOOK_AHEAD} or more")
        self._clauses, self._shortest, self._limit = clauses, shortest, limit
        self._text = ""  # what is not in a piece yet
        self._offset = 0  # of its first character in all text received
        self._seen = 0  # up to where it has been searched

    @property
    def state(self) -> tuple[str, int]:
        """What is not in a piece yet, and its place in all text received: enough for `resumed`."""
        return self._text, self._offset

    @classmethod
    def resumed(cls, text: str, offset: int) -> Splitter:
        """A splitter that goes on from the `state` of one with the same settings, which are those of `Splitter()`."""
        splitter = cls()
        splitter._text, splitter._offset = text, offset
        return splitter

    def receive(self, text: str) -> list[Piece]:
        """Take a piece of the text of any length; give what is complete by now."""
        self._text += text
        return self._drain(final=False)

    def flush(self) -> list[Piece]:
        """The text is at its end: give the rest. Text received afterwards begins a new sentence."""
        return self._drain(final=True)

    def _drain(self, final: bool) -> list[Piece]:
        pieces: list[Piece] = []
        start = 0
        while start < len(self._text):
            found = self._next(start, final)
            if found is None:
                break
            end, kind = found
            pieces.append(Piece(self._text[start:end], self._offset + start, kind))
            start = self._seen = end
        self._text = self._text[start:]
        self._offset += start
        self._seen = max(0, self._seen - start)
        return pieces

    def _next(self, start: int, final: bool) -> tuple[int, Kind] | None:
        """Where the piece that begins at `start` ends; None while that is open."""
        text, here = self._text, max(start, self._seen)
        last = start + self._limit
        while found := CANDIDATE.search(text, here, min(len(text), last + LOOK_AHEAD)):
            if found.end() > last:
                break
            if not final and len(text) - found.end() < LOOK_AHEAD and _open(text, found):
                self._seen = found.start()
                return None
            kind = self._judge(text, start, found)
            if kind:
                end = found.end()
                return (end, kind) if _after_letter(text, found) else self._with_blanks(end, kind, last)
            here = found.end()
        self._seen = max(start, min(here, len(text)))
        if len(text) >= last + LOOK_AHEAD or (final and len(text) > last):
            return self._forced(text, start, last), "clause"
        return (len(text), "sentence") if final else None

    def _with_blanks(self, end: int, kind: Kind, last: int) -> tuple[int, Kind]:
        """One blank belongs to the piece before it, so that pieces can be joined again."""
        return (end + 1, kind) if self._text[end : end + 1] == " " and end < last else (end, kind)

    def _judge(self, text: str, start: int, found: re.Match[str]) -> Kind | None:
        sign, after = found[0], text[found.end() : found.end() + LOOK_AHEAD]
        if not SPOKEN.search(text, start, found.end()):
            return None
        if sign == "\n":
            return _line_end(after)
        if sign[0] in "。！？":
            return "sentence"
        if sign[0] in ",;:—":
            return self._clause_end(text, start, found, after)
        if after and not after[0].isspace():
            return None
        ends = sign[0] != "." or len(sign.rstrip("\"'”’)]*_")) > 1 or _full_stop(text, found, after)
        return "sentence" if ends and not _goes_on(sign, after) else None

    def _clause_end(self, text: str, start: int, found: re.Match[str], after: str) -> Kind | None:
        if not self._clauses or found.end() - start < self._shortest:
            return None
        if found[0] != "—" and not _after_letter(text, found) and after and not after[0].isspace():
            return None
        following = after.lstrip()[:1]
        number = found[0] == "," and text[found.start() - 1 : found.start()].isdigit() and following.isdigit()
        return None if number else "clause"

    def _forced(self, text: str, start: int, last: int) -> int:
        """A cut where none offers itself: after the last sign, else the last blank, else in the middle of a word."""
        for pattern in (r"[,;:—)](?=\s)", r"\s(?=(?:and|or|but|that|which|because|with|of|in|to)\s)", r"\s"):
            ends = [m.end() for m in re.finditer(pattern, text[start : last + 1])]
            usable = [end for end in ends if self._limit // 3 <= end <= self._limit]
            if usable:
                return start + usable[-1]
        return last


def _open(text: str, found: re.Match[str]) -> bool:
    """Whether characters that have not come yet could change what this sign means."""
    if _after_letter(text, found):
        return False
    after = text[found.end() :]
    if not after or found[0] == "\n":
        return _line_open(after.strip())
    if not after[0].isspace():
        return False
    word = after.lstrip()
    if found[0] == ",":
        return text[found.start() - 1 : found.start()].isdigit() and not word
    if found[0][0] in ";:—!?…":
        return found[0][0] in "!?…" and len(found[0]) > 1 and not word
    certain = found[0] == "." and _plain_word(_before(text, found))
    return not certain and not re.search(r"[\s.,;:!?]", word)


def _after_letter(text: str, found: re.Match[str]) -> bool:
    """A comma after a letter parts clauses whatever follows, so that nobody waits for the next token to hear them."""
    return found[0] == "," and text[found.start() - 1 : found.start()].isalpha()


def _line_open(line: str) -> bool:
    """Whether the next line may still turn out to be a list item."""
    return not line or (len(line) < 4 and not line[0].isalpha())


def _before(text: str, found: re.Match[str]) -> str:
    """The word before a full stop, with its own full stops."""
    word = WORD_BEFORE.search(text[max(0, found.start() - LOOK_BACK) : found.start()])
    return word[1] if word else ""


def _plain_word(word: str) -> bool:
    """A word in small letters that abbreviates nothing: its full stop is an end, whatever follows."""
    lower = word.lower()
    return len(word) > 2 and word.isalpha() and word[1:].islower() and lower not in TITLES and lower not in MAYBE


def _full_stop(text: str, found: re.Match[str], after: str) -> bool:
    word = _before(text, found)
    if _plain_word(word) or not word:
        return True
    following = re.match(r"\s*[\"'“‘(\[*_]*([^\s.,;:!?]*)", after)
    next_word = following[1] if following else ""
    if not next_word:
        return True
    return _ends_before(word, next_word, alone=text[: found.start()].rsplit("\n", 1)[-1].strip() == word)


def _ends_before(word: str, next_word: str, alone: bool) -> bool:
    """Whether the full stop of an abbreviation, initial or number ends a sentence before `next_word`."""
    lower = word.lower()
    if lower in TITLES:
        return _starter(next_word) and lower in ALSO_WORDS
    if re.fullmatch(r"[A-Z]", word):
        return _starter(next_word)
    if re.fullmatch(r"(?:[A-Za-z]\.)+[A-Za-z]", word):
        return next_word[0].isupper() and (_starter(next_word) or lower in ("a.m", "p.m"))
    if alone and re.fullmatch(r"\d{1,3}", word):
        return False  # "1. First": the number of a list
    return not next_word[0].islower()


def _starter(word: str) -> bool:
    return word[:1].isupper() and word.lower() in STARTERS


def _goes_on(sign: str, after: str) -> bool:
    """ "What?" she said. / Well... maybe: the sentence goes on in small letters."""
    quoted = len(sign) > 1
    return quoted and after.lstrip()[:1].islower()


def _line_end(after: str) -> Kind | None:
    """A blank line, or a line that begins a list item or a heading."""
    if re.match(r"[ \t\r]*\n", after):
        return "paragraph"
    return "sentence" if re.match(r"[ \t]*(?:[-*•#>]+ |\d{1,2}[.)] )", after) else None
