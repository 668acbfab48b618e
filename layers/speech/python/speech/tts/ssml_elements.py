"""The elements of speech markup: their attributes and what they mean."""

from __future__ import annotations

import re
from dataclasses import dataclass

from speech.pronunciation.phonemes import from_ipa
from speech.tts import prosody as scale
from speech.tts import say_as
from speech.tts.normalise import SpokenWord, normalise
from speech.tts.prosody import Prosody

_NONE: frozenset[str] = frozenset()
# element -> attributes that it needs, and others that it may have
ATTRIBUTES: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "speak": (_NONE, frozenset({"version", "xmlns", "xml:lang"})),
    "p": (_NONE, _NONE),
    "s": (_NONE, _NONE),
    "break": (_NONE, frozenset({"time", "strength"})),
    "prosody": (_NONE, frozenset({"rate", "pitch", "volume"})),
    "say-as": (frozenset({"interpret-as"}), frozenset({"format"})),
    "sub": (frozenset({"alias"}), _NONE),
    "phoneme": (frozenset({"ph"}), frozenset({"alphabet"})),
    "mark": (frozenset({"name"}), _NONE),
}
TEXT_ONLY = frozenset({"say-as", "sub", "phoneme"})
EMPTY = frozenset({"break", "mark"})
STRENGTHS = {"none": 0.0, "x-weak": 0.1, "weak": 0.2, "medium": 0.4, "strong": 0.7, "x-strong": 1.2}
LONGEST_BREAK_S = 10.0
ALPHABETS = ("ipa", "misaki")


@dataclass
class Frame:
    """An open element, and the text found in it."""

    name: str
    attributes: dict[str, str]
    prosody: Prosody
    start: int  # offset of its tag
    text: str = ""
    text_start: int = -1  # offsets of its text in the markup
    text_end: int = -1

    def take(self, text: str, start: int, end: int) -> None:
        """Add a stretch of text."""
        self.text += text
        self.text_start = start if self.text_start < 0 else self.text_start
        self.text_end = end


def break_s(attributes: dict[str, str]) -> float:
    """Seconds of silence. Raises ValueError saying what was expected."""
    if "time" not in attributes:
        strength = attributes.get("strength", "medium")
        if strength not in STRENGTHS:
            raise ValueError(f"strength={strength!r}; expected one of {', '.join(STRENGTHS)}")
        return STRENGTHS[strength]
    found = re.fullmatch(r"\+?(\d{1,6}(?:\.\d{1,6})?|\.\d{1,6})(ms|s)", attributes["time"])
    seconds = float(found[1]) / (1000 if found[2] == "ms" else 1) if found else -1.0
    if not 0 <= seconds <= LONGEST_BREAK_S:
        raise ValueError(f"time={attributes['time']!r}; expected 0ms to {LONGEST_BREAK_S:g}s, as '500ms' or '1.5s'")
    return seconds


def prosody_of(attributes: dict[str, str]) -> Prosody:
    """The change that a prosody element asks for. Raises ValueError saying what was expected."""
    if not attributes:
        raise ValueError("<prosody> needs one of rate, pitch, volume")
    readers = {"rate": scale.rate, "pitch": scale.pitch, "volume": scale.volume}
    values = {"rate": 1.0, "pitch": 0.0, "volume": 0.0}
    for name, text in attributes.items():
        try:
            values[name] = readers[name](text)
        except ValueError as error:
            raise ValueError(f"{name}={text!r}; {error}") from None
    return Prosody(values["rate"], values["pitch"], values["volume"])


def words_of(frame: Frame) -> tuple[SpokenWord, ...]:
    """The words of say-as, sub or phoneme, placed at the element's text. Raises ValueError or BadText."""
    start, end = (frame.text_start, frame.text_end) if frame.text_start >= 0 else (frame.start, frame.start)
    attributes = frame.attributes
    if frame.name == "say-as":
        said = say_as.read(attributes["interpret-as"], frame.text, attributes.get("format", ""))
        return tuple(SpokenWord(s.text, start, end, s.letters, s.emphasis, s.after, s.cased) for s in said)
    if frame.name == "sub":
        words = normalise(attributes["alias"])
        if not words:
            raise ValueError(f"alias={attributes['alias']!r} has no words")
        return tuple(SpokenWord(w.text, start, end, w.letters, w.emphasis, w.after, w.cased) for w in words)
    if attributes.get("alphabet", "ipa") not in ALPHABETS:
        raise ValueError(f"alphabet={attributes['alphabet']!r}; expected one of {', '.join(ALPHABETS)}")
    phonemes = from_ipa(attributes["ph"], "ph")
    return (SpokenWord(frame.text.strip().lower(), start, end, phonemes=phonemes),)
