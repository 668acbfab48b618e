"""Spoken forms of written numbers, so that the tagger trains on the words a recogniser gives.

Not the synthesiser's normaliser: it covers what the text pack holds, and where speakers vary it picks one at random.
"""

from __future__ import annotations

import random
import re

from speech.text.numbers import listed

ONES = listed(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
TENS = listed("_ _ twenty thirty forty fifty sixty seventy eighty ninety")
SCALES = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (1000, "thousand"))
ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
            "twelve": "twelfth"}  # fmt: skip
CURRENCIES = {"$": "dollars", "£": "pounds", "€": "euros"}

NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
MONEY = re.compile(rf"([$£€]) ?({NUMBER})(?: ?(million|billion|trillion|thousand|M|B|K|bn|mn)\b)?")
PERCENT = re.compile(rf"({NUMBER}) ?%")
TIME = re.compile(r"\b(\d{1,2}):(\d\d)\b")
RANGE = re.compile(r"(?<=\d)\s?[-–]\s?(?=\d)")
ORDINAL = re.compile(r"\b(\d{1,4})(?:st|nd|rd|th)\b")
DATE = re.compile(
    r"\b(January|February|March|April|May|June|July|August|September|October|November|December) (\d{1,2})\b(?![:.,]?\d)"
)
DECADE = re.compile(r"\b(?:19|20)?(\d0)'?s\b")
PLAIN = re.compile(NUMBER)
LETTERS = {"M": "million", "B": "billion", "K": "thousand", "bn": "billion", "mn": "million"}


def cardinal(n: int, rng: random.Random) -> str:
    """Words of 0 <= n < 10**15; "and" after hundreds some of the time."""
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10] + (" " + ONES[n % 10] if n % 10 else "")
    if n < 1000:
        join = " and " if rng.random() < 0.35 else " "
        return ONES[n // 100] + " hundred" + (join + cardinal(n % 100, rng) if n % 100 else "")
    for size, name in SCALES:
        if n >= size:
            rest = n % size
            join = " and " if 0 < rest < 100 and rng.random() < 0.4 else " "
            return f"{cardinal(n // size, rng)} {name}" + (join + cardinal(rest, rng) if rest else "")
    raise AssertionError("unreachable")


def ordinal(n: int, rng: random.Random) -> str:
    """ "twenty first" for 21."""
    head, _, last = cardinal(n, rng).rpartition(" ")
    last = ORDINALS.get(last) or (last[:-1] + "ieth" if last.endswith("y") else last + "th")
    return f"{head} {last}".strip()


def year(n: int) -> str:
    """ "nineteen oh five", "twenty twenty one", "two thousand" for 1905, 2021, 2000."""
    rng = random.Random(0)
    if n % 1000 < 10:
        return cardinal(n, rng).replace(" and ", " ")
    tail = n % 100
    if tail == 0:
        return cardinal(n // 100, rng) + " hundred"
    return f"{cardinal(n // 100, rng)} {'oh ' + ONES[tail] if tail < 10 else cardinal(tail, rng)}"


def digits(text: str, rng: random.Random) -> str:
    """Digit by digit, zero as "oh" or "zero"."""
    zero = "oh" if rng.random() < 0.5 else "zero"
    return " ".join(zero if d == "0" else ONES[int(d)] for d in text if d.isdigit())


def number(text: str, rng: random.Random) -> str:
    """Words of a plain number as written: "1,250", "3.5", "2021", "08712240240"."""
    whole, _, fraction = text.replace(",", "").partition(".")
    if fraction:
        return f"{cardinal(int(whole[-15:]), rng)} point {digits(fraction, rng)}"
    if len(whole) > 9 or (len(whole) > 1 and whole[0] == "0") or (len(whole) > 4 and "," not in text):
        return digits(whole, rng)
    if len(whole) == 4 and "," not in text and 1100 <= int(whole) < 2100:
        return year(int(whole))
    return cardinal(int(whole), rng)


def clock(match: re.Match[str], rng: random.Random) -> str:
    """ "four thirty", "five oh five", "six" or "six o'clock"."""
    hour, minute = int(match[1]), int(match[2])
    if minute == 0:
        return cardinal(hour, rng) + (" o'clock" if rng.random() < 0.3 else "")
    return f"{cardinal(hour, rng)} {'oh ' + ONES[minute] if minute < 10 else cardinal(minute, rng)}"


def money(match: re.Match[str], rng: random.Random) -> str:
    """ "one point eight million dollars", "five dollars and twenty cents"."""
    amount, scale = match[2], match[3]
    unit = CURRENCIES[match[1]]
    if scale:
        return f"{number(amount, rng)} {LETTERS.get(scale, scale)} {unit}"
    whole, _, cents = amount.replace(",", "").partition(".")
    spoken = cardinal(int(whole[-15:]), rng) + " " + (unit[:-1] if whole == "1" else unit)
    if len(cents) == 2 and cents != "00":
        spoken += (" and " if rng.random() < 0.5 else " ") + cardinal(int(cents), rng)
        spoken += " cents" if rng.random() < 0.7 and unit == "dollars" else ""
    return spoken


def verbalize(line: str, rng: random.Random) -> str:
    """A written line with every number in words; everything else as it was."""
    if not any(c.isdigit() for c in line):
        return line
    line = MONEY.sub(lambda m: money(m, rng), line)
    line = PERCENT.sub(lambda m: number(m[1], rng) + " percent", line)
    line = TIME.sub(lambda m: clock(m, rng), line)
    line = RANGE.sub(" to " if rng.random() < 0.7 else " ", line)
    line = DECADE.sub(lambda m: m[0] if int(m[1]) < 20 else (TENS[int(m[1]) // 10][:-1] + "ies"), line)
    if rng.random() < 0.8:
        line = DATE.sub(lambda m: f"{m[1]} {ordinal(int(m[2]), rng)}", line)
    line = ORDINAL.sub(lambda m: ordinal(int(m[1]), rng), line)
    return PLAIN.sub(lambda m: f" {number(m[0], rng)} ", line) if any(c.isdigit() for c in line) else line
