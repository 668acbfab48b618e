"""Roman numerals, where a word before them says that they are numbers: "Chapter IV", "Henry VIII"."""

from __future__ import annotations

import re

from speech.text.numbers import listed
from speech.tts.normalise.numbers import cardinal, ordinal
from speech.tts.normalise.rules import Place, rule
from speech.tts.normalise.words import Saying, say

CUES = frozenset(
    listed(
        "chapter part act scene volume vol book section phase war bowl title article appendix stage schedule tier "
        "unit episode season lesson figure table type class level grade mark rocky fantasy world apollo"
    )
)
REGNAL = frozenset(
    listed(
        "henry louis elizabeth charles george edward richard james william philip ferdinand frederick napoleon "
        "nicholas alexander peter catherine ivan paul benedict pius francis gregory innocent leo clement urban "
        "mary john ramses ramesses otto carl gustav leopold alfonso harald olaf christian constantine"
    )
)
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_CANONICAL = re.compile(r"(?:C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")


def value(text: str) -> int | None:
    """The value of a well-formed numeral below 400, None for anything else."""
    if not text or not _CANONICAL.fullmatch(text):
        return None
    numbers = [_VALUES[c] for c in text]
    following = [*numbers[1:], 0]
    return sum(-n if n < after else n for n, after in zip(numbers, following, strict=True))


def _roman(m: re.Match[str], place: Place) -> Saying | None:
    number = value(m[1])
    before = place.before()
    cue = before.lower().rstrip(".")
    if number is None or m[1] in ("C", "L") or place.char_before() != " ":
        return None
    if cue in CUES:
        return say(cardinal(number))
    if cue not in REGNAL or not before[0].isupper():
        return None
    if m[1] == "I" and place.after() and place.after() not in ("of",):
        return None
    return say(f"the {ordinal(number)}")


RULES = [rule("IVXLC", r"([IVXLC]{1,8})(?![A-Za-z0-9'-])", _roman)]
