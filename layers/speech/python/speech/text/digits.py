"""Runs of adjacent numbers: digit strings, telephone numbers, years, "747"."""

from __future__ import annotations

from speech.text.numbers import DIGITS, OH, SCALES, Words, at, below_100

Pieces = list[tuple[int, str]]

REPEATS = {"double": 2, "triple": 3}
LONGEST_RUN = 40  # words: the rule looks no further, so that the time stays linear
LEAST_DIGITS = 3  # "one two" stays words, "one two three" is a digit string


def run(words: Words, i: int) -> Pieces | None:
    """Two or more numbers with nothing between them, written as one string of digits."""
    groups, end = _groups(words, i)
    if len(groups) < 2 or not _is_string(groups):
        return None
    return [(end - i, grouped("".join(groups)))]


def _groups(words: Words, i: int) -> tuple[list[str], int]:
    """Written digits of each group, and the position after the last one."""
    groups: list[str] = []
    place = i
    while place - i < LONGEST_RUN:
        text, end = _group(words, place, bool(groups))
        if not text:
            break
        groups.append(text)
        place = end
    if groups and at(words, place - 1) == "oh" and len(groups) <= LEAST_DIGITS:
        return groups[:-1], place - 1  # "twenty two oh my"
    return groups, place


def _group(words: Words, i: int, inside: bool) -> tuple[str, int]:
    word = at(words, i)
    if word in REPEATS and (at(words, i + 1) in DIGITS or at(words, i + 1) == "oh"):
        return str(DIGITS.get(at(words, i + 1), 0)) * REPEATS[word], i + 2
    if word in OH and (inside or _digits_follow(words, i + 1)):
        return "0", i + 1
    if word in DIGITS and at(words, i + 1) == "hundred":
        return f"{DIGITS[word]}00", i + 2  # "eight hundred" of a telephone number; _is_string decides
    number = below_100(words, i)
    if number is None or at(words, number.end) in ("hundred", *SCALES):
        return "", i
    return str(number.value), number.end


def _digits_follow(words: Words, i: int) -> bool:
    """Two more numbers: a lone "oh" or "o" is no zero."""
    first = below_100(words, i)
    return first is not None and below_100(words, first.end) is not None


def _is_string(groups: list[str]) -> bool:
    """Whether the groups are one string of digits and not neighbours by chance."""
    length = sum(map(len, groups))
    if all(len(group) == 1 for group in groups):
        return length >= LEAST_DIGITS
    hundreds = any(len(group) == 3 and group.endswith("00") for group in groups)
    return length >= 7 if hundreds else not (len(groups) == 2 and len(groups[1]) == 1 and groups[1] != "0")


def grouped(digits: str) -> str:
    """Digits as an American telephone number where the length is one: 555-0123, 555-123-4567, 1-800-555-0123."""
    if len(digits) == 7:
        return f"{digits[:3]}-{digits[3:]}"
    if len(digits) == 10:
        return f"{digits[:3]}-{digits[3:6]}-{digits[6:]}"
    if len(digits) == 11 and digits[0] == "1":
        return f"1-{grouped(digits[1:])}"
    return digits
