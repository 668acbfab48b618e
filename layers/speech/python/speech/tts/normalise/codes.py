"""Telephone numbers, flights, orders, versions, and other numbers that are read digit by digit."""

from __future__ import annotations

import re

from speech.text.numbers import listed
from speech.tts.normalise.numbers import cardinal, digits, integer
from speech.tts.normalise.rules import DIGITS, LETTERS, NOT_IN_WORD, Place, rule
from speech.tts.normalise.words import Saying, pause, say, spell

# Words after which a number is a name, not a quantity.
CUES = frozenset(
    listed(
        "flight order confirmation code account reference ticket case invoice zip pin tracking booking policy "
        "member serial number id extension ext reservation ref acct #"
    )
)
OH_CUES = frozenset(
    ["room", "suite", "apartment", "apt", "unit", "highway", "route", "interstate", "gate", "building", "bus"]
)
EMERGENCY = {"911", "999", "112", "411", "311", "988"}
NATO = {"COVID-19": "covid nineteen", "24/7": "twenty four seven", "50/50": "fifty fifty", "9/11": "nine eleven"}


def groups(*parts: str) -> Saying:
    """Digits of each part, with a short pause between the parts."""
    said = [say(digits(part)) for part in parts if part]
    return [word for part in said[:-1] for word in pause(part, ",")] + said[-1]


def telephone(text: str) -> Saying:
    """A telephone number as written: its groups, and letters as they stand ("one eight hundred flowers")."""
    parts = re.findall(r"\d+|[A-Za-z]+", text)
    out: Saying = say("plus") if text.startswith("+") else []
    for i, part in enumerate(parts):
        toll_free = part in ("800", "888", "900") and i < 2
        words = say(cardinal(int(part[0])) + " hundred") if toll_free and part[1:] == "00" else _digits_or_word(part)
        out += words if i == len(parts) - 1 else pause(words, ",")
    return out


def _digits_or_word(part: str) -> Saying:
    return say(digits(part)) if part.isdigit() else say(part.lower())


def _phone(m: re.Match[str], place: Place) -> Saying | None:
    return telephone(m[0])


def _version(m: re.Match[str], place: Place) -> Saying | None:
    return say(f"version {' point '.join(integer(part) for part in m[1].split('.'))}")


def _special(m: re.Match[str], place: Place) -> Saying | None:
    return say(NATO[m[0].upper()])


def _emergency(m: re.Match[str], place: Place) -> Saying | None:
    verb = place.before().lower() in ("call", "dial", "called", "dialed", "calling")
    return say(digits(m[0])) if m[0] in EMERGENCY and (verb or m[0] == "911") else None


def _mixed(m: re.Match[str], place: Place) -> Saying | None:
    """ "BA2490", "F-16", "H2O", "COVID-19", "4K": letters by name, long numbers digit by digit."""
    if not re.search("[A-Za-z]", m[0]) or not re.search(r"\d", m[0]):
        return None
    out: Saying = []
    for part in re.findall(r"[A-Za-z]+|\d+", m[0]):
        if part.isdigit():
            out += say(_short(part))
        elif len(part) > 3 and (part.islower() or place.known(part.lower())):
            out += say(part.lower(), cased=part)
        else:
            out += spell(part)
    return out


def _short(text: str) -> str:
    return integer(text) if len(text) <= 2 or (len(text) > 3 and text.endswith("000")) else digits(text)


def _flight(m: re.Match[str], place: Place) -> Saying | None:
    """ "UA 328" after "flight", "BA 2490" where the letters are an airline's: both digit by digit."""
    cue = place.before().lower() in ("flight", "flights", "train")
    return spell(m[1]) + say(digits(m[2])) if cue or m[1] in AIRLINES else None


AIRLINES = frozenset(listed("AA BA UA DL WN LH AF KL EK QR SQ NH JL AC QF VS AS NK EI IB LX SK TK"))


