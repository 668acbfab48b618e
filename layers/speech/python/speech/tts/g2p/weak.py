"""Small words whose form depends on what follows: "the", "to", "a" and others that are weak inside a clause."""

from __future__ import annotations

from speech.pronunciation.phonemes import begins_with_vowel

# Inside a clause; at its end the lexicon's full form is said.
WEAK = {"a": "ɐ", "of": "əv", "and": "ænd", "an": "ən", "for": "fɔɹ", "from": "fɹəm"}


def weak_form(word: str, following: str) -> str | None:
    """Phonemes of a small word before `following` (phonemes, "" at the end of a text); None for other words."""
    if word == "the":
        return "ði" if begins_with_vowel(following) else "ðə"
    if word == "to":
        return "tʊ" if begins_with_vowel(following) or not following else "tə"
    return WEAK.get(word) if following else None
