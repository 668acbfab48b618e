"""Times of day: "9:30", "9:30 AM", "10 o'clock"."""

from __future__ import annotations

from speech.text.numbers import DIGITS, OH, Words, at, below_100, listed

Pieces = list[tuple[int, str]]

BEFORE_TIME = frozenset(listed("at around about by until till from before after past between to approximately"))
BEFORE_CODE = frozenset(
    listed("room flight number highway route suite apartment unit extension page gate bus train channel code")
)
PARTS = {"half": 30, "quarter": 15}
USUAL_MINUTES = (15, 30, 45)  # "nine thirty" is a time wherever it stands, "seven forty seven" is not


def time_of_day(words: Words, i: int) -> Pieces | None:
    """A time that starts at `i`."""
    return relative(words, i) or absolute(words, i)


def relative(words: Words, i: int) -> Pieces | None:
    """ "half past nine", "(a) quarter to ten", "ten (minutes) past nine", "ten minutes to nine"."""
    start = i + 1 if at(words, i) == "a" and at(words, i + 1) == "quarter" else i
    if at(words, start) in PARTS:
        minutes, place, plain = PARTS[at(words, start)], start + 1, True
    elif number := below_100(words, start):
        with_unit = at(words, number.end) in ("minutes", "minute")
        minutes, place, plain = number.value, number.end + with_unit, with_unit
    else:
        return None
    word, hour = at(words, place), _hour(words, place + 1)
    if hour is None or not 0 < minutes < 60 or word not in ("past", "to") or (word == "to" and not plain):
        return None
    if word == "to" and at(words, start) == "half":
        return None
    text = f"{hour}:{minutes:02d}" if word == "past" else f"{(hour + 10) % 12 + 1}:{60 - minutes:02d}"
    return _with_half_of_day(words, i, place + 2, text)


def absolute(words: Words, i: int) -> Pieces | None:
    """ "nine thirty", "nine oh five", "nine a m", "ten o'clock"."""
    hour = _hour(words, i)
    if hour is None:
        return _after_noon(words, i)
    if at(words, i + 1) == "o'clock":
        return [(1, str(hour)), (1, "o'clock")]
    minutes, end = _minutes(words, i + 1)
    half, _ = half_of_day(words, end)
    if half:
        return _with_half_of_day(words, i, end, f"{hour}:{minutes:02d}" if minutes is not None else str(hour))
    if minutes is None or below_100(words, end) or at(words, end) in ("hundred", "thousand", "percent", "point", *OH):
        return None
    prompted = at(words, i - 1) in BEFORE_TIME
    usual = minutes in USUAL_MINUTES and not below_100(words, i - 1) and at(words, i - 1) not in OH
    code = at(words, i - 1) in BEFORE_CODE
    return [(end - i, f"{hour}:{minutes:02d}")] if prompted or (usual and not code) else None


def _after_noon(words: Words, i: int) -> Pieces | None:
    """ "at fourteen thirty", by the clock of 24 hours: only after "at", for elsewhere it may be a year."""
    hour = below_100(words, i)
    if hour is None or not 13 <= hour.value <= 23 or at(words, i - 1) != "at":
        return None
    minutes, end = _minutes(words, hour.end)
    return None if minutes is None or below_100(words, end) else [(end - i, f"{hour.value}:{minutes:02d}")]


def half_of_day(words: Words, i: int) -> tuple[str, int]:
    """ "AM" or "PM" for "a m", "p m", "am", "pm" at `i`, and the position after it; "" and `i` otherwise."""
    if at(words, i) in ("am", "pm"):
        return at(words, i).upper(), i + 1
    if at(words, i) in ("a", "p") and at(words, i + 1) == "m":
        return at(words, i).upper() + "M", i + 2
    return "", i


def _with_half_of_day(words: Words, i: int, end: int, text: str) -> Pieces:
    half, after = half_of_day(words, end)
    return [(end - i, text), (after - end, half)] if half else [(end - i, text)]


def _hour(words: Words, i: int) -> int | None:
    number = below_100(words, i)
    return number.value if number and number.end == i + 1 and 1 <= number.value <= 12 else None


def _minutes(words: Words, i: int) -> tuple[int | None, int]:
    """Ten to fifty-nine, or "oh five"; None and `i` when no minutes follow."""
    if at(words, i) in OH and at(words, i) != "zero" and DIGITS.get(at(words, i + 1), 0):
        return DIGITS[at(words, i + 1)], i + 2
    number = below_100(words, i)
    return (number.value, number.end) if number and 10 <= number.value < 60 else (None, i)
