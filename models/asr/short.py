"""Very short utterances that de-duplicated text has too few of: replies, digits, codes, spelt letters, dates, money."""

from __future__ import annotations

import random
from collections.abc import Iterator

from models.asr.spoken import cardinal, ordinal, year

REPLIES = """\
yes|no|yeah|okay|ok|sure|thank you|thanks|thank you very much|please|yes please|no thank you|
no thanks|hello|hi|bye|goodbye|bye bye|right|alright|all right|great|good|fine|perfect|correct|
that's correct|that's right|that is correct|of course|excuse me|sorry|i'm sorry|pardon|what|i see|
oh|um|uh|mm|hmm|mhm|oh okay|go ahead|one moment|one moment please|hold on|wait|stop|help|cancel|
repeat|start|go|enter|erase|operator|agent|representative|customer service|main menu|good morning|
good afternoon|good evening|good night|how are you|i'm fine|you're welcome|no problem|exactly|
absolutely|i don't know|i think so|not really|maybe|never mind|that's it|that's all|
that's all thank you|yes i do|no i don't|speak to an agent|i'm not sure|nothing else|
can you hear me|sounds good|yes that's right|no that's wrong""".replace("\n", "").split("|")
MONTHS = "january february march april may june july august september october november december".split()  # noqa: SIM905
DAYS = "monday tuesday wednesday thursday friday saturday sunday today tomorrow tonight".split()  # noqa: SIM905
DIGITS = "zero one two three four five six seven eight nine".split()  # noqa: SIM905


def _digit(r: random.Random, zero: str) -> str:
    d = r.randrange(10)
    return zero if d == 0 else DIGITS[d]


def _digits(r: random.Random) -> str:
    zero = r.choice(["zero", "oh"])
    return " ".join(_digit(r, zero) for _ in range(r.choice([1, 2, 3, 4, 4, 5, 6, 7, 10, 10, 10, 11, 16])))


def _letters(r: random.Random) -> str:
    return " ".join(r.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(r.randint(1, 8)))


def _code(r: random.Random) -> str:
    return " ".join(
        r.choice([_digit(r, "zero"), r.choice("abcdefghijklmnopqrstuvwxyz")]) for _ in range(r.randint(4, 9))
    )


def _date(r: random.Random) -> str:
    month, day = r.choice(MONTHS), ordinal(r.randint(1, 31))
    when = year(r.randint(1930, 2030))
    return r.choice(
        [f"{month} {day}", f"{month} {day} {when}", f"the {day} of {month}", f"{month} {when}", f"{r.choice(DAYS)}"]
    )


def _clock(r: random.Random) -> str:
    minutes = r.choice(
        ["", "", "thirty", "fifteen", "forty five", f"oh {DIGITS[r.randint(1, 9)]}", cardinal(r.randint(10, 59))]
    )
    end = r.choice(["a m", "p m", "p m", "o'clock" if not minutes else "", ""])
    return " ".join(f"{r.choice(['at ', '', ''])}{cardinal(r.randint(1, 12))} {minutes} {end}".split())


def _amount(r: random.Random) -> str:
    n = r.choice([r.randint(0, 20), r.randint(0, 100), r.randint(0, 1000), r.randint(0, 100000)])
    cents = r.choice(["", "", f" and {cardinal(r.randint(1, 99))} cents"])
    return r.choice(
        [cardinal(n), f"{cardinal(n)} dollars{cents}", f"{cardinal(n)} percent", f"{cardinal(n)} {r.choice(UNITS)}"]
    )


UNITS = "people days minutes hours nights tickets pounds miles weeks years months".split()  # noqa: SIM905
MAKERS = [_digits, _digits, _letters, _code, _date, _clock, _amount]


def utterances(n: int, seed: int = 1) -> Iterator[str]:
    """`n` invented utterances; the same ones for the same seed."""
    r = random.Random(seed)
    for _ in range(n):
        yield r.choice(REPLIES) if r.random() < 0.4 else r.choice(MAKERS)(r)
