"""Regular English endings: how to find the stem of an inflected word and how the ending is then pronounced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from models.asr.phones import FLAP_BEFORE

Rule = Callable[[str], str]  # phones of a stem -> phones with the ending


def _plural(stem: str) -> str:
    if stem[-1] in "szʃʒʧʤ":
        return stem + "ɪz"
    return stem + ("s" if stem[-1] in "ptkfθ" else "z")


def _flapped(stem: str, ending: str) -> str:
    flap = ending[0] in "ɪə" and stem[-1] == "t" and stem[-2:-1] and stem[-2] in FLAP_BEFORE
    return (stem[:-1] + "ɾ" if flap else stem) + ending


def _past(stem: str) -> str:
    if stem[-1] in "td":
        return _flapped(stem, "ɪd")
    return stem + ("t" if stem[-1] in "pkfθʃsʧ" else "d")


DERIVED = {"ing": "ɪŋ", "er": "əɹ", "est": "ɪst", "ly": "li", "ness": "nəs", "less": "ləs", "ers": "əɹz"}
SUFFIXES: dict[str, Rule] = {
    "s": _plural,
    "ll": lambda p: p + ("l" if p[-1] in "AIOWYiu" else "əl"),
    "ve": lambda p: p + ("v" if p[-1] in "AIOWYiu" else "əv"),
    "d": lambda p: p + ("d" if p[-1] in "AIOWYiu" else "əd"),
    "re": lambda p: p + "əɹ",
    "m": lambda p: p + "m",
    "t": lambda p: p + "t",
}


def stems(word: str) -> Iterator[tuple[str, Rule]]:
    """Possible stems with the rule that attaches the ending again, the likeliest first."""
    head, _, tail = word.rpartition("'")
    if head:
        if tail in SUFFIXES:
            yield head, SUFFIXES[tail]
        if word.endswith("n't"):
            yield word[:-3], lambda p: p + "ənt"
        return
    for ending, attach in (("s", _plural), ("ed", _past)):
        yield from ((stem, attach) for stem in _bare(word, ending))
    for ending, phones in DERIVED.items():
        yield from ((stem, partial(_flapped, ending=phones)) for stem in _bare(word, ending))


def _bare(word: str, ending: str) -> Iterator[str]:
    if not word.endswith(ending) or len(word) < len(ending) + 2 or (ending == "s" and word.endswith("ss")):
        return
    stem = word[: -len(ending)]
    if ending == "s":
        yield stem
        if stem.endswith("ie"):
            yield stem[:-2] + "y"
        if stem.endswith("e") and stem[-2:-1] in "sxzho":
            yield stem[:-1]
        return
    if stem.endswith("i") and ending[0] == "e":
        yield stem[:-1] + "y"
    if ending[0] in "ei":
        yield stem + "e"
    yield stem
    if len(stem) > 3 and stem[-1] == stem[-2]:
        yield stem[:-1]
