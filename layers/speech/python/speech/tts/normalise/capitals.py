"""Words in capitals, single letters, and capitals inside words: what is spelt and what is read."""

from __future__ import annotations

import re
from dataclasses import replace

from speech.text.numbers import listed
from speech.text.spelling import KNOWN
from speech.tts.normalise.abbreviations import closing
from speech.tts.normalise.rules import LETTERS, Place, rule
from speech.tts.normalise.words import Said, Saying, say, spell

READ = frozenset(  # acronyms that are words
    listed(
        "nasa nato unesco unicef opec aids laser radar scuba sim pin ram rom gif jpeg lan wan nafta fema osha "
        "hipaa naacp asap covid sars nascar swat taser zip bios sonar yolo fomo awol saas paas iaas"
    )
) - {"naacp", "asap"}
ALSO_WORDS = frozenset(listed("us it am or in me hi oh so no we he go do"))
SPELT_SMALL = frozenset(  # spelt even in small letters
    listed(
        "usb pdf html http https api url urls faq faqs atm dvd cd gps tv tvs dj ceo cfo cto sms vpn ssn dob eta "
        "fbi cia llc mph rsvp diy sql css xml ibm hdmi gpu cpu ssd pc pcs phd mba"
    )
)
AROUND = 40  # characters on each side that tell shouting from an acronym
MAYBE_MONTHS = frozenset(["mon", "tue", "wed", "thu", "fri", "sat", "sun"])


def _capitals(m: re.Match[str], place: Place) -> Saying | None:
    """ "FBI" is spelt, "NASA" is read, "NOT" is a word with emphasis, and A SENTENCE IN CAPITALS is words."""
    word, tail = m[1], m[2] or ""
    lower = word.lower()
    if tail.lower().lstrip("'") == "s" and _shouting(place) and tail != "'s" and place.known(lower + "s"):
        return say(lower + "s")
    if lower in READ:
        return say(lower + tail.lower(), cased=word)
    shouting = _shouting(place)
    if _is_spelt(lower, shouting, place):
        return with_tail(spell(word), tail)
    emphasis = not shouting and len(word) > 1 and place.known(lower)
    return say(lower + tail.lower(), cased="" if emphasis else word + tail, emphasis=emphasis)


def _is_spelt(lower: str, shouting: bool, place: Place) -> bool:
    if lower in KNOWN or lower in SPELT_SMALL:
        return not (shouting and lower in ALSO_WORDS)
    if place.known(lower):
        return False
    vowels = re.search("[aeiouy]", lower)
    return not vowels or len(lower) <= 3 or (len(lower) <= 5 and not shouting and not _readable(lower))


def _readable(lower: str) -> bool:
    """Whether the letters alternate enough to be a syllable or two."""
    return bool(
        re.fullmatch(r"[bcdfghjklmnpqrstvwxyz]{0,2}(?:[aeiouy]{1,2}[bcdfghjklmnpqrstvwxz]{1,2}){1,3}[aeiouy]?", lower)
    )


def _shouting(place: Place) -> bool:
    """Whether the words around are in capitals too."""
    around = place.text[max(0, place.start - AROUND) : place.start] + place.text[place.end : place.end + AROUND]
    words = re.findall(r"[A-Za-z]{2,}", around)
    return bool(words) and sum(w.isupper() for w in words) > len(words) * 0.6


def with_tail(saying: Saying, tail: str) -> Saying:
    """Spelt letters with a plural or possessive: the last letter takes it ("c e o's")."""
    ending = tail.lower().lstrip("'’")
    if not ending or not saying:
        return saying
    return [*saying[:-1], replace(saying[-1], text=f"{saying[-1].text}'{ending}")]


def _initials(m: re.Match[str], place: Place) -> Saying | None:
    """ "U.S.", "a.m.", "J.R.R.": letters; the last full stop may end the sentence too."""
    letters = spell(m[0])
    half_of_day = m[0].lower() in ("a.m.", "p.m.")
    return closing(letters, place, before_capital=half_of_day) if m[0].endswith(".") else letters


def _initial(m: re.Match[str], place: Place) -> Saying | None:
    """ "John F. Kennedy": the stop after a single capital is no end."""
    named = place.before()[:1].isupper() or place.start == 0
    return spell(m[1]) if named and place.next_char().isupper() and m[1] != "I" else None


def _letter(m: re.Match[str], place: Place) -> Saying | None:
    """A letter alone: its name; "a" and "I" are words, "A" one before a word in small letters."""
    if m[1] in ("a", "I", "i"):
        return say(m[1].lower())
    if m[1] == "A" and (place.after() or not place.before()) and not m[2]:
        return say("a")
    return with_tail(spell(m[1]), m[2] or "")


def _small(m: re.Match[str], place: Place) -> Saying | None:
    return spell(m[1]) if m[1] in SPELT_SMALL and not (m[1][-1] == "s" and m[1][:-1] in SPELT_SMALL) else _plural(m[1])


def _plural(word: str) -> Saying | None:
    return with_tail(spell(word[:-1]), "s") if word in SPELT_SMALL else None


def _camel(m: re.Match[str], place: Place) -> Saying | None:
    """ "iPhone" is i phone, "OpenAI" open a i; what the lexicon knows as a whole stays whole ("YouTube")."""
    if m[0].lower() in SPELT_SMALL:
        return spell(m[0])
    if place.known(m[0].lower()) or re.match(r"(Mc|Mac|De|La|Le|Van|O)[A-Z]", m[0]):
        return None
    out: Saying = []
    for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", m[0]):
        if (
            len(part) == 1
            or (part.isupper() and not place.known(part.lower()))
            or (part.isupper() and part.lower() in KNOWN)
        ):
            out += spell(part)
        else:
            out.append(Said(part.lower(), cased=part))
    return out


RULES = [
    rule(LETTERS, r"(?:[A-Za-z]\.){2,12}(?![A-Za-z0-9])|(?:[A-Z]\.){1,12}[A-Z](?![A-Za-z0-9])", _initials),
    rule(LETTERS, r"([A-Z])\.(?= ?[A-Z])", _initial),
    rule(LETTERS, r"([A-Z]{2,40})('[sS]|s)?(?![A-Za-z0-9]|'[A-Za-z])", _capitals),
    rule(LETTERS, r"([a-z]{2,5})(?![A-Za-z0-9']|[.][A-Za-z])", _small),
    rule(LETTERS, r"([A-Za-z])('s)?(?![A-Za-z0-9]|'[A-Za-z])", _letter),
    rule(LETTERS, r"(?:[a-z]{1,20}|[A-Z][a-z]{1,20})(?:[A-Z]{1,6}[a-z]{0,20}){1,6}(?![A-Za-z0-9'])", _camel),
]
