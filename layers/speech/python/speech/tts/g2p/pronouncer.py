"""Phonemes of the words of a text, each word in the company of its neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from speech.model.bundle import Bundle
from speech.pronunciation.endings import stems, unstressed
from speech.pronunciation.guesser import SILENT, TASK, Guesser
from speech.pronunciation.joint import JointModel
from speech.pronunciation.lexicon import DEFAULT, Lexicon
from speech.text.numbers import listed
from speech.tts.g2p.homographs import part_of_speech, sense
from speech.tts.g2p.weak import weak_form
from speech.tts.normalise.words import SpokenWord

END_FORM = "None"  # misaki's tag of the form at the end of a clause
FALLBACKS = {"VBD": ("VBD", "VBN", "VERB"), "VERB": ("VERB", "VBP"), "NOUN": ("NOUN",), "ADJ": ("ADJ", "VBN")}
OWN_VARIANTS = frozenset(  # by place in the clause, not by part of speech
    listed("be been by can could have has had her his my there these this those through will would get got gone that")
)


@dataclass(frozen=True, slots=True)
class Pronounced:
    """A spoken word with its phonemes (in the voices' symbols, never empty)."""

    word: SpokenWord
    phonemes: str


class Pronouncer:
    """Lexicon, endings, homographs and letter-to-sound; shared by every stream."""

    def __init__(self, lexicon: Lexicon, letters: JointModel, stamp: str = "") -> None:
        """`stamp` tells its bundle from any other, in a snapshot."""
        self.lexicon = lexicon
        self.letters = letters
        self.stamp = stamp
        self._guesser = Guesser(lexicon, letters)

    @classmethod
    def load(cls, folder: str | Path, verify: bool = True) -> Pronouncer:
        """Read a pronunciation bundle. Raises BadBundle."""
        bundle = Bundle.load(folder, TASK, verify)
        letters = JointModel.load(bundle.path("letters.npz"))
        return cls(Lexicon.load(bundle.path("lexicon.txt")), letters, bundle.stamp)

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
        """Phonemes of a word that has no entry; never empty."""
        return self._guesser.guess(word)
