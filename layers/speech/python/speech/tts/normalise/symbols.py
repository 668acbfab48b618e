"""Signs that have a name, and apostrophes at the beginning of a word."""

from __future__ import annotations

import re

from speech.tts.normalise.rules import Place, rule
from speech.tts.normalise.words import Saying, say, spell

NAMES = {
    "&": "and", "=": "equals", "@": "at", "%": "percent", "°": "degrees", "$": "dollars", "£": "pounds", "€": "euros",
    "¥": "yen", "₹": "rupees", "¢": "cents", "µ": "micro", "\\": "backslash",
}  # fmt: skip
BETWEEN = {"+": "plus", "<": "less than", ">": "greater than", "*": "times", "/": "over", "-": "minus"}
CLIPPED = {"em": "'em", "cause": "'cause", "til": "'til", "tis": "'tis", "twas": "'twas", "bout": "about", "n": "and"}


def _named(m: re.Match[str], place: Place) -> Saying | None:
    return say(NAMES[m[0]])


def _between(m: re.Match[str], place: Place) -> Saying | None:
    """A sign of arithmetic, where both sides are numbers or it stands alone between blanks before one."""
    left = place.text[max(0, place.start - 2) : place.start].strip()
    right = place.next_char()
    arithmetic = left[-1:].isdigit() and right.isdigit()
    spaced = place.char_before() in (" ", "") and place.text[place.end : place.end + 1] == " "
    if m[0] == "+" and (left or right):
        return say("plus")
    if m[0] in "<>" and right.isdigit() and not left:
        return say(BETWEEN[m[0]])
    if m[0] in "<>" and (arithmetic or (spaced and left and right)):
        return say(BETWEEN[m[0]])
    return say(BETWEEN[m[0]]) if arithmetic and (m[0] != "-" or (spaced and _equation(place))) else None


def _equation(place: Place) -> bool:
    return "=" in place.text[place.end : place.end + 24]


def _about(m: re.Match[str], place: Place) -> Saying | None:
    return say("about")


def _clipped(m: re.Match[str], place: Place) -> Saying | None:
    return say(CLIPPED[m[1].lower()])


def _sharp(m: re.Match[str], place: Place) -> Saying | None:
    return spell(m[1]) + say("sharp" if m[2] == "#" else "plus plus")


RULES = [
    rule("CF", r"([CF])(#|\+\+)(?![A-Za-z0-9])", _sharp),
    rule("'", r"'(em|cause|til|tis|twas|bout|n)(?:'|\b)", _clipped, re.ASCII | re.IGNORECASE),
    rule("".join(NAMES), "[" + re.escape("".join(NAMES)) + "]", _named),
    rule("+<>*/-", r"[-+<>*/]", _between),
    rule("~", r"~(?= ?[$£€]?\d)", _about),
]
