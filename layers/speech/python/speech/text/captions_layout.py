"""Where captions and lines break: the cheapest division under the rules, by dynamic programming."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from speech.text.numbers import listed

# Words that open a clause or a phrase: a break before them reads well, a break after them does not.
OPENERS = frozenset(
    listed(
        "and but or so because if when while that which who where although though since unless until as than then "
        "in on at to for from with of by about into over after before through between without under during "
        "the a an my your his her its our their this these those is are was were will would can could"
    )
)
CONJUNCTIONS = frozenset(
    listed("and but or so because if when while that which who where although though since unless")
)

SENTENCE_END, CLAUSE_END, BEFORE_CONJUNCTION, BEFORE_PHRASE, ANYWHERE, AFTER_OPENER = 0.0, 1.0, 2.0, 3.0, 5.0, 9.0
EACH_CAPTION = 3.0  # few full captions are better than many short ones
TOO_FAST = 2.0  # per character a second above the limit
TOO_SHORT = 4.0  # a caption shorter than a second
UNFINISHED = 6.0  # a sentence that ends inside a caption which then goes on


@dataclass(frozen=True)
class Rules:
    """Limits of a caption."""

    line_chars: int = 42
    lines: int = 2
    min_s: float = 1.0  # where the next caption leaves room
    max_s: float = 7.0
    reading_cps: float = 17.0  # characters a second that read comfortably: a caption lingers for them
    fastest_cps: float = 20.0  # above it, a split costs
    gap_s: float = 0.08  # two frames at 25 frames a second
    pause_s: float = 1.5  # a silence so long always ends a caption


@dataclass(frozen=True, slots=True)
class Unit:
    """A written word with its punctuation."""

    text: str
    start_s: float
    end_s: float


def break_cost(units: Sequence[Unit], i: int) -> float:
    """How bad a break after unit `i` is: 0 at the end of a sentence, more inside a phrase."""
    text = units[i].text
    if i + 1 >= len(units) or text[-1:] in ".?!":
        return SENTENCE_END
    if text[-1:] in ",;:":
        return CLAUSE_END
    if text.lower() in OPENERS:
        return AFTER_OPENER
    following = units[i + 1].text.lower()
    if following in CONJUNCTIONS:
        return BEFORE_CONJUNCTION
    return BEFORE_PHRASE if following in OPENERS else ANYWHERE


def lines_needed(units: Sequence[Unit], width: int, prefix: int) -> int:
    """Lines of a first-fit layout, which is the least number that the units need."""
    lines, used = 1, prefix
    for unit in units:
        added = len(unit.text) + (1 if used > (prefix if lines == 1 else 0) else 0)
        if used + added > width and used > (prefix if lines == 1 else 0):
            lines, used, added = lines + 1, 0, len(unit.text)
        used += added
    return lines


def split_units(units: Sequence[Unit], rules: Rules, prefix: int = 0) -> list[Sequence[Unit]]:
    """Units divided into captions at the least total cost; a unit too long for a line stands alone.

    `prefix`: characters of the first line that the speaker's name takes.
    """
    best = [0.0] + [math.inf] * len(units)  # best[j]: cost of the first j units
    origin = [0] * (len(units) + 1)
    for start in range(len(units)):
        for stop in range(start + 1, len(units) + 1):
            group = units[start:stop]
            if stop - start > 1 and not _fits(group, rules, prefix):
                break
            following = units[stop].start_s if stop < len(units) else math.inf
            cost = best[start] + break_cost(units, stop - 1) + _cost(group, following, rules.fastest_cps)
            if cost < best[stop]:
                best[stop], origin[stop] = cost, start
    groups: list[Sequence[Unit]] = []
    stop = len(units)
    while stop:
        groups.append(units[origin[stop] : stop])
        stop = origin[stop]
    return groups[::-1]


def _fits(group: Sequence[Unit], rules: Rules, prefix: int) -> bool:
    if group[-1].start_s - group[-2].end_s > rules.pause_s or group[-1].end_s - group[0].start_s > rules.max_s:
        return False
    return lines_needed(group, rules.line_chars, prefix) <= rules.lines


def _cost(group: Sequence[Unit], following_s: float, fastest_cps: float) -> float:
    characters = sum(len(unit.text) + 1 for unit in group) - 1
    seconds = max(0.1, min(following_s, group[-1].end_s + 1.0) - group[0].start_s)  # with the time it may linger
    inside = sum(UNFINISHED for unit in group[:-1] if unit.text[-1:] in ".?!")
    if group[-1].text[-1:] in ".?!":
        inside /= 4  # whole sentences share a caption well
    return (
        EACH_CAPTION
        + TOO_FAST * max(0.0, characters / seconds - fastest_cps)
        + TOO_SHORT * max(0.0, 1 - seconds)
        + inside
    )


def lay_out(group: Sequence[Unit], rules: Rules, prefix: int = 0) -> tuple[str, ...]:
    """The caption's lines: one if it fits, else two that break well and are about even."""
    width = rules.line_chars
    text = " ".join(unit.text for unit in group)
    if len(text) + prefix <= width or len(group) == 1 or rules.lines == 1:
        return (text,)
    choices = []
    for i in range(len(group) - 1):
        first = " ".join(unit.text for unit in group[: i + 1])
        second = text[len(first) + 1 :]
        over = max(0, len(first) + prefix - width) + max(0, len(second) - width)
        uneven = abs(len(first) + prefix - len(second)) / width
        choices.append((over, break_cost(group, i) + 6 * uneven, first, second))
    return min(choices)[2:]
