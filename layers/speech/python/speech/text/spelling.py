"""Letters spoken one by one, titles before names, web domains, and a few fixed forms."""

from __future__ import annotations

from speech.text.numbers import Words, at, listed

Pieces = list[tuple[int, str]]

TITLES = {"mister": "Mr.", "mr": "Mr.", "missus": "Mrs.", "mrs": "Mrs.", "ms": "Ms."}
BEFORE_NAMES = {"doctor": "Dr.", "dr": "Dr.", "professor": "Professor"}
SPECIAL = {
    ("covid", "nineteen"): "COVID-19",
    ("twenty", "four", "seven"): "24/7",
    ("fifty", "fifty"): "50/50",
    ("nine", "eleven"): "9/11",
    ("nine", "one", "one"): "911",
    ("three", "g"): "3G",
    ("four", "g"): "4G",
    ("five", "g"): "5G",
    ("four", "k"): "4K",
    ("q", "one"): "Q1",
    ("q", "two"): "Q2",
    ("q", "three"): "Q3",
    ("q", "four"): "Q4",
    ("c", "o", "two"): "CO2",
    ("wi", "fi"): "Wi-Fi",
    ("o", "k"): "OK",
}
# After the article "a" and before the pronoun "i" a letter run is ambiguous: these are what speech really holds.
KNOWN = frozenset(
    listed(
        "us uk un eu tv pc cd dj hr it pr id dc vp pm pa pe ev ai usb usa uae fbi cia irs cnn bbc nbc cbs abc "
        "ibm mba phd ceo cfo coo cto ipo gdp dvd gps atm vip url pdf html http api sql cpu gpu faq diy sms hiv "
        "dna rna mri nfl nba mlb nhl esg roi kpi sec fda epa dmv suv bmw llc gmt pst est vpn ip crm erp b2b"
    )
)
DOMAINS = frozenset(listed("com org net edu gov io co"))
LONGEST = 12  # letters in one run


def special(words: Words, i: int) -> Pieces | None:
    """Fixed forms such as "COVID-19"."""
    for length in (3, 2):
        key = tuple(at(words, i + k) for k in range(length))
        if key in SPECIAL:
            return [(length, SPECIAL[key])]
    return None


def title(words: Words, i: int, before_name: bool) -> Pieces | None:
    """ "Mr." before any word, "Dr." only before a name."""
    word, following = at(words, i), at(words, i + 1)
    if word in TITLES and following.isalpha():
        return [(1, TITLES[word])]
    return [(1, BEFORE_NAMES[word])] if word in BEFORE_NAMES and before_name else None


def letters(words: Words, i: int) -> Pieces | None:
    """ "FBI" for "f b i". An article before and an "I" after stay apart where the rest is a known abbreviation."""
    length = 0
    while length < LONGEST and _is_letter(at(words, i + length)):
        length += 1
    if length < 2:
        return None
    run = "".join(words[i : i + length])
    if run[0] == "a" and run[1:] in KNOWN:
        return [(1, "a"), (length - 1, run[1:].upper())]
    if run[-1] == "i" and run not in KNOWN and (run[:-1] in KNOWN or length == 2):
        return [(length - 1, run[:-1].upper()), (1, "I")] if length > 2 else None
    if run[-1] == "a" and run not in KNOWN and run[:-1] in KNOWN:
        return [(length - 1, run[:-1].upper()), (1, "a")]
    if length == 2 and run not in KNOWN and (run[0] in "aio" or run[1] in "aio"):
        return None
    return [(length, run.upper())]


def _is_letter(word: str) -> bool:
    return len(word) == 1 and word.isalpha()


def domain(words: Words, i: int) -> Pieces | None:
    """ "example.com" for "example dot com"."""
    word = at(words, i)
    if len(word) < 2 or not word.isalpha() or at(words, i + 1) != "dot" or at(words, i + 2) not in DOMAINS:
        return None
    return [(3, f"{word}.{at(words, i + 2)}")]
