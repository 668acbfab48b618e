"""A caller's own words and phrases: product names, people, jargon, with pronunciations where spelling misleads.

    CustomVocabulary.read(["Zyntrix", "Amber Falcon", {"phrase": "Nguyen", "pronunciations": ["wɪn"]}])

Pronunciations are IPA, as in the lexicon of `say`; blanks separate the words of a phrase. A phrase is written in
transcripts as it is written here, or as `written` says.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from speech.errors import BadVocabulary
from speech.text.forms import Form
from speech.text.spoken import spoken_words

MOST_PHRASES = 500
LONGEST_PHRASE = 100  # characters, of a phrase, of its written form and of a pronunciation
MOST_WORDS = 8  # of a phrase
MOST_PRONUNCIATIONS = 5  # of a phrase
MOST_CHARACTERS = 10_000  # of everything: a stream's snapshot carries its vocabulary
_KEYS = {"phrase", "pronunciations", "written"}


@dataclass(frozen=True, slots=True)
class Phrase:
    """One entry. Raises BadVocabulary through `CustomVocabulary.read`."""

    text: str  # words separated by blanks
    pronunciations: tuple[str, ...] = ()  # IPA; none: from the lexicon or the spelling
    written: str = ""  # in transcripts; "": as `text`

    @property
    def form(self) -> Form:
        """Spoken words and how they are written. Raises ValueError for what cannot be said."""
        pieces = self.text.split()
        spoken = [spoken_words(piece) for piece in pieces]
        words = tuple(word for part in spoken for word in part)
        shown = self.written.split() or pieces
        if len(shown) != len(pieces):
            return Form(words, ((" ".join(shown), len(words)),))
        return Form(words, tuple((text, len(part)) for text, part in zip(shown, spoken, strict=True)))

    def value(self) -> dict[str, object]:
        """The entry as `CustomVocabulary.read` takes it."""
        return {"phrase": self.text, "pronunciations": list(self.pronunciations), "written": self.written}


@dataclass(frozen=True, slots=True)
class CustomVocabulary:
    """Phrases that a stream listens for; equal ones are equal values."""

    phrases: tuple[Phrase, ...] = ()

    @classmethod
    def read(cls, values: object) -> CustomVocabulary:
        """From parsed JSON: a list of phrases, or of objects with phrase, pronunciations and written.

        Raises BadVocabulary naming the entry, what is wrong with it and what was expected.
        """
        if not isinstance(values, Sequence) or isinstance(values, str):
            raise BadVocabulary(f"vocabulary: expected a list of phrases, got {type(values).__name__}")
        if len(values) > MOST_PHRASES:
            raise BadVocabulary(f"the vocabulary has {len(values)} phrases, at most {MOST_PHRASES} are allowed")
        phrases = tuple(_phrase(value, f"vocabulary entry {i}") for i, value in enumerate(values))
        _check(phrases)
        return cls(phrases)

    @classmethod
    def parse(cls, text: str) -> CustomVocabulary:
        """From a file: JSON as for `read`, or a phrase a line, with pronunciations after tabs; `#` begins a remark.

        Raises BadVocabulary.
        """
        if text.lstrip().startswith("["):
            try:
                return cls.read(json.loads(text))
            except (ValueError, RecursionError) as error:
                raise BadVocabulary(f"vocabulary: not JSON: {error}") from None
        lines = [line.split("\t") for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
        return cls.read([{"phrase": line[0], "pronunciations": [x for x in line[1:] if x.strip()]} for line in lines])

    def values(self) -> list[dict[str, object]]:
        """What `read` takes."""
        return [phrase.value() for phrase in self.phrases]

    def and_also(self, other: CustomVocabulary) -> CustomVocabulary:
        """These phrases and those of another that are not here already. Raises BadVocabulary if they are too many."""
        here = {phrase.form.words for phrase in self.phrases}
        phrases = (*self.phrases, *(phrase for phrase in other.phrases if phrase.form.words not in here))
        return CustomVocabulary.read([phrase.value() for phrase in phrases])


def _phrase(value: object, where: str) -> Phrase:
    if isinstance(value, str):
        value = {"phrase": value}
    if not isinstance(value, Mapping) or "phrase" not in value:
        raise BadVocabulary(f"{where}: expected a phrase, or an object with one, got {str(value)[:40]!r}")
    if unknown := sorted(set(value) - _KEYS):
        raise BadVocabulary(f"{where}: unknown keys {unknown}; known are {sorted(_KEYS)}")
    text = _string(value["phrase"], f"{where}: phrase")
    sounds = value.get("pronunciations") or []
    if isinstance(sounds, str) or not isinstance(sounds, Sequence):
        raise BadVocabulary(f"{where} {text!r}: pronunciations: expected a list, got {type(sounds).__name__}")
    if len(sounds) > MOST_PRONUNCIATIONS:
        raise BadVocabulary(
            f"{where} {text!r}: {len(sounds)} pronunciations, at most {MOST_PRONUNCIATIONS} are allowed"
        )
    pronunciations = tuple(_string(sound, f"{where} {text!r}: pronunciation") for sound in sounds)
    written = _string(value["written"], f"{where} {text!r}: written") if value.get("written") else ""
    return _checked(Phrase(text, pronunciations, written), f"{where}: phrase")


def _checked(phrase: Phrase, where: str) -> Phrase:
    try:
        words = phrase.form.words
    except ValueError as error:
        raise BadVocabulary(f"{where} {error}") from None
    if len(words) > MOST_WORDS:
        raise BadVocabulary(f"{where} {phrase.text!r} has {len(words)} words, at most {MOST_WORDS} are allowed")
    for sound in phrase.pronunciations:
        if len(words) > 1 and len(sound.split()) != len(words):
            message = f"the pronunciation {sound!r} has {len(sound.split())} words, {len(words)} were expected"
            raise BadVocabulary(f"{where} {phrase.text!r}: {message}, separated by blanks")
    return phrase


def _check(phrases: Iterable[Phrase]) -> None:
    """What concerns all entries together."""
    size, seen = 0, dict[tuple[str, ...], str]()
    for phrase in phrases:
        size += len(phrase.text) + len(phrase.written) + sum(map(len, phrase.pronunciations))
        words = phrase.form.words
        if words in seen:
            raise BadVocabulary(f"the vocabulary has {phrase.text!r} twice: as {seen[words]!r} before")
        seen[words] = phrase.text
    if size > MOST_CHARACTERS:
        raise BadVocabulary(f"the vocabulary has {size} characters, at most {MOST_CHARACTERS} are allowed")


def _string(value: object, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise BadVocabulary(f"{what}: expected text, got {str(value)[:40]!r}")
    if len(value) > LONGEST_PHRASE:
        raise BadVocabulary(f"{what} has {len(value)} characters, at most {LONGEST_PHRASE} are allowed")
    return " ".join(value.split())
