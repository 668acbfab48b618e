"""How far guessed pronunciations are from the right ones."""

from __future__ import annotations

from collections.abc import Iterable

from models.tts.alignment import phones_of


def distance(one: list[str], other: list[str]) -> int:
    """Edits that turn one list of phones into the other (Levenshtein)."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (a != b))
    return row[-1]


def plain(phonemes: str) -> str:
    """Without stress, and with the reduced vowels that the lexicon spells in several ways as one."""
    return phonemes.translate(str.maketrans({"ˈ": "", "ˌ": "", "ᵊ": "ə", "ᵻ": "ɪ"}))


def errors(pairs: Iterable[tuple[str, str]]) -> dict[str, float]:
    """Shares of wrong words and phones over (right, guessed): with stress, and without."""
    words = wrong = wrong_plain = phones = edits = edits_plain = 0
    for right, guessed in pairs:
        words += 1
        wrong += right != guessed
        wrong_plain += plain(right) != plain(guessed)
        phones += len(phones_of(right))
        edits += distance(phones_of(right), phones_of(guessed))
        edits_plain += distance(phones_of(plain(right)), phones_of(plain(guessed)))
    return {
        "words": words,
        "word_error": round(wrong / words, 4),
        "word_error_without_stress": round(wrong_plain / words, 4),
        "phoneme_error": round(edits / phones, 4),
        "phoneme_error_without_stress": round(edits_plain / phones, 4),
    }
