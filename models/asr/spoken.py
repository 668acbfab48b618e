"""Written text to the words that one says: numbers, money, times and abbreviations spelt out, punctuation dropped."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

_LOW = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
ONES = f"{_LOW} seventeen eighteen nineteen".split()
TENS = ["", "", *"twenty thirty forty fifty sixty seventy eighty ninety".split()]  # noqa: SIM905
GROUPS = [(10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (1000, "thousand")]
IRREGULAR = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth"}
ABBREVIATIONS = {
    "mr": "mister", "mrs": "missus", "dr": "doctor", "st": "saint", "prof": "professor", "vs": "versus",
    "etc": "et cetera", "jr": "junior", "sr": "senior", "ave": "avenue", "blvd": "boulevard", "esq": "esquire",
    "capt": "captain", "col": "colonel", "gen": "general", "lieut": "lieutenant", "rev": "reverend",
    "hon": "honorable", "messrs": "messieurs", "mme": "madame",
}  # fmt: skip
CURRENCIES = {"$": ("dollar", "cent"), "£": ("pound", "pence"), "€": ("euro", "cent")}
DASHES = str.maketrans({"’": "'", "‘": "'", "—": " . ", "–": "-", "“": " ", "”": " ", '"': " ", "_": " ", "´": "'"})


def cardinal(n: int) -> str:
    """245 -> `two hundred forty five`."""
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10] + (f" {ONES[n % 10]}" if n % 10 else "")
    if n < 1000:
        return f"{ONES[n // 100]} hundred" + (f" {cardinal(n % 100)}" if n % 100 else "")
    for size, name in GROUPS:
        if n >= size:
            return f"{cardinal(n // size)} {name}" + (f" {cardinal(n % size)}" if n % size else "")
    raise AssertionError(n)


def ordinal(n: int) -> str:
    """21 -> `twenty first`."""
    *head, last = cardinal(n).split()
    last = IRREGULAR.get(last) or (last[:-1] + "ieth" if last.endswith("y") else last.removesuffix("e") + "th")
    return " ".join([*head, "twelfth" if last == "twelvth" else last])


def year(n: int) -> str:
    """1945 -> `nineteen forty five`, 2007 -> `two thousand seven`."""
    high, low = divmod(n, 100)
    if n % 1000 < 10:
        return cardinal(n)
    if not low:
        return f"{cardinal(high)} hundred"
    return f"{cardinal(high)} {'oh ' if low < 10 else ''}{cardinal(low)}"


def digits(text: str) -> str:
    """`5550` -> `five five five oh`: the way codes and telephone numbers are read."""
    zero = "oh" if len(text) % 2 else "zero"
    return " ".join(zero if c == "0" else ONES[int(c)] for c in text if c.isdigit())


def number(text: str) -> str:
    """A number as written, `1,250.5`: years, codes and telephone numbers by their length."""
    plain = text.replace(",", "")
    whole, _, part = plain.partition(".")
    if part:
        return f"{cardinal(int(whole or 0))} point {digits(part)}"
    if len(plain) == 4 and "," not in text and 1100 <= int(plain) < 2100:
        return year(int(plain))
    if (
        (len(plain) > 4 and "," not in text and not plain.endswith("000"))
        or len(plain) > 15
        or (plain[0] == "0" and len(plain) > 1)
    ):
        return digits(plain)
    return cardinal(int(plain))


def _money(m: re.Match[str]) -> str:
    unit, small = CURRENCIES[m[1]]
    whole, _, part = m[2].replace(",", "").partition(".")
    scale = m[3] or ""
    if scale or len(part) == 1 or len(whole) > 15:
        return f" {number(m[2])} {scale} {unit}s "
    text = f" {cardinal(int(whole))} {unit}{'' if int(whole) == 1 else 's'} "
    return text + (f"and {cardinal(int(part[:2]))} {small}s ".replace("pences", "pence") if part and int(part) else "")


def _time(m: re.Match[str]) -> str:
    minutes = int(m[2])
    middle = "" if not minutes else ("oh " if minutes < 10 else "") + cardinal(minutes)
    return f" {cardinal(int(m[1]))} {middle} "


Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]
RULES: list[Rule] = [
    (re.compile(r"([$£€]) ?(\d[\d,]*(?:\.\d+)?)(?: ?(hundred|thousand|million|billion|trillion))?"), _money),
    (re.compile(r"\b(\d{1,2}):(\d\d)(?::\d\d)?"), _time),
    (re.compile(r"\b(\d+)(?:st|nd|rd|th)\b"), lambda m: f" {ordinal(int(m[1][-6:]))} "),
    (re.compile(r"\b(\d{1,4})s\b"), lambda m: f" {_plural(number(m[1]))} "),
    (re.compile(r"(\d)%"), lambda m: f"{m[1]} percent "),
    (re.compile(r"\b(\d\d?)-(\d\d?)\b"), lambda m: f" {number(m[1])} to {number(m[2])} "),
    (re.compile(r"\d[\d,]*(?:\.\d+)?"), lambda m: f" {number(m[0].rstrip(','))} "),
]
DIGIT = re.compile(r"\d")
DOTTED = re.compile(r"\b(?:[a-z]\.){2,}")
ABBREVIATION = re.compile(r"\b(" + "|".join(ABBREVIATIONS) + r")\b\.?")
TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)*|[.?!;:]")


def _plural(words: str) -> str:
    return words[:-1] + "ies" if words.endswith("y") else words + ("es" if words.endswith("x") else "s")


def spoken(line: str) -> list[str]:
    """The words of a line as one would say them, in lower case; sentence ends inside the line are not marked."""
    text = unicodedata.normalize("NFD", line.translate(DASHES).lower())
    text = "".join(c for c in text if not unicodedata.combining(c)) if not text.isascii() else text
    if DIGIT.search(text):
        text = re.sub(r"(\d) ?([ap])\.?m\b\.?", r"\1 \2 m ", text)
        for pattern, say in RULES:
            text = pattern.sub(say, text)
    if "." in text:
        text = DOTTED.sub(lambda m: m[0].replace(".", " "), text)
    text = text.replace("&", " and ").replace("%", " percent ").replace("@", " at ")
    words = TOKEN.findall(ABBREVIATION.sub(lambda m: ABBREVIATIONS[m[1]] + " ", text))
    return [w for w in words if w[0] not in ".?!;:"]
