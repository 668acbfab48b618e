"""Words that are written alike and said differently, told apart by the words beside them.

`SENSES` lists, for each such word, readings with the neighbours that call for them, first match wins; what the table
does not decide goes by a guess of the part of speech, and the lexicon's own pronunciation for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from speech.tts.normalise.words import SpokenWord


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


AUXILIARY = _set(
    "to will would can could shall should may might must cannot can't won't don't doesn't didn't couldn't wouldn't "
    "shouldn't do does did let's lets please gonna wanna i'll you'll we'll they'll he'll she'll it'll"
)
PRONOUNS = _set("i you we they who")
ADVERBS = _set("never always also just not still only often usually really already even rarely ever then now")
DETERMINERS = _set(
    "the a an this these those my your his her its our their some any no every each another which what whose"
)
NOUN_BEFORE = DETERMINERS | _set("of in on at for with from by into under about new last first next one two three")
HAVE = _set("have has had having i've you've we've they've he's she's it's i'd you'd we'd they'd he'd she'd who've")
BE = _set(
    "is are was were be been being am i'm you're we're they're he's she's it's that's isn't aren't wasn't get got"
)
OBJECTS = _set("it them him her me us this that the a an my your his our their these those all")
PAST_CUES = _set("yesterday ago last already once earlier previously")


@dataclass(frozen=True)
class Sense:
    """A reading, and the neighbours that call for it; an empty set does not matter."""

    phonemes: str
    before: frozenset[str] = frozenset()  # the word before, an adverb skipped
    after: frozenset[str] = frozenset()  # the word after
    anywhere: frozenset[str] = frozenset()  # within four words
    not_before: frozenset[str] = frozenset()
    not_after: frozenset[str] = frozenset()


RED, REED = "ɹˈɛd", "ɹˈid"
SENSES: dict[str, tuple[Sense, ...]] = {
    "read": (
        Sense(REED, before=AUXILIARY),
        Sense(RED, before=HAVE | BE),
        Sense(RED, before=_set("he she it")),
        Sense(RED, anywhere=PAST_CUES),
        Sense(REED),
    ),
    "lead": (
        Sense("lˈɛd", after=_set("pipe pipes paint poisoning acid free based bullet bullets shot weights pencil ore")),
        Sense("lˈɛd", before=_set("of molten heavy contains containing"), not_after=_set("the a times time actor")),
    ),
    "live": (
        Sense("lˈIv", before=BE),
        Sense(
            "lˈɪv", before=AUXILIARY | PRONOUNS | _set("people and where"), not_after=_set("music chat stream video")
        ),
        Sense("lˈɪv", after=_set("in with there here alone together near without longer forever")),
        Sense("lˈIv"),
    ),
    "lives": (
        Sense("lˈɪvz", before=_set("he she it who that one")),
        Sense("lˈɪvz", after=_set("in with there here alone near"), not_before=DETERMINERS),
        Sense("lˈIvz"),
    ),
    "close": (
        Sense("klˈOs", after=_set("to by enough friend friends call up second attention look")),
        Sense("klˈOs", before=BE | _set("very so too too really pretty quite how as")),
        Sense("klˈOz", before=AUXILIARY | PRONOUNS),
        Sense("klˈOz", after=OBJECTS | _set("at on your")),
        Sense("klˈOz", before=_set("market the's day's")),
        Sense("klˈOs"),
    ),
    "use": (
        Sense("jˈuz", before=AUXILIARY | PRONOUNS),
        Sense("jˈus", before=NOUN_BEFORE | _set("more no little much good better public heavy daily")),
        Sense("jˈus", after=_set("of case cases")),
        Sense("jˈuz"),
    ),
    "used": (Sense("jˈust", after=_set("to"), not_before=_set("is are be was were been being")), Sense("jˈuzd")),
    "wind": (
        Sense("wˈInd", after=_set("up down back around through"), not_before=DETERMINERS),
        Sense("wˈInd", before=_set("to will can must"), not_after=_set("speed power turbine and")),
        Sense("wˈɪnd"),
    ),
    "wound": (Sense("wˈWnd", after=_set("up down around")), Sense("wˈund")),
    "tear": (
        Sense("tˈɪɹ", after=_set("gas drop drops ducts duct")),
        Sense("tˈɛɹ", after=_set("up down apart off open out it them the through away in")),
        Sense("tˈɛɹ", before=AUXILIARY | PRONOUNS | _set("and")),
        Sense("tˈɪɹ"),
    ),
    "tears": (Sense("tˈɛɹz", before=_set("he she it"), after=_set("up down apart off the")), Sense("tˈɪɹz")),
    "minute": (
        Sense("mInˈut", after=_set("detail details amount amounts quantities differences particles traces")),
        Sense("mInˈut", before=_set("very extremely most so")),
        Sense("mˈɪnət"),
    ),
    "content": (
        Sense("kəntˈɛnt", before=BE | _set("feel feels felt seem seems seemed very quite perfectly")),
        Sense("kˈɑntɛnt"),
    ),
    "bass": (
        Sense("bˈæs", anywhere=_set("fish fishing lake sea largemouth catch caught pond")),
        Sense("bˈAs"),
    ),
    "dove": (Sense("dˈOv", after=_set("into in off under down right deep headfirst")), Sense("dˈʌv")),
    "bow": (
        Sense("bˈO", after=_set("tie ties and")),
        Sense("bˈW", before=AUXILIARY | _set("take took takes deep")),
        Sense("bˈW", after=_set("to down before out")),
        Sense("bˈO"),
    ),
    "resume": (Sense("ɹˈɛzəmˌA", before=DETERMINERS - _set("this") | _set("updated")), Sense("ɹəzˈum")),
    "row": (Sense("ɹˈO"),),
    "does": (Sense("dˈʌz"),),
    "number": (Sense("nˈʌmbəɹ"),),
}


def sense(words: Sequence[SpokenWord], i: int) -> str | None:
    """Phonemes of word i if the table decides about it."""
    senses = SENSES.get(words[i].text)
    if senses is None:
        return None
    before, after = neighbours(words, i)
    near = {word.text for word in words[max(0, i - 4) : i + 5]}
    for one in senses:
        if (
            (not one.before or before in one.before)
            and (not one.after or after in one.after)
            and (not one.anywhere or near & one.anywhere)
            and before not in one.not_before
            and after not in one.not_after
        ):
            return one.phonemes
    return None


def neighbours(words: Sequence[SpokenWord], i: int) -> tuple[str, str]:
    """The words before (adverbs skipped) and after; "" across a pause or at an end."""
    j = i - 1
    while j > 0 and words[j].text in ADVERBS and not words[j].after:
        j -= 1
    before = words[j].text if j >= 0 and not words[j].after else ""
    after = words[i + 1].text if i + 1 < len(words) and not words[i].after else ""
    return before, after


def part_of_speech(words: Sequence[SpokenWord], i: int) -> str:
    """VERB, NOUN, ADJ, VBD or "": a guess from the neighbours, for words that the lexicon has by part of speech."""
    before, after = neighbours(words, i)
    if before in AUXILIARY or before in PRONOUNS:
        return "VERB"
    if before in BE:
        return "ADJ"
    if before in HAVE:
        return "VBD"
    if before in NOUN_BEFORE:
        return "NOUN"
    return "VERB" if after in OBJECTS and (not before or after in ("it", "them", "him", "me", "us")) else ""