def _cued(m: re.Match[str], place: Place) -> Saying | None:
    """A number that a word before it makes a name: "order 48213", "room 405"."""
    before = place.before().lower().rstrip(".")
    length = len(m[0])
    if before in OH_CUES and length == 3 and not m[0].endswith("00"):
        return say(digits(m[0], "oh"))
    return say(digits(m[0])) if before in CUES and length >= 3 else None


def _numbered(m: re.Match[str], place: Place) -> Saying | None:
    """ "#5" is number five, and a long one is read digit by digit."""
    named = place.before().lower() in CUES
    number = digits(m[1]) if len(m[1]) >= 4 or (named and len(m[1]) == 3) else cardinal(int(m[1]))
    return say(number) if named else say(f"number {number}")


def _zip(m: re.Match[str], place: Place) -> Saying | None:
    state = re.search(r"\b[A-Z]{2} $", place.text[max(0, place.start - 4) : place.start])
    return groups(*m[0].split("-")) if state else None


def _dotted(m: re.Match[str], place: Place) -> Saying | None:
    """Versions with "point", network addresses with "dot"."""
    parts = m[0].split(".")
    address = len(parts) == 4 and all(int(p) < 256 for p in parts if len(p) < 4)
    joint = " dot " if address else " point "
    return say(joint.join(integer(p) if len(p) < 3 else digits(p) for p in parts))


def _account(m: re.Match[str], place: Place) -> Saying | None:
    return groups(*re.split("[- ]", m[0]))


RULES = [
    rule("vV", r"[vV]\.? ?(\d+(?:\.\d+){1,8})(?![A-Za-z\d])", _version),
    rule("Cc259", rf"(?:COVID-19|[Cc]ovid-19|24/7|50/50|9/11){NOT_IN_WORD}", _special),
    rule(DIGITS + "(+", r"(?:\+?1[-. ]?)?\(?\d{3}\)?[-. ]\d{3}[-. ]\d{4}(?![\d-])", _phone),
    rule(DIGITS, r"1-8\d\d-(?:[A-Z\d]{3,8}(?:-[A-Z\d]{2,4})?)(?![\w-])", _phone),
    rule("+", r"\+\d{1,3}(?:[ .-]?\(?\d{1,5}\)?){2,6}(?!\d)", _phone),
    rule(DIGITS, r"\d{3}-\d{2}-\d{4}(?![\d-])", _account),
    rule(DIGITS, r"\d{3}-\d{4}(?![\d-])", _phone),
    rule(DIGITS, r"\d{4}[- ]\d{4}[- ]\d{4}[- ]\d{4}(?!\d)", _account),
    rule(LETTERS, r"([A-Z]{2}) (\d{2,4})(?![\d,.:%-]{0,20}\d|[A-Za-z%])", _flight),
    rule(LETTERS + DIGITS, r"(?=[A-Z]*\d|\d+[A-Z])[A-Z\d]+(?![A-Za-z])", _mixed),
    rule(LETTERS, r"[A-Za-z]{1,12}\d[A-Za-z\d]{0,20}(?![A-Za-z\d'])", _mixed),
    rule(LETTERS, r"[A-Z]{1,6}-\d+(?:-[A-Z\d]+)*(?![A-Za-z\d])", _mixed),
    rule("#", r"# ?(\d++)(?![\d,.]{0,20}\d|[A-Za-z])", _numbered),
    rule(DIGITS, rf"\d{{3}}{NOT_IN_WORD}(?![.,-]\d)", _emergency),
    rule(DIGITS, r"\d{5}(?:-\d{4})?(?![\d,.-]{0,20}\d|[A-Za-z])", _zip),
    rule(DIGITS, r"\d{3,}+(?![\d,.:/%-]{0,20}\d|[A-Za-z%])", _cued),
    rule(DIGITS, r"\d+(?:\.\d+){2,8}(?![.\d])", _dotted),
]
