"""What a caller writes in a vocabulary or a filter, as the words that the decoder knows."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)*'?")
_INITIALS = re.compile(r"(?:[a-z]\.)+[a-z]?")
_SIGNS = str.maketrans({"’": "'", "‘": "'", "‐": "-", "‑": "-", "–": "-"})
NUMBER_WORDS = "digits are written out, as they are said: 'three', not '3'"


def spoken_words(written: str) -> tuple[str, ...]:
    """The words of one blank-separated piece of text: `Coca-Cola` -> coca, cola; `A.W.S.` -> a, w, s; `&` -> and.

    Raises ValueError, saying what cannot be said as it stands.
    """
    folded = unicodedata.normalize("NFKD", written.translate(_SIGNS).lower())
    plain = "".join(c for c in folded if not unicodedata.combining(c))
    if plain == "&":
        return ("and",)
    if _INITIALS.fullmatch(plain):
        return tuple(plain.replace(".", ""))
    words = tuple(part for part in plain.removesuffix(".").split("-") if part)
    for word in words:
        if any(c.isdigit() for c in word):
            raise ValueError(f"{written!r}: {NUMBER_WORDS}")
        if not _WORD.fullmatch(word):
            wrong = next((c for c in word if not ("a" <= c <= "z")), word[:1])
            raise ValueError(f"{written!r}: {wrong!r} cannot be said; expected letters, apostrophes and hyphens")
    if not words:
        raise ValueError(f"{written!r} has no letters")
    return words
