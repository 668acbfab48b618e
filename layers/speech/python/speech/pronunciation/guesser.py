"""The sound of a spelling that stands alone: an entry of the lexicon, or a guess where there is none."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from speech.model.bundle import Bundle
from speech.pronunciation.endings import prefixes, stems, unstressed
from speech.pronunciation.joint import JointModel
from speech.pronunciation.lexicon import DEFAULT, Lexicon

TASK = "pronunciation"
SILENT = "ə"  # what is said for a word of which nothing can be read: none is skipped

# Sounds that are written without vowels; other such words are spelt.
SOUNDS = {
    "hmm": "hˈʌm", "hm": "hˈʌm", "mm": "ˈʌm", "mmm": "ˈʌm", "mhm": "ˌʌmhˈʌm", "shh": "ʃˈʌ", "psst": "sˈɪst",
    "pfft": "fˈʌt", "brr": "bˈɜɹ", "grr": "ɡˈɜɹ", "tsk": "tˈɪsk", "zzz": "zˈɪz",
}  # fmt: skip


class Guesser:
    """Lexicon, endings and letter-to-sound of one bundle; phonemes are misaki's symbols, with stress."""

    def __init__(self, lexicon: Lexicon, letters: JointModel) -> None:
        self.lexicon, self.letters = lexicon, letters

    @classmethod
    def load(cls, folder: str | Path, verify: bool = True) -> Guesser:
        """Read a pronunciation bundle. Raises BadBundle."""
        bundle = Bundle.load(folder, TASK, verify)
        return cls(Lexicon.load(bundle.path("lexicon.txt")), JointModel.load(bundle.path("letters.npz")))

    def listed(self, word: str) -> list[str]:
        """All pronunciations that the lexicon has of a spelling, in any case: the usual one first."""
        entries = (self.lexicon.find(one) for one in dict.fromkeys((word, word.lower(), word.capitalize())))
        return list(dict.fromkeys(sound for entry in entries if entry for sound in entry.values()))

    def guess(self, word: str) -> str:
        """Phonemes of a word without an entry; never empty."""
        return self.derived(word) or self.letters.pronounce(word) or SILENT

    def derived(self, word: str) -> str | None:
        """By an ending, a prefix, two known halves, or letter by letter, where one of them fits."""
        return (
            SOUNDS.get(word)
            or self._by_parts(word, stems)
            or self._by_parts(word, prefixes)
            or self._compound(word)
            or self._spelt(word)
            or self._by_clitic(word)
        )

    def letter(self, letter: str) -> str:
        """The name of a letter."""
        return self._plain(letter.upper()) or ""

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
