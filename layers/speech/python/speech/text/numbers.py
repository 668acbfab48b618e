"""Spoken English numbers read from a sequence of words: cardinals, ordinals, decimals.

Every reader takes the words and a position and gives None when no number starts there. Words outside the
sequence read as "", and a punctuation sign is a word of its own, so that no number runs across it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Words = Sequence[str]


def listed(text: str) -> tuple[str, ...]:
    """The words of a text: a table that reads as a sentence."""
    return tuple(text.split())


DIGITS = {w: n for n, w in enumerate(listed("zero one two three four five six seven eight nine"))}
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
TEENS = {w: n for n, w in enumerate(listed(_TEENS), 10)}
TENS = {w: 10 * n for n, w in enumerate(listed("twenty thirty forty fifty sixty seventy eighty ninety"), 2)}
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
LARGE = ("million", "billion", "trillion")  # these stay words: "2 million"
_RANKS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
ORDINAL_DIGITS = {w: n for n, w in enumerate(listed(_RANKS), 1) if n < 10}
ORDINAL_TEENS = {w + "th": n for w, n in TEENS.items()} | {w: n for n, w in enumerate(listed(_RANKS), 1) if n >= 10}
ORDINAL_TENS = {w[:-1] + "ieth": n for w, n in TENS.items()}
OH = ("oh", "o", "zero")


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number and the position after its last word."""

    value: int
    end: int


@dataclass(frozen=True, slots=True)
class Amount:
    """A number as it is written; `scale` is a word that stays ("million") and stands at position `scale_at`."""

    text: str
    end: int
    scale: str = ""
    scale_at: int = 0
    small: bool = False  # a lone zero to nine, which prose keeps as a word


def at(words: Words, i: int) -> str:
    """The word at a position, "" outside."""
    return words[i] if 0 <= i < len(words) else ""


def below_100(words: Words, i: int) -> Number | None:
    """ "seven", "seventeen", "seventy", "seventy seven"."""
    word = at(words, i)
    if word in TENS:
        unit = DIGITS.get(at(words, i + 1), 0)
        return Number(TENS[word] + unit, i + 2 if unit else i + 1)
    value = DIGITS.get(word, TEENS.get(word))
    return None if value is None else Number(value, i + 1)


def below_1000(words: Words, i: int) -> Number | None:
    """The same, and "three hundred (and) five", "twelve hundred", "a hundred and five"."""
    a_hundred = at(words, i) == "a" and at(words, i + 1) == "hundred"
    lead = Number(1, i + 1) if a_hundred else below_100(words, i)
    if lead is None or at(words, lead.end) != "hundred" or lead.value % 10 == 0:
        return lead
    tail = after_and(words, lead.end + 1)
    if tail is None:
        return None if a_hundred else Number(lead.value * 100, lead.end + 1)
    return Number(lead.value * 100 + tail.value, tail.end)


def after_and(words: Words, i: int) -> Number | None:
    """The last part of a number, "and" allowed: not one that itself goes on to a hundred."""
    tail = below_100(words, i + 1 if at(words, i) == "and" else i)
    return None if tail is None or tail.value == 0 or at(words, tail.end) == "hundred" else tail


def cardinal(words: Words, i: int) -> Number | None:
    """The longest whole number that starts at `i`."""
    total, scale, end = 0, 10**15, -1
    group = below_1000(words, i)
    while group is not None:
        word = at(words, group.end)
        if word not in SCALES or SCALES[word] >= scale or group.value == 0:
            return Number(total + group.value, group.end) if word not in SCALES or end < 0 else Number(total, end)
        scale = SCALES[word]
        total, end = total + group.value * scale, group.end + 1
        group = _next_group(words, end)
    return Number(total, end) if end > 0 else None


def _next_group(words: Words, i: int) -> Number | None:
    if at(words, i) == "and":
        tail = after_and(words, i)  # "a million and two thousand" may well be two numbers
        return None if tail is None or at(words, tail.end) in SCALES else tail
    group = below_1000(words, i)
    return None if group is None or group.value == 0 or at(words, i) == "a" else group


def ordinal(words: Words, i: int) -> Number | None:
    """ "fifth", "twelfth", "twenty first", "one hundredth", "hundred and fifth" after a cardinal."""
    word = at(words, i)
    simple = ORDINAL_DIGITS.get(word) or ORDINAL_TEENS.get(word) or ORDINAL_TENS.get(word)
    if simple:
        return Number(simple, i + 1)
    if word in TENS and at(words, i + 1) in ORDINAL_DIGITS:
        return Number(TENS[word] + ORDINAL_DIGITS[at(words, i + 1)], i + 2)
    lead = below_100(words, i)
    if lead is None:
        return None
    if at(words, lead.end) == "hundredth":
        return Number(lead.value * 100, lead.end + 1)
    if at(words, lead.end) == "hundred":
        tail = ordinal(words, lead.end + (2 if at(words, lead.end + 1) == "and" else 1))
        return None if tail is None or tail.value >= 100 else Number(lead.value * 100 + tail.value, tail.end)
    return None


def suffixed(n: int) -> str:
    """ "1st", "2nd", "3rd", "4th", "11th"."""
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def fraction_digits(words: Words, i: int) -> tuple[str, int]:
    """Digits after "point": one by one ("one four", "oh five") or one number below a hundred ("fourteen")."""
    text = ""
    while at(words, i) in DIGITS or at(words, i) in OH:
        text += str(DIGITS.get(at(words, i), 0))
        i += 1
    if not text and (number := below_100(words, i)):
        return str(number.value), number.end
    return text, i


def amount(words: Words, i: int) -> Amount | None:
    """A number as written: "25", "1,250", "3.14", "1.8" + "million", "22.5" (twenty two and a half)."""
    whole = cardinal(words, i)
    if whole is None and at(words, i) == "oh" and at(words, i + 1) == "point":
        whole = Number(0, i + 1)
    if whole is None:
        return None
    text = f"{whole.value:,}"
    if at(words, whole.end) == "point":
        digits, end = fraction_digits(words, whole.end + 1)
        if digits:
            return _scaled(words, f"{text}.{digits}", end)
    after = [at(words, whole.end + k) for k in range(4)]
    if after[:3] == ["and", "a", "half"] and after[3] in (*SCALES, "percent"):
        return _scaled(words, f"{text}.5", whole.end + 3)
    scale = at(words, whole.end - 1)
    if scale in LARGE and whole.value % SCALES[scale] == 0 and whole.value // SCALES[scale] < 1000:
        return Amount(str(whole.value // SCALES[scale]), whole.end, scale, whole.end - 1)
    return Amount(text, whole.end, small=whole.value < 10 and whole.end == i + 1)


def _scaled(words: Words, text: str, end: int) -> Amount:
    scale = at(words, end)
    return Amount(text, end + 1, scale, end) if scale in SCALES else Amount(text, end)
