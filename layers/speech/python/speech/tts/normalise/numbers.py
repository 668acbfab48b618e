"""Numbers as words: the inverse of what speech/text reads, on the same tables."""

from __future__ import annotations

from speech.text.numbers import DIGITS, ORDINAL_DIGITS, ORDINAL_TEENS, SCALES, TEENS, TENS

SMALL = {n: word for word, n in (DIGITS | TEENS | TENS).items()}
RANKS = {SMALL[n]: word for word, n in (ORDINAL_DIGITS | ORDINAL_TEENS).items()}
GROUPS = [(10**15, "quadrillion"), *((n, word) for word, n in reversed(SCALES.items()))]
LARGEST = 10**18 - 1  # longer ones are read digit by digit


def cardinal(n: int) -> str:
    """245 -> `two hundred forty five`; -1 -> `minus one`."""
    if n < 0:
        return f"minus {cardinal(-n)}"
    if n > LARGEST:
        return digits(str(n))
    if n in SMALL:
        return SMALL[n]
    if n < 100:
        return f"{SMALL[n // 10 * 10]} {SMALL[n % 10]}"
    if n < 1000:
        return _joined(f"{SMALL[n // 100]} hundred", n % 100)
    size, name = next(group for group in GROUPS if n >= group[0])
    return _joined(f"{cardinal(n // size)} {name}", n % size)


def _joined(head: str, rest: int) -> str:
    return f"{head} {cardinal(rest)}" if rest else head


def ordinal(n: int) -> str:
    """21 -> `twenty first`."""
    *head, last = cardinal(n).split()
    if last not in RANKS:
        last = last[:-1] + "ieth" if last.endswith("y") else last + "th"
    return " ".join([*head, RANKS.get(last, last)])


def year(n: int) -> str:
    """1945 -> `nineteen forty five`, 2007 -> `two thousand seven`, 1905 -> `nineteen oh five`."""
    high, low = divmod(n, 100)
    if n % 1000 < 10 or n < 1000:
        return cardinal(n)
    if not low:
        return f"{cardinal(high)} hundred"
    return f"{cardinal(high)} {'oh ' if low < 10 else ''}{cardinal(low)}"


def digits(text: str, zero: str = "zero") -> str:
    """`405` -> `four zero five`; anything but digits is dropped."""
    return " ".join(zero if c == "0" else SMALL[int(c)] for c in text if c.isdigit())


def decimal(text: str) -> str:
    """`1,250.5` -> `one thousand two hundred fifty point five`; `.5` -> `point five`."""
    whole, dot, part = text.partition(".")
    head = integer(whole) if whole else ""
    return f"{head} point {digits(part)}".strip() if dot and part else head


def integer(text: str) -> str:
    """A whole number as written: digits one by one if it is too long or begins with a zero."""
    plain = text.replace(",", "")
    if len(plain) > 18 or (len(plain) > 1 and plain[0] == "0"):
        return digits(plain)
    if len(plain) >= 7 and "," not in text and not plain.endswith("000"):
        return digits(plain)
    return cardinal(int(plain))


def plural(words: str) -> str:
    """`nineteen ninety` -> `nineteen nineties`."""
    if words.endswith("y"):
        return words[:-1] + "ies"
    return words + ("es" if words.endswith(("x", "s")) else "s")


def one(text: str) -> bool:
    """Whether a written number takes the singular."""
    return text in ("1", "-1")
