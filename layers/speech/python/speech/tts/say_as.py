"""What `say-as` asks for: a text read as digits, characters, a date, a time, a telephone number and so on."""

from __future__ import annotations

import re
from collections.abc import Callable

from speech.tts.normalise import calendar, codes, normalise
from speech.tts.normalise.numbers import cardinal, digits, ordinal, year
from speech.tts.normalise.web import NAMES
from speech.tts.normalise.words import Said, Saying, pause, say, spell

DATE_FORMATS = ("mdy", "dmy", "ymd", "md", "dm", "ym", "my", "d", "m", "y", "yyyymmdd")
TIME_FORMATS = ("hms12", "hms24")
MORE_NAMES = NAMES | {",": "comma", ";": "semicolon", "!": "exclamation mark", "'": "apostrophe", "(": "parenthesis",
                      ")": "parenthesis", "$": "dollar sign", "*": "star", '"': "quote", "^": "caret"}  # fmt: skip


def read(interpret_as: str, text: str, form: str = "") -> Saying:
    """The words of `text` under an interpretation. Raises ValueError saying what was expected."""
    if interpret_as not in READERS:
        raise ValueError(f"interpret-as={interpret_as!r} is not known; known are {', '.join(READERS)}")
    if form and interpret_as not in ("date", "time"):
        raise ValueError(f"interpret-as={interpret_as!r} takes no format")
    said = READERS[interpret_as](text.strip(), form)
    if not said:
        raise ValueError(f"{text.strip()!r} cannot be read as {interpret_as}")
    return said


def _digits(text: str, form: str) -> Saying:
    return say(digits(text)) if re.fullmatch(r"[\d\s.,-]+", text, re.ASCII) else []


def _characters(text: str, form: str) -> Saying:
    out: Saying = []
    for char in text:
        if char.isascii() and char.isdigit():
            out += say(digits(char))
        elif char.isascii() and char.isalpha():
            out += spell(char)
        elif char in MORE_NAMES:
            out += say(MORE_NAMES[char])
        elif not char.isspace():
            out += _plain(char)
    return out


def _plain(text: str) -> Saying:
    words = normalise(text)
    return [Said(w.text, letters=w.letters, emphasis=w.emphasis, after=w.after, cased=w.cased) for w in words]


def _date(text: str, form: str) -> Saying:
    """A date by its format; without one as plain text reads it."""
    if not form:
        return _plain(text)
    if form not in DATE_FORMATS:
        raise ValueError(f"format={form!r} is not known; known are {', '.join(DATE_FORMATS)}")
    order = "ymd" if form == "yyyymmdd" else form
    found = re.fullmatch(r"(\d{4}|\?{4})(\d\d|\?\?)(\d\d|\?\?)", text) if form == "yyyymmdd" else None
    parts = list(found.groups()) if found else re.findall(r"\d+", text)
    if len(parts) != len(order) or any(len(part) > 4 for part in parts):
        return []
    values = dict(zip(order, parts, strict=True))
    return _spoken_date(values.get("y", ""), values.get("m", ""), values.get("d", ""))


def _spoken_date(its_year: str, month: str, day: str) -> Saying:
    numbers = [int(part) if part.isdigit() else 0 for part in (its_year, month, day)]
    if numbers[1] > 12 or numbers[2] > 31 or (month.isdigit() and not numbers[1]) or (day.isdigit() and not numbers[2]):
        return []
    name = calendar.MONTHS[numbers[1] - 1] if numbers[1] else ""
    said = say(f"{name} {ordinal(numbers[2])}" if numbers[2] else name)
    if not numbers[0]:
        return said
    return (pause(said, ",") if said else []) + say(year(numbers[0]))


def _time(text: str, form: str) -> Saying:
    if form and form not in TIME_FORMATS:
        raise ValueError(f"format={form!r} is not known; known are {', '.join(TIME_FORMATS)}")
    span = re.fullmatch(r"(\d{1,3})'(?:(\d{1,2})\")?", text)
    if span:
        return _minutes(int(span[1]), int(span[2] or 0))
    found = re.fullmatch(r"(\d{1,2})(?::?(\d\d))?(?::?(\d\d))? ?(?:([AaPp])\.?[Mm]\.?)?", text)
    if not found or (form == "hms12" and int(found[1]) > 12):
        return []
    return calendar.clock(int(found[1]), int(found[2] or 0), found[3] or "", found[4] or "") or []


def _minutes(minutes: int, seconds: int) -> Saying:
    words = f"{cardinal(minutes)} minute{'' if minutes == 1 else 's'}"
    return say(words + (f" {cardinal(seconds)} second{'' if seconds == 1 else 's'}" if seconds else ""))


def _telephone(text: str, form: str) -> Saying:
    return codes.telephone(text) if re.search(r"\d", text) and re.fullmatch(r"[\d\sA-Za-z().+/-]+", text) else []


def _currency(text: str, form: str) -> Saying:
    words = _plain(text)
    return words if re.search(r"\d", text) and re.search(r"[^\d\s.,-]", text) else []


def _cardinal(text: str, form: str) -> Saying:
    plain = text.replace(",", "").replace(" ", "")
    return say(cardinal(int(plain))) if re.fullmatch(r"-?\d{1,18}", plain, re.ASCII) else _numeral(text, cardinal)


def _ordinal(text: str, form: str) -> Saying:
    plain = re.sub(r"(?:st|nd|rd|th)$", "", text.replace(",", "").lower())
    return say(ordinal(int(plain))) if re.fullmatch(r"\d{1,15}", plain, re.ASCII) else _numeral(text, ordinal)


def _numeral(text: str, spoken: Callable[[int], str]) -> Saying:
    from speech.tts.normalise.roman import value

    number = value(text)
    return say(spoken(number)) if number else []


READERS: dict[str, Callable[[str, str], Saying]] = {
    "digits": _digits, "characters": _characters, "spell-out": _characters, "date": _date, "time": _time,
    "telephone": _telephone, "currency": _currency, "cardinal": _cardinal, "number": _cardinal, "ordinal": _ordinal,
}  # fmt: skip
