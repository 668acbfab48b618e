"""Phonemes of the words of a text, each word in the company of its neighbours."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from speech.model.bundle import Bundle
from speech.text.numbers import listed
from speech.tts.g2p.endings import prefixes, stems, unstressed
from speech.tts.g2p.homographs import part_of_speech, sense
from speech.tts.g2p.joint import JointModel
from speech.tts.g2p.weak import SOUNDS, weak_form
from speech.tts.lexicon import DEFAULT, Lexicon
from speech.tts.normalise.words import SpokenWord

TASK = "pronunciation"
END_FORM = "None"  # misaki's tag of the form at the end of a clause
FALLBACKS = {"VBD": ("VBD", "VBN", "VERB"), "VERB": ("VERB", "VBP"), "NOUN": ("NOUN",), "ADJ": ("ADJ", "VBN")}
OWN_VARIANTS = frozenset(  # by place in the clause, not by part of speech
    listed("be been by can could have has had her his my there these this those through will would get got gone that")
)
SILENT = "ə"  # what is said for a word of which nothing can be read: none is skipped


@dataclass(frozen=True, slots=True)
class Pronounced:
    """A spoken word with its phonemes (in the voices' symbols, never empty)."""

    word: SpokenWord
    phonemes: str


class Pronouncer:
    """Lexicon, endings, homographs and letter-to-sound; shared by every stream."""

    def __init__(self, lexicon: Lexicon, letters: JointModel) -> None:
        self.lexicon = lexicon
        self.letters = letters

    @classmethod
    def load(cls, folder: str | Path, verify: bool = True) -> Pronouncer:
        """Read a pronunciation bundle. Raises BadBundle."""
        bundle = Bundle.load(folder, TASK, verify)
        return cls(Lexicon.load(bundle.path("lexicon.txt")), JointModel.load(bundle.path("letters.npz")))

    def known(self, word: str) -> bool:
        """Whether a lower-case word is in the lexicon: what `normalise` asks."""
        return word in self.lexicon

    def pronounce(
        self, words: Sequence[SpokenWord], phonemes: Mapping[str, str] | None = None
    ) -> tuple[Pronounced, ...]:
        """Phonemes of every word; `phonemes`: a caller's own, by lower-case word."""
        own = phonemes or {}
        out: list[Pronounced] = []
        following = ""
        for i in range(len(words) - 1, -1, -1):
            word = words[i]
            said = word.phonemes or own.get(word.text) or self._one(words, i, following)
            out.append(Pronounced(word, said))
            following = said
        return tuple(reversed(out))

    def _one(self, words: Sequence[SpokenWord], i: int, following: str) -> str:
        word = words[i]
        if word.letters:
            return self._letter(words, i)
        weak = None if word.emphasis else weak_form(word.text, following)
        return weak or sense(words, i) or self._looked_up(words, i) or self.guess(word.text)

    def _letter(self, words: Sequence[SpokenWord], i: int) -> str:
        """The name of a letter; in a row of letters only the last has the main stress."""
        letter, _, tail = words[i].text.partition("'")
        entry = self.lexicon.find(letter.upper())
        name = entry[DEFAULT] if entry else self.letters.pronounce(letter) or SILENT
        if tail:
            name = next(attach(name) for _, attach in stems(words[i].text))
        after = words[i + 1] if i + 1 < len(words) else None
        same = after is not None and after.letters and after.start == words[i].start
        return unstressed(name) if same else name

    def _looked_up(self, words: Sequence[SpokenWord], i: int) -> str | None:
        word = words[i]
        entry = self._entry(word)
        if entry is None:
            return None
        last = i + 1 == len(words) or words[i].after in (".", "!", "?")
        if word.text in OWN_VARIANTS or len(entry) == 1:
            return entry.get(END_FORM, entry[DEFAULT]) if last or word.emphasis else entry[DEFAULT]
        tags = FALLBACKS.get(part_of_speech(words, i), ())
        return next((entry[tag] for tag in tags if tag in entry), entry[DEFAULT])

    def _entry(self, word: SpokenWord) -> dict[str, str] | None:
        """By the spelling as written, then in small letters, then as a name."""
        for spelling in dict.fromkeys((word.cased, word.text, word.text.capitalize(), word.text.upper())):
            if spelling and (entry := self.lexicon.find(spelling)):
                return entry
        return None

    def guess(self, word: str) -> str:
        """Phonemes of a word that has no entry: by an ending, a prefix, two known halves, or its letters."""
        return (
            SOUNDS.get(word)
            or self._by_parts(word, stems)
            or self._by_parts(word, prefixes)
            or self._compound(word)
            or self._spelt(word)
            or self._by_clitic(word)
            or self.letters.pronounce(word)
            or SILENT
        )

    def _plain(self, word: str) -> str | None:
        entry = self.lexicon.find(word) or self.lexicon.find(word.capitalize())
        return entry[DEFAULT] if entry else None

    def _by_parts(self, word: str, split: Callable[[str], object]) -> str | None:
        for stem, attach in split(word):  # type: ignore[attr-defined]
            if found := self._plain(stem):
                return str(attach(found))
        return None

    def _compound(self, word: str) -> str | None:
        """ "smartwatch": two known words of four letters or more, the second one less stressed."""
        if not word.isalpha() or not 8 <= len(word) <= 24:
            return None
        for cut in sorted(range(4, len(word) - 3), key=lambda c: abs(2 * c - len(word))):
            first, second = self.lexicon.find(word[:cut]), self.lexicon.find(word[cut:])
            if first and second:
                return first[DEFAULT] + unstressed(second[DEFAULT])
        return None

    def _spelt(self, word: str) -> str | None:
        """A word without vowels is spelt."""
        if len(word) > 6 or re.search("[aeiouy']", word):
            return None
        names = [self._plain(letter.upper()) or "" for letter in word]
        return "".join([*map(unstressed, names[:-1]), names[-1]]) or None

    def _by_clitic(self, word: str) -> str | None:
        """An unknown name with "'s" or the like."""
        return None if "'" not in word else next((attach(self.guess(stem)) for stem, attach in stems(word)), None)
