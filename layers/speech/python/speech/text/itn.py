"""Inverse text normalisation: spoken words to written ones, "twenty five dollars" to "$25".

A list of rules is tried at each position from left to right; the first that matches consumes its words. Rules look
ahead a bounded number of words, so the time is linear. What no rule knows stays as it is: prose is safer than clever.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from speech.text import amounts, clock, dates, digits, spelling
from speech.text.numbers import DIGITS, OH, ORDINAL_DIGITS, ORDINAL_TEENS, ORDINAL_TENS, TEENS, TENS, Words, at, listed

SIGNS = frozenset(",.?!;:")
Rule = Callable[[Words, int], list[tuple[int, str]] | None]  # pieces: how many words each consumes, and its text

# Order matters: the more specific first. "nine a m" is a time before it is a number, a number before it is letters.
RULES: tuple[Rule, ...] = (
    clock.time_of_day,
    dates.month_and_day,
    dates.month_and_year,
    dates.decade,
    amounts.money,
    amounts.percent,
    amounts.measure,
    spelling.special,
    digits.run,
    amounts.plain,
    amounts.ranked,
    spelling.letters,
    spelling.domain,
)
# The words that a rule can start with (a lone letter can too): most words of prose are none, and cost one look-up.
STARTERS = frozenset(listed("the minus negative half quarter point")).union(
    *(DIGITS, TEENS, TENS, ORDINAL_DIGITS, ORDINAL_TEENS, ORDINAL_TENS, OH, dates.MONTHS, digits.REPEATS),
    (words[0] for words in spelling.SPECIAL),
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A written word or sign for the input positions `start` to `end` (not included); a sign put in has none."""

    start: int
    end: int
    text: str
    changed: bool  # by a rule: its casing is settled


def normalise(words: Sequence[str], names: Collection[int] = ()) -> list[Piece]:
    """Written pieces that cover every position once, in order.

    `words`: lower-case spoken words, with signs ("," "." "?") between them where known.
    `names`: positions of words known to be names, which "doctor" needs to become "Dr.".
    """
    pieces: list[Piece] = []
    i = 0
    while i < len(words):
        found = _match(words, i, names)
        for count, text in found or [(1, words[i])]:
            pieces.append(Piece(i, i + count, text, changed=found is not None))
            i += count
    return pieces


def _match(words: Sequence[str], i: int, names: Collection[int]) -> list[tuple[int, str]] | None:
    if words[i] in SIGNS:
        return None
    title = spelling.title(words, i, i + 1 in names)
    if title is not None:
        return title
    if words[i] not in STARTERS and len(words[i]) > 1 and at(words, i + 1) != "dot":
        return None
    return next((found for rule in RULES if (found := rule(words, i)) is not None), None)


def written(text: str) -> str:
    """A spoken sentence, blanks between words and signs, as one written line: for the table of examples."""
    line = ""
    for piece in normalise(text.split()):
        line += piece.text if piece.text in SIGNS else " " + piece.text
    return line.strip()
