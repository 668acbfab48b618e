"""The phones that the recogniser tells apart, and how misaki's and CMUdict's symbols map onto them."""

from __future__ import annotations

from pathlib import Path

from speech.asr.phones import PHONE_MAP, PHONES, to_phones

__all__ = ["BLANK", "LETTERS", "PHONES", "PHONE_MAP", "WEAK", "from_arpabet", "to_phones"]

BLANK = "<b>"

ARPABET = {
    "AA": "ɑ", "AE": "æ", "AH": "ʌ", "AO": "ɔ", "AW": "W", "AY": "I", "B": "b", "CH": "ʧ", "D": "d", "DH": "ð",
    "EH": "ɛ", "ER": "ɜɹ", "EY": "A", "F": "f", "G": "ɡ", "HH": "h", "IH": "ɪ", "IY": "i", "JH": "ʤ", "K": "k",
    "L": "l", "M": "m", "N": "n", "NG": "ŋ", "OW": "O", "OY": "Y", "P": "p", "R": "ɹ", "S": "s", "SH": "ʃ",
    "T": "t", "TH": "θ", "UH": "ʊ", "UW": "u", "V": "v", "W": "w", "Y": "j", "Z": "z", "ZH": "ʒ",
    "AH0": "ə", "ER0": "əɹ",
}  # fmt: skip
FLAP_BEFORE = "AIOWYiuæɑəɛɪɹʊʌɔ"  # misaki flaps /t/ after these ...
FLAP_AFTER = ("AH0", "ER0", "IH0", "IY0", "OW0", "EY0", "AY0")  # ... when an unstressed vowel follows

LETTER_NAMES = "A bi si di i ɛf ʤi Aʧ I ʤA kA ɛl ɛm ɛn O pi kju ɑɹ ɛs ti ju vi dʌbəlju ɛks wI zi"
LETTERS = dict(zip("abcdefghijklmnopqrstuvwxyz", LETTER_NAMES.split(), strict=True))

# Words that people reduce or that no dictionary spells, the commonest form in running speech first.
WEAK = dict(line.split("\t") for line in (Path(__file__).parent / "weak_forms.tsv").read_text().splitlines())


def from_arpabet(symbols: list[str]) -> str:
    """CMUdict phones in this inventory, with misaki's flap: `L EY1 T ER0` -> `lAɾəɹ`."""
    out = ""
    for i, symbol in enumerate(symbols):
        after = symbols[i + 1] if i + 1 < len(symbols) else ""
        before_n = after == "AH0" and symbols[i + 2 : i + 3] == ["N"]
        if symbol == "T" and out and out[-1] in FLAP_BEFORE and after in FLAP_AFTER and not before_n:
            out += "ɾ"
        else:
            out += ARPABET.get(symbol) or ARPABET[symbol.rstrip("012")]
    return out
