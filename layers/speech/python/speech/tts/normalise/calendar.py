"""Dates, years, decades and times of day."""

from __future__ import annotations

import re

from speech.text.numbers import listed
from speech.tts.normalise.abbreviations import closing
from speech.tts.normalise.numbers import cardinal, ordinal, plural, year
from speech.tts.normalise.rules import DIGITS, LETTERS, NOT_IN_WORD, Place, rule
from speech.tts.normalise.words import Saying, pause, say, spell

MONTHS = listed("january february march april may june july august september october november december")
_SHORT = {month[:3]: month for month in MONTHS} | {"sept": "september"}
_MONTH = "|".join([*MONTHS, "sept", *_SHORT])
_NAMED = rf"(?i:({_MONTH}))(\.?)"
WEEKDAYS = {
    "mon": "monday", "tue": "tuesday", "tues": "tuesday", "wed": "wednesday", "thu": "thursday", "thur": "thursday",
    "thurs": "thursday", "fri": "friday", "sat": "saturday", "sun": "sunday",
}  # fmt: skip
YEAR_CUES = frozenset(listed("in since of by from until till to year circa around before after during and between"))
TIME_CUES = frozenset(["at", "by", "from", "until", "till", "before", "after", "around", "to", "between", "about"])


def month_name(text: str) -> str:
    """ "Mar" or "march" -> "march"."""
    lower = text.lower()
    return lower if lower in MONTHS else _SHORT[lower]


def date(month: int, day: int, the_year: str = "") -> Saying | None:
    """ "march third, twenty twenty four"; None when there is no such day."""
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    said = say(f"{MONTHS[month - 1]} {ordinal(day)}")
    return pause(said, ",") + say(_full_year(the_year)) if the_year else said


def _full_year(text: str) -> str:
    if len(text) == 2:
        return year((2000 if int(text) < 50 else 1900) + int(text))
    return year(int(text))


def _iso(m: re.Match[str], place: Place) -> Saying | None:
    return date(int(m[2]), int(m[3]), m[1])


def _slashes(m: re.Match[str], place: Place) -> Saying | None:
    first, second = int(m[1]), int(m[3])
    return date(first, second, m[4]) or date(second, first, m[4])


def _month_first(m: re.Match[str], place: Place) -> Saying | None:
    name, day, until, its_year = m[1], m[3], m[4], m[5]
    if _is_a_verb(name, place):
        return None
    if not 1 <= int(day) <= 31:
        return None
    said = say(f"{month_name(name)} {ordinal(int(day))}" + (f" to {ordinal(int(until))}" if until else ""))
    return pause(said, ",") + say(year(int(its_year))) if its_year else said


def _is_a_verb(name: str, place: Place) -> bool:
    """ "may 5 people", "march 10 miles" in small letters are no dates."""
    return name in ("may", "march", "mar", "dec", "sun")


def _day_first(m: re.Match[str], place: Place) -> Saying | None:
    if not 1 <= int(m[1]) <= 31 or _is_a_verb(m[2], place):
        return None
    said = say(f"{ordinal(int(m[1]))} of {month_name(m[2])}") if not m[4] else None
    return said or say(f"{ordinal(int(m[1]))} of {month_name(m[2])} {year(int(m[4]))}")


def _month_year(m: re.Match[str], place: Place) -> Saying | None:
    return None if _is_a_verb(m[1], place) else say(f"{month_name(m[1])} {year(int(m[3]))}")


def _month_alone(m: re.Match[str], place: Place) -> Saying | None:
    return say(month_name(m[1]))


def _weekday(m: re.Match[str], place: Place) -> Saying | None:
    return say(WEEKDAYS[m[1].lower()])


def _decade(m: re.Match[str], place: Place) -> Saying | None:
    digits = m[1].lstrip("'")
    if len(digits) == 2 and digits[1] != "0":
        return None
    spoken = cardinal(int(digits)) if len(digits) == 2 else year(int(digits))
    return say(plural(spoken))


def _years(m: re.Match[str], place: Place) -> Saying | None:
    return say(f"{year(int(m[1]))} to {_full_year(m[2])}")


def _year(m: re.Match[str], place: Place) -> Saying | None:
    """A number of four digits that context or its size makes a year."""
    value = int(m[0])
    cue = place.before().lower() in YEAR_CUES
    if value % 1000 == 0 and value != 2000:
        return None
    return say(year(value)) if 1900 <= value < 2100 or (cue and value >= 1010) else None


def _era(m: re.Match[str], place: Place) -> Saying | None:
    return say(year(int(m[1]))) + spell(m[2])


