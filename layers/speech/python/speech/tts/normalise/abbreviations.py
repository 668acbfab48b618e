"""Abbreviations and what they stand for; some depend on their neighbours ("St.", "Dr.", "No.")."""

from __future__ import annotations

import re

from speech.text.numbers import listed
from speech.tts.normalise.rules import LETTERS, Place, rule
from speech.tts.normalise.words import Said, Saying, pause, say

TITLES = {
    "mr": "mister", "mrs": "missus", "ms": "miz", "prof": "professor", "gen": "general", "sen": "senator",
    "rep": "representative", "gov": "governor", "capt": "captain", "lt": "lieutenant", "col": "colonel",
    "sgt": "sergeant", "rev": "reverend", "hon": "honorable", "pres": "president", "messrs": "messieurs",
    "mme": "madame", "mlle": "mademoiselle", "cpl": "corporal", "maj": "major", "adm": "admiral", "fr": "father",
}  # fmt: skip
ALWAYS = {
    "etc": "et cetera", "vs": "versus", "jr": "junior", "sr": "senior", "inc": "incorporated", "ltd": "limited",
    "corp": "corporation", "co": "company", "bros": "brothers", "dept": "department", "ave": "avenue",
    "blvd": "boulevard", "rd": "road", "hwy": "highway", "apt": "apartment", "approx": "approximately",
    "appt": "appointment", "est": "established", "misc": "miscellaneous", "govt": "government", "mgr": "manager",
    "tel": "telephone", "ext": "extension", "vol": "volume", "pp": "pages", "fig": "figure", "figs": "figures",
    "eq": "equation", "ed": "edition", "univ": "university", "assn": "association", "esq": "esquire", "mt": "mount",
    "ft": "fort", "pt": "point", "sq": "square", "temp": "temperature", "qty": "quantity", "min": "minimum",
    "max": "maximum", "cf": "compare", "al": "al", "intl": "international", "natl": "national", "attn": "attention",
    "hr": "hour", "hrs": "hours", "mins": "minutes", "secs": "seconds", "lb": "pound", "lbs": "pounds", "oz": "ounces",
    "ln": "lane", "pkwy": "parkway", "dist": "district", "ph": "phone", "reg": "registered",
}  # fmt: skip
BEFORE_NAMES = frozenset(["mt", "ft", "pt"])  # before other words they are not what the table says
BARE = {  # without a full stop too
    "mr": "mister", "mrs": "missus", "ms": "miz", "vs": "versus", "etc": "et cetera", "jr": "junior",
    "blvd": "boulevard",
    "approx": "approximately", "dept": "department", "govt": "government", "ok": "okay", "w/": "with", "w/o": "without",
    "b/c": "because", "aka": "also known as", "yoy": "year over year", "qoq": "quarter over quarter", "hwy": "highway",
}  # fmt: skip
BEFORE_NUMBERS = {"no": "number", "nos": "numbers", "p": "page", "pg": "page", "ch": "chapter", "sec": "section"}
LATIN = {
    "e.g.": "for example", "eg.": "for example", "i.e.": "that is", "ie.": "that is", "a.k.a.": "also known as",
    "p.s.": "p s", "n.b.": "note well", "c.f.": "compare", "et al.": "et al", "ph.d.": "p h d", "m.sc.": "m s c",
    "b.sc.": "b s c", "ph.d": "p h d",
}  # fmt: skip
STATES = dict(
    pair.split(":")
    for pair in listed(
        "AL:alabama AK:alaska AZ:arizona AR:arkansas CA:california CO:colorado CT:connecticut DE:delaware "
        "FL:florida GA:georgia HI:hawaii ID:idaho IL:illinois IN:indiana IA:iowa KS:kansas KY:kentucky "
        "LA:louisiana ME:maine MD:maryland MA:massachusetts MI:michigan MN:minnesota MS:mississippi MO:missouri "
        "MT:montana NE:nebraska NV:nevada NH:new_hampshire NJ:new_jersey NM:new_mexico NY:new_york "
        "NC:north_carolina ND:north_dakota OH:ohio OK:oklahoma OR:oregon PA:pennsylvania RI:rhode_island "
        "SC:south_carolina SD:south_dakota TN:tennessee TX:texas UT:utah VT:vermont VA:virginia WA:washington "
        "WV:west_virginia WI:wisconsin WY:wyoming DC:d_c"
    )
)
WORDS_TOO = frozenset(["OK", "HI", "OR", "IN", "ME"])  # states only before a postal code


