"""From the phonemes of dictionaries and voices (misaki's symbols, stressed) to the phones that a recogniser hears."""

from __future__ import annotations

import unicodedata

# Stress and length say nothing a phone recogniser needs; reduced vowels and the glottal stop are spelt inconsistently.
PHONE_MAP = str.maketrans(
    {"ˈ": "", "ˌ": "", "ː": "", "ʲ": "", "̃": "", "ᵊ": "ə", "ɐ": "ə", "ᵻ": "ɪ", "ʔ": "t", "a": "ɑ", "ɒ": "ɑ", "r": "ɹ"}
    | {"e": "ɛ", "o": "O", "g": "ɡ", "x": "k", "ɬ": "l", "ɚ": "əɹ", "ʍ": "w", "T": "ɾ", "-": "", " ": "", "ɲ": "n"}
)
PHONES = "AIOWYbdfhijklmnpstuvwzæðŋɑɔəɛɜɡɪɹɾʃʊʌʒʤʧθ"


def to_phones(ipa: str) -> str:
    """A misaki phoneme string in this inventory, one character a phone: `ðə tˈWn` -> `ðətWn`; others are dropped."""
    mapped = unicodedata.normalize("NFD", ipa).translate(PHONE_MAP)
    return "".join(p for p in mapped if p in PHONES)