HALF = r"(?: ?([AaPp])(?:\.[Mm]\.|[Mm](?![A-Za-z])))"


def _clock(m: re.Match[str], place: Place) -> Saying | None:
    return _closed(clock(int(m[1]), int(m[2]), m[3] or "", m[4] or ""), m[0], place)


def _closed(said: Saying | None, written: str, place: Place) -> Saying | None:
    """The full stop of "p.m." may end the sentence too."""
    return closing(said, place) if said and written.endswith(".") else said


def _clocks(m: re.Match[str], place: Place) -> Saying | None:
    first, second = clock(int(m[1]), int(m[2])), clock(int(m[3]), int(m[4]))
    return [*first, *say("to"), *second] if first and second else None


def clock(hour: int, minute: int, second: str = "", half: str = "") -> Saying | None:
    """ "nine oh five a m", "seven o'clock", "fourteen thirty"; None when there is no such time."""
    if hour > 24 or minute > 59:
        return None
    words = cardinal(hour)
    if minute:
        words += f" {'oh ' if minute < 10 else ''}{cardinal(minute)}"
    elif not half and not second:
        words += " o'clock" if 1 <= hour <= 12 else " hundred"
    if second:
        words += f" and {cardinal(int(second))} second{'' if int(second) == 1 else 's'}"
    return say(words) + (spell(half + "m") if half else [])


def _hour(m: re.Match[str], place: Place) -> Saying | None:
    return _closed(clock(int(m[1]), 0, "", m[2]), m[0], place) if 1 <= int(m[1]) <= 12 else None


def _hours(m: re.Match[str], place: Place) -> Saying | None:
    first, second = clock(int(m[1]), int(m[2] or 0), "", "x"), clock(int(m[3]), int(m[4] or 0), "", m[5])
    return _closed([*first[:-2], *say("to"), *second], m[0], place) if first and second else None


_TH = "(?:st|nd|rd|th)?"
_YEAR_AFTER = r"(?:,? ((?:1[0-9]|20)\d\d)(?![\d,:%]|\.\d))?"
RULES = [
    rule(DIGITS, r"((?:1[0-9]|20)\d\d)-(\d\d)-(\d\d)(?![\d-])", _iso),
    rule(DIGITS, r"(\d{1,2})([/.-])(\d{1,2})\2((?:1\d|20)?\d\d)(?![\d/.-]{0,9}\d)", _slashes),
    rule(DIGITS, rf"(\d{{1,2}})(?::(\d\d))? ?[-–] ?(\d{{1,2}})(?::(\d\d))?{HALF}", _hours),
    rule(DIGITS, r"(\d{1,2}):(\d\d) ?[-–] ?(\d{1,2}):(\d\d)(?![\d:])", _clocks),
    rule(DIGITS, rf"(\d{{1,2}}):(\d\d)(?::(\d\d))?{HALF}?(?![\d:])", _clock),
    rule(DIGITS, rf"(\d{{1,2}}){HALF}", _hour),
    rule(
        LETTERS,
        rf"{_NAMED} (\d{{1,2}}){_TH}(?:[-–](\d{{1,2}}){_TH})?(?![\d:%]|[.,]\d|[a-z]){_YEAR_AFTER}",
        _month_first,
    ),
    rule(DIGITS, rf"(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_NAMED}(?![a-z]){_YEAR_AFTER}", _day_first),
    rule(LETTERS, rf"{_NAMED},? ((?:1[0-9]|20)\d\d)(?![\d:%]|[.,]\d)", _month_year),
    rule(LETTERS, r"(Jan|Feb|Aug|Sept?|Oct|Nov|Dec)\.(?= ?\d| [a-z])", _month_alone),
    rule(LETTERS, r"(Mon|Tues?|Wed|Thu|Thurs?|Fri|Sat|Sun)\.(?![A-Za-z0-9])", _weekday),
    rule(LETTERS, r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?=,? (?:[A-Z][a-z]{2,8}\.? ?)?\d)", _weekday),
    rule(DIGITS + "'", rf"('?\d0|\d{{3}}0)s{NOT_IN_WORD}", _decade),
    rule(DIGITS, r"((?:1[0-9]|20)\d\d)[-–]((?:1[0-9]|20)?\d\d)(?![\d-])", _years),
    rule(DIGITS, r"(\d{1,4}) ?(BC|AD|BCE|CE)(?![A-Za-z])", _era),
]
# After measures and codes: "1950 kg", "order 1999".
YEARS = [
    rule(DIGITS, r"(?:1\d|20)\d\d(?![\d,]{0,20}\d|\.\d|[A-Za-z])", _year),
]