def closing(said: Saying, place: Place, before_capital: bool = True) -> Saying:
    """The sign of a full stop that both abbreviates and ends the sentence."""
    following = place.next_char()
    ends = not following or (before_capital and following.isupper()) or place.text.startswith("\n\n", place.end)
    return pause(said, ".") if ends else said


def _latin(m: re.Match[str], place: Place) -> Saying | None:
    words = LATIN[m[0].lower()]
    letters = [part for part in words.split() if len(part) == 1]
    said = say(words)
    if letters and len(letters) == len(said):
        return [Said(word.text, letters=True) for word in said]
    return closing(said, place, before_capital=False) if words not in ("for example", "that is") else said


def _dotted(m: re.Match[str], place: Place) -> Saying | None:
    short = m[1].lower()
    if short in TITLES:
        return say(TITLES[short]) if place.next_char().isalpha() and m[1][0].isupper() else None
    if short in BEFORE_NUMBERS and place.next_char().isdigit():
        return say(BEFORE_NUMBERS[short])
    if short in BEFORE_NAMES and not (m[1][0].isupper() and place.next_char().isupper()):
        return None
    if short not in ALWAYS or (
        short in ("al", "co", "min", "max", "ed", "est", "ph", "reg") and not _abbreviates(m[1], place)
    ):
        return None
    return closing(say(ALWAYS[short]), place)


def _abbreviates(written: str, place: Place) -> bool:
    """For short forms that are words or names too: the sentence goes on, or a company's name stands before."""
    if written == "Co":
        return place.before()[:1].isupper()
    return place.next_char().islower() or place.next_char().isdigit()


def _bare(m: re.Match[str], place: Place) -> Saying | None:
    return say(BARE[m[0].lower()])


def _saint_or_street(m: re.Match[str], place: Place) -> Saying | None:
    named = place.before()[:1].isupper() and place.char_before() == " " and not _sentence_starts(place)
    saint = place.next_char().isupper() and not (named and _house_number(place))
    if saint:
        return say("saint")
    return closing(say("street"), place) if named or m[1] else None


def _doctor_or_drive(m: re.Match[str], place: Place) -> Saying | None:
    if place.next_char().isupper() and not _house_number(place):
        return say("doctor")
    named = place.before()[:1].isupper() and place.char_before() == " "
    return closing(say("drive"), place) if named else say("doctor")


def _sentence_starts(place: Place) -> bool:
    return place.text[max(0, place.start - 2) : place.start] in (". ", "! ", "? ")


def _house_number(place: Place) -> bool:
    """ "12 Main " before: the abbreviation ends a street's name."""
    return bool(
        re.search(r"\d+(?:st|nd|rd|th)? (?:[A-Z][\w.]* ){0,3}$", place.text[max(0, place.start - 48) : place.start])
    )


def _state(m: re.Match[str], place: Place) -> Saying | None:
    code = bool(re.match(r" \d{5}", place.text[place.end : place.end + 7]))
    if m[0] not in STATES or not re.search(r"[a-z], ?$", place.text[max(0, place.start - 3) : place.start]):
        return None
    if not code and (m[0] in WORDS_TOO or not place.before()[:1].isupper()):
        return None
    return say(STATES[m[0]].replace("_", " "))


_LATIN = "|".join(re.escape(x) for x in sorted(LATIN, key=len, reverse=True))
_BARE = "|".join(re.escape(x) for x in sorted(BARE, key=len, reverse=True))
RULES = [
    rule(LETTERS, rf"(?:{_LATIN})(?![A-Za-z])", _latin, re.ASCII | re.IGNORECASE),
    rule("S", r"St(\.?)(?![A-Za-z0-9'])", _saint_or_street),
    rule("D", r"Dr\.?(?![A-Za-z0-9'])", _doctor_or_drive),
    rule(LETTERS, r"([A-Za-z]{1,7})\.(?![A-Za-z0-9])", _dotted),
    rule(LETTERS, rf"(?:{_BARE})(?![A-Za-z0-9'/])", _bare, re.ASCII | re.IGNORECASE),
    rule(LETTERS, r"[A-Z]{2}(?![A-Za-z0-9'])", _state),
]
