"""Plain numbers: signed, decimal, ordinal, fractions, ranges, and what stands between them."""

from __future__ import annotations

import re

from speech.tts.normalise.numbers import cardinal, decimal, digits, ordinal, plural
from speech.tts.normalise.rules import DIGITS, NUMBER, Place, rule
from speech.tts.normalise.words import Saying, say

HALVES = {2: ("half", "halves"), 4: ("quarter", "quarters")}
LARGEST_DENOMINATOR = 100


def fraction(top: int, bottom: int) -> str:
    """ "three quarters", "one half", "five sixteenths"."""
    one, many = HALVES.get(bottom) or (ordinal(bottom), plural(ordinal(bottom)))
    return f"{cardinal(top)} {one if top == 1 else many}"


def _fraction(m: re.Match[str], place: Place) -> Saying | None:
    whole, top, bottom = m[1], int(m[2]), int(m[3])
    if not 0 < top <= LARGEST_DENOMINATOR or not 2 <= bottom <= LARGEST_DENOMINATOR:
        return say(f"{decimal(m[0].replace('/', ' ').split()[0])} over {decimal(m[3])}") if not whole else None
    part = fraction(top, bottom)
    if not whole:
        return say(part)
    article = part.replace("one ", "a ", 1) if top == 1 and bottom in HALVES else part
    return say(f"{decimal(whole)} and {article}")


def _ordinal(m: re.Match[str], place: Place) -> Saying | None:
    plain = m[1].replace(",", "")
    return say(ordinal(int(plain))) if len(plain) <= 15 else say(digits(plain))


def _range(m: re.Match[str], place: Place) -> Saying | None:
    return say(f"{decimal(m[1])} to {decimal(m[2])}")


def _signed(m: re.Match[str], place: Place) -> Saying | None:
    if place.char_before().isalnum() or place.char_before() in (")", "-"):
        return None
    return say(f"{'minus' if m[1] == '-' else 'plus'} {decimal(m[2])}")


def _plain(m: re.Match[str], place: Place) -> Saying | None:
    return say(decimal(m[0]))


def _times(m: re.Match[str], place: Place) -> Saying | None:
    return say(f"{decimal(m[1])} x")


def _point(m: re.Match[str], place: Place) -> Saying | None:
    return None if place.char_before().isalnum() else say(f"point {digits(m[1])}")


def _power(m: re.Match[str], place: Place) -> Saying | None:
    power = {"2": "squared", "3": "cubed"}.get(m[1]) or f"to the power of {decimal(m[1])}"
    return say(power)


def _scaled(m: re.Match[str], place: Place) -> Saying | None:
    return say(f"{decimal(m[1])} {'thousand' if m[2] in 'kK' else 'million' if m[2] == 'M' else 'billion'}")


RULES = [
    rule(DIGITS, r"(?:(\d+) )?(\d+)/(\d+)(?![\d/]|[.,]\d)", _fraction),
    rule(DIGITS, r"(\d[\d,]{0,24})(?:st|nd|rd|th)(?![A-Za-z0-9])", _ordinal, re.ASCII | re.IGNORECASE),
    rule(DIGITS, rf"({NUMBER})[-–]({NUMBER})(?![\d-])", _range),
    rule("-+", rf"([-+])({NUMBER})(?!\d)", _signed),
    rule(".", r"\.(\d+)", _point),
    rule("^", r"\^(\d{1,4})", _power),
    rule(DIGITS, r"(\d+(?:\.\d+)?)(k|K|M|B)(?![A-Za-z0-9])", _scaled),
    rule(DIGITS, r"(\d+(?:\.\d+)?)x(?![A-Za-z0-9])", _times),
    rule(DIGITS, NUMBER, _plain),
]
