"""Regular English endings: the stem of an inflected word, and how the ending is then pronounced."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from speech.pronunciation.phonemes import STRESS, VOWELS

Attach = Callable[[str], str]  # phonemes of a stem -> phonemes with the ending
VOICELESS, HISSING = "ptkfθ", "szʃʒʧʤ"
FLAPS_AFTER = VOWELS + "ɹ"  # a t between such a sound and an unstressed vowel is flapped


def plural(stem: str) -> str:
    """ "-s" and "-'s": s, z or ᵻz."""
    if stem[-1] in HISSING:
        return stem + "ᵻz"
    return stem + ("s" if stem[-1] in VOICELESS else "z")


def past(stem: str) -> str:
    """ "-ed": t, d or ᵻd."""
    if stem[-1] in "td":
        return _flapped(stem) + "ᵻd"
    return stem + ("t" if stem[-1] in VOICELESS + HISSING and stem[-1] not in "zʒʤ" else "d")


def _flapped(stem: str) -> str:
    return stem[:-1] + "ɾ" if stem[-1] == "t" and stem[-2:-1] and stem[-2] in FLAPS_AFTER else stem


def _plus(phonemes: str, flaps: bool = False) -> Attach:
    return lambda stem: (_flapped(stem) if flaps else stem) + phonemes


CLITICS: dict[str, Attach] = {
    "s": plural, "ll": _plus("ᵊl"), "ve": _plus("əv"), "d": lambda p: p + ("əd" if p[-1] in "td" else "d"),
    "re": _plus("əɹ"), "m": _plus("m"), "t": _plus("t"), "em": _plus("əm"),
}  # fmt: skip
ENDINGS: list[tuple[str, Attach]] = [
    ("s", plural),
    ("ed", past),
    ("ing", _plus("ɪŋ", flaps=True)),
    ("ings", _plus("ɪŋz", flaps=True)),
    ("ers", _plus("əɹz", flaps=True)),
    ("er", _plus("əɹ", flaps=True)),
    ("est", _plus("ɪst", flaps=True)),
    ("ly", _plus("li")),
    ("ness", _plus("nəs")),
    ("less", _plus("ləs")),
    ("ful", _plus("fᵊl")),
    ("ment", _plus("mənt")),
    ("able", _plus("əbᵊl", flaps=True)),
    ("ish", _plus("ɪʃ", flaps=True)),
    ("like", _plus("lˌIk")),
    ("wise", _plus("wˌIz")),
]
PREFIXES = [
    ("un", "ˌʌn"),
    ("non", "nˌɑn"),
    ("re", "ɹi"),
    ("pre", "pɹi"),
    ("anti", "ˌænti"),
    ("over", "ˌOvəɹ"),
    ("mis", "mɪs"),
]


def stems(word: str) -> Iterator[tuple[str, Attach]]:
    """Possible stems with what attaches the ending again, the likeliest first."""
    head, _, tail = word.rpartition("'")
    if head:
        if tail in CLITICS:
            yield head, CLITICS[tail]
        if word.endswith("n't"):
            yield word[:-3], _plus("ᵊnt")
        return
    for ending, attach in ENDINGS:
        if word.endswith(ending) and len(word) >= len(ending) + 3 and not word.endswith("ss"):
            yield from ((stem, attach) for stem in _bare(word[: -len(ending)], ending))


def _bare(stem: str, ending: str) -> Iterator[str]:
    if ending == "s":
        yield stem
        if stem.endswith("ie"):
            yield stem[:-2] + "y"
        if stem.endswith("e") and stem[-2:-1] in tuple("sxzho"):
            yield stem[:-1]
        return
    if stem.endswith("i"):
        yield stem[:-1] + "y"
    if ending[0] in "aei":
        yield stem + "e"
    yield stem
    if len(stem) > 3 and stem[-1] == stem[-2] and ending[0] in "aei":
        yield stem[:-1]


def prefixes(word: str) -> Iterator[tuple[str, Attach]]:
    """The rest of a word after a common prefix, and what puts the prefix before it again."""
    for prefix, phonemes in PREFIXES:
        rest = word.removeprefix(prefix)
        if rest != word and len(rest) >= 4:
            yield rest, lambda stem, before=phonemes: before + stem  # type: ignore[misc]


def unstressed(phonemes: str) -> str:
    """With the main stress made a secondary one: all but the last letter of a spelt word."""
    return phonemes.replace(STRESS[0], STRESS[1])
