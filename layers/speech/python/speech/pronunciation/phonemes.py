"""The phoneme symbols that the voices speak (misaki's for American English); checks what callers give."""

from __future__ import annotations

from speech.errors import BadText

PRIMARY, SECONDARY = "ˈ", "ˌ"
STRESS = PRIMARY + SECONDARY
# One symbol for each diphthong: A (day), I (my), O (go), W (now), Y (boy); the raised schwa is the weakest vowel.
VOWELS = "AIOWYiuæɑəɛɜɪʊʌɔɐᵊᵻ"
CONSONANTS = "bdfhjklmnpstvwzðŋɡɹɾʃʒʤʧθʔ"
SIGNS = ".,!?;:—"  # pauses and tunes, written after a word
SYMBOLS = frozenset(STRESS + VOWELS + CONSONANTS + SIGNS + " ")

# What other transcriptions write for the same sounds.
_ALIASES = {
    "eɪ": "A", "aɪ": "I", "oʊ": "O", "əʊ": "O", "aʊ": "W", "ɔɪ": "Y", "dʒ": "ʤ", "tʃ": "ʧ", "d͡ʒ": "ʤ", "t͡ʃ": "ʧ",
    "ɚ": "əɹ", "ɝ": "ɜɹ", "r": "ɹ", "g": "ɡ", "e": "ɛ", "a": "ɑ", "o": "O", "ː": "", ".": "", "ɫ": "l", "'": PRIMARY,
}  # fmt: skip


def from_ipa(text: str, what: str = "phonemes") -> str:
    """Phonemes of one word, given as IPA or in the voices' own symbols. Raises BadText naming the symbol."""
    out, i = "", 0
    while i < len(text):
        for width in (3, 2, 1):
            piece = text[i : i + width]
            if piece in _ALIASES:
                out += _ALIASES[piece]
                break
            if width == 1 and piece in SYMBOLS and piece not in SIGNS:
                out += piece
                break
        else:
            raise BadText(f"{what}: {text[i]!r} at position {i} of {text!r} is no phoneme; known are {known()}")
        i += width
    out = " ".join(out.split())
    if not any(symbol in VOWELS + CONSONANTS for symbol in out):
        raise BadText(f"{what}: {text!r} has no sound; expected IPA such as 'təmˈɑɾO'")
    return out


def known() -> str:
    """The symbols, for messages."""
    return " ".join(STRESS + VOWELS + CONSONANTS)


def begins_with_vowel(phonemes: str) -> bool:
    """Whether the first sound is a vowel; decides between "thuh" and "thee"."""
    return phonemes.lstrip(STRESS)[:1] in tuple(VOWELS)
