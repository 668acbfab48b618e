"""Text in plain ASCII, as the rules read it, with the place of every character in the caller's text.

Accents are folded, typographic signs become their plain forms, signs with a name become the name, and what cannot be
spoken (emoji, control characters, marks of direction, scripts other than Latin and Greek) becomes nothing or a blank.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

PLAIN = re.compile(r"[\x20-\x7e\n]*")

SIGNS = {
    "’": "'", "‘": "'", "ʼ": "'", "´": "'", "`": "", "ʻ": "'", "′": "'", "″": '"', "“": '"', "”": '"', "„": '"',
    "«": '"', "»": '"', "–": "–", "—": "—", "―": "—", "−": "-", "‐": "-", "‑": "-", "…": "...", "•": "\n- ",
    "·": " ", "×": " times ", "÷": " divided by ", "±": " plus or minus ", "≈": " about ", "≠": " is not equal to ",
    "≤": " less than or equal to ", "≥": " greater than or equal to ", "√": " square root of ", "∞": " infinity ",
    "∑": " sum ", "∆": " delta ", "°": "°", "µ": "µ", "€": "€", "£": "£", "¥": "¥", "¢": "¢", "₹": "₹",
    "§": " section ",
    "№": " number ", "²": "^2", "³": "^3", "ß": "ss", "æ": "ae", "Æ": "Ae", "ø": "o", "Ø": "O", "œ": "oe", "Œ": "Oe",
    "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "þ": "th", "Þ": "Th", "ı": "i", "⁄": "/", "\t": " ", "\r": "",
    "\x0b": "\n", "\x0c": "\n", "\x85": "\n", "\u2028": "\n", "\u2029": "\n\n", "¡": "", "¿": "", "™": "", "®": "",
    "©": "", "¼": " 1/4", "½": " 1/2", "¾": " 3/4", "⅓": " 1/3", "⅔": " 2/3", "⅛": " 1/8", "⅜": " 3/8", "⅝": " 5/8",
    "⅞": " 7/8", "⅕": " 1/5", "。": ". ", "，": ", ", "、": ", ", "？": "? ", "！": "! ", "：": ": ", "；": "; ",
    "⃣": "",
}  # fmt: skip
_ALPHABET = "αβγδεζηθικλμνξοπρσςτυφχψω"
_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau upsilon "
    "phi chi psi omega"
)
GREEK = dict(zip(_ALPHABET, _NAMES.split(), strict=True))
KEPT = frozenset("–—°µ€£¥¢₹")


@dataclass(frozen=True)
class Folded:
    """Plain text; character i came from `starts[i]` to `ends[i]` of the caller's text."""

    text: str
    starts: list[int] | range
    ends: list[int] | range

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where a stretch of the plain text stands in the caller's."""
        return self.starts[start], self.ends[end - 1]


def fold(text: str) -> Folded:
    """Fold a text; one that is plain already costs nothing."""
    if PLAIN.fullmatch(text):
        return Folded(text, range(len(text)), range(1, len(text) + 1))
    out: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for i, char in enumerate(text):
        plain = char if " " <= char <= "~" or char == "\n" else _plain(char, text, i)
        for c in plain:
            out.append(c)
            starts.append(i)
            ends.append(i + 1)
        if not plain and ends and unicodedata.category(char).startswith("M"):
            ends[-1] = i + 1
    return Folded("".join(out), starts, ends)


def _plain(char: str, text: str, i: int) -> str:
    if char in SIGNS:
        return SIGNS[char]
    if char.lower() in GREEK:
        return _greek(text, i)
    category = unicodedata.category(char)
    if category.startswith("M") or category in ("Cc", "Cf"):
        return ""
    if category.startswith(("S", "Z", "C")) and char not in KEPT:
        compatible = unicodedata.normalize("NFKC", char)
        return compatible if compatible.isascii() and compatible.isalnum() else " "
    if char in KEPT:
        return char
    letters = [c for c in unicodedata.normalize("NFKD", char) if not unicodedata.combining(c)]
    plain = "".join(SIGNS.get(c, c) for c in letters)
    return plain if plain.isascii() and plain else " "


def _greek(text: str, i: int) -> str:
    """The name of a Greek letter that stands alone; Greek words cannot be read."""
    beside = text[max(0, i - 1) : i] + text[i + 1 : i + 2]
    return " " if any(c.lower() in GREEK for c in beside) else f" {GREEK[text[i].lower()]} "
