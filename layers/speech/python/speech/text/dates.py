"""Dates: "May 5, 2026", "the 3rd of June 1999", "June 2021", "1990s"."""

from __future__ import annotations

from speech.text.numbers import TENS, Number, Words, at, below_100, cardinal, listed, ordinal, suffixed

Pieces = list[tuple[int, str]]

MONTHS = listed("january february march april may june july august september october november december")
ALSO_VERBS = ("may", "march")  # "may first" and "march second" need a sign that a date is meant
BEFORE_DATE = frozenset(
    listed("on of until till by from since before after through to between this next last in and for is was")
)

AFTER_DATE = ("", ",", ".", "?", "at", "to", "through", "until")  # "july four at": not "june ten people"


def month_and_day(words: Words, i: int) -> Pieces | None:
    """ "may the fifth twenty twenty six", "may fifth", "may five twenty twenty six", "the third of june"."""
    if at(words, i) == "the":
        return _day_of_month(words, i)
    if at(words, i) not in MONTHS:
        return None
    article = at(words, i + 1) == "the"
    place = i + 2 if article else i + 1
    ranked = ordinal(words, place)
    day = ranked or below_100(words, place)
    if day is None or not 1 <= day.value <= 31:
        return None
    year, skip = _year_after(words, day.end)
    if not year and not _surely_a_date(words, i, article, ranked is not None):
        return None
    pieces = [(1, at(words, i).capitalize()), (day.end - i - 1, str(day.value))]
    if year:
        pieces += [(skip, ","), (year.end - day.end - skip, str(year.value))]
    return pieces


def _surely_a_date(words: Words, i: int, article: bool, ranked: bool) -> bool:
    if at(words, i) in ALSO_VERBS and not article:
        return ranked and at(words, i - 1) in BEFORE_DATE
    return ranked or at(words, i + 2) in AFTER_DATE


def _day_of_month(words: Words, i: int) -> Pieces | None:
    day = ordinal(words, i + 1)
    if day is None or day.value > 31 or at(words, day.end) != "of" or at(words, day.end + 1) not in MONTHS:
        return None
    pieces = [(1, "the"), (day.end - i - 1, suffixed(day.value)), (1, "of"), (1, at(words, day.end + 1).capitalize())]
    end = day.end + 2
    year, skip = _year_after(words, end)
    if year:
        pieces += [(1, ",")] * skip + [(year.end - end - skip, str(year.value))]
    return pieces


def month_and_year(words: Words, i: int) -> Pieces | None:
    """ "june twenty twenty one", "june of nineteen ninety nine"."""
    if at(words, i) not in MONTHS:
        return None
    of = at(words, i + 1) == "of"
    year = spoken_year(words, i + 2 if of else i + 1)
    if year is None:
        return None
    head = [(1, at(words, i).capitalize())] + ([(1, "of")] if of else [])
    return [*head, (year.end - i - len(head), str(year.value))]


def _year_after(words: Words, i: int) -> tuple[Number | None, int]:
    """A year at `i`, with how many signs (none or a comma) stand before it."""
    skip = 1 if at(words, i) == "," else 0
    return spoken_year(words, i + skip), skip


def spoken_year(words: Words, i: int) -> Number | None:
    """1100 to 2099: "nineteen ninety nine", "twenty twenty six", "nineteen oh five", "two thousand (and) six"."""
    whole = cardinal(words, i)
    if whole and 1100 <= whole.value < 2100:
        return whole
    century = below_100(words, i)
    if century is None or not 11 <= century.value <= 20 or century.end != i + 1:
        return None
    if at(words, century.end) == "oh":
        tail = below_100(words, century.end + 1)
        return Number(century.value * 100 + tail.value, tail.end) if tail and tail.value < 10 else None
    tail = below_100(words, century.end)
    return Number(century.value * 100 + tail.value, tail.end) if tail and tail.value >= 10 else None


def decade(words: Words, i: int) -> Pieces | None:
    """ "1990s" for "nineteen nineties"."""
    century, tens = below_100(words, i), at(words, i + 1)
    singular = tens[:-3] + "y" if tens.endswith("ies") else ""
    if century is None or not 13 <= century.value <= 20 or singular not in TENS or century.end != i + 1:
        return None
    return [(2, f"{century.value}{TENS[singular]}s")]
