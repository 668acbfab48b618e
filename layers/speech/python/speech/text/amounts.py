"""Written amounts: money, percentages, measures, plain numbers and ranks."""

from __future__ import annotations

from speech.text.numbers import SCALES, Amount, Words, amount, at, below_100, cardinal, listed, ordinal, suffixed

Pieces = list[tuple[int, str]]

CURRENCIES = {"dollar": "$", "dollars": "$", "euro": "€", "euros": "€", "yen": "¥"}
POUNDS = ("pound", "pounds")  # a weight in American speech: money only with pence, "sterling" or a large scale
SMALL_COINS = ("cent", "cents", "pence")
MEASURES = frozenset(
    listed(
        "kilometers kilometres meters metres centimeters millimeters miles inches pounds kilograms kilos grams "
        "milligrams ounces degrees liters litres milliliters gallons megabytes gigabytes terabytes megabits "
        "gigabits hertz kilohertz megahertz gigahertz watts kilowatts megawatts volts amps knots acres "
        "hectares"
    )
)


def money(words: Words, i: int) -> Pieces | None:
    """ "$25", "$5.20", "$1.8" + "million", "20" + "cents"; "a million dollars" is "$1" + "million"."""
    found = _with_article(words, i)
    if found is None:
        return None
    unit = at(words, found.end)
    if unit in SMALL_COINS and not found.scale:
        return [(found.end - i, found.text), (1, unit)]
    sign, end = _currency(words, found)
    if not sign:
        return None
    if found.scale:
        return [(found.scale_at - i, sign + found.text), (end - found.scale_at, found.scale)]
    cents, end = _cents(words, end)
    if not cents:
        cents, end = _bare_cents(words, end)
    return [(end - i, sign + found.text + cents)]


def _with_article(words: Words, i: int) -> Amount | None:
    """An amount, or "a hundred", "a thousand", "a million" before what `money` and `percent` ask for."""
    if at(words, i) != "a" or at(words, i + 1) not in (*SCALES, "hundred") or cardinal(words, i):
        return amount(words, i)
    scale = at(words, i + 1)
    if scale in ("hundred", "thousand"):
        return Amount({"hundred": "100", "thousand": "1,000"}[scale], i + 2)
    return Amount("1", i + 2, scale, i + 1)


def _currency(words: Words, found: Amount) -> tuple[str, int]:
    """The sign and the position after the unit; "" when what follows is no money."""
    unit, following = at(words, found.end), at(words, found.end + 1)
    if unit in CURRENCIES:
        return CURRENCIES[unit], found.end + 1
    if unit in POUNDS and following == "sterling":
        return "£", found.end + 2
    coins, end = _cents(words, found.end + 1)
    pence = at(words, end - 1) == "pence" if coins else bool(_bare_cents(words, found.end + 1)[0])
    return ("£", found.end + 1) if unit in POUNDS and (pence or found.scale) else ("", found.end)


def _cents(words: Words, i: int) -> tuple[str, int]:
    """ ".20" for "and twenty cents" at `i`, with the position after it."""
    number = below_100(words, i + 1 if at(words, i) == "and" else i)
    if number is None or at(words, number.end) not in SMALL_COINS:
        return "", i
    return f".{number.value:02d}", number.end + 1


def _bare_cents(words: Words, i: int) -> tuple[str, int]:
    """ ".50" for a "fifty" that closes the phrase: "five dollars fifty"."""
    number = below_100(words, i + 1 if at(words, i) == "and" else i)
    closes = number is not None and number.value >= 10 and at(words, number.end) in ("", ",", ".", "?")
    return (f".{number.value:02d}", number.end) if number and closes else ("", i)


def percent(words: Words, i: int) -> Pieces | None:
    """ "60%", "0.5%", "-2%"."""
    minus = at(words, i) in ("minus", "negative")
    start = i + 1 if minus else i
    found = _with_article(words, start)
    if at(words, start) == "point" and found is None:
        found = amount(["zero", *words[start : start + 5]], 0)
        found = Amount(found.text, start + found.end - 1) if found and "." in found.text else None
    if found is None or found.scale:
        return None
    if at(words, found.end) == "percent":
        end = found.end + 1
    elif at(words, found.end) == "per" and at(words, found.end + 1) == "cent":
        end = found.end + 2
    else:
        return None
    return [(end - i, ("-" if minus else "") + found.text + "%")]


def measure(words: Words, i: int) -> Pieces | None:
    """A number before a unit of measure, small ones and negative ones too: "5" + "kilometers", "-5" + "degrees"."""
    minus = at(words, i) in ("minus", "negative")
    found = amount(words, i + 1 if minus else i)
    if found is None or found.scale or at(words, found.end) not in MEASURES or found.text == "1":
        return None
    return [(found.end - i, ("-" if minus else "") + found.text), (1, at(words, found.end))]


def plain(words: Words, i: int) -> Pieces | None:
    """A number of ten or more, or with a decimal point; zero to nine stay words."""
    if ordinal(words, i) is not None:
        return None
    found = amount(words, i)
    if found is None or found.small:
        return None
    if found.scale:
        return [(found.scale_at - i, found.text), (1, found.scale)]
    return [(found.end - i, _year_like(words, i, found))]


def _year_like(words: Words, i: int, found: Amount) -> str:
    """ "2006" for "two thousand (and) six", "1900" for "nineteen hundred", with no comma; else as it is."""
    if not found.text.replace(",", "").isdigit():
        return found.text
    value = int(found.text.replace(",", ""))
    after_thousand = [at(words, i), at(words, i + 1)] == ["two", "thousand"] and 2000 < value < 2100
    in_year = value == 2000 and at(words, i - 1) in ("in", "since", "year", "of", "until", "before", "after")
    hundreds = 1300 <= value < 2000 and value % 100 == 0 and found.end == i + 2
    return str(value) if after_thousand or in_year or hundreds else found.text


def ranked(words: Words, i: int) -> Pieces | None:
    """ "10th", "21st"; first to ninth stay words, and so does a plural ("two thirds")."""
    found = ordinal(words, i)
    if found is None or found.value < 10:
        return None
    return [(found.end - i, suffixed(found.value))]
