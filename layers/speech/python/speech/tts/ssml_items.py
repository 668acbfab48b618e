"""What markup comes down to: runs of text, ready words, breaks, marks and boundaries, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from speech.tts.normalise.words import SpokenWord
from speech.tts.prosody import Prosody


@dataclass(frozen=True, slots=True)
class Run:
    """Text to be read as it stands."""

    text: str
    places: tuple[int, ...]  # offset in the markup of each character, and the offset after the last
    prosody: Prosody


@dataclass(frozen=True, slots=True)
class Words:
    """Words that the markup decides: of say-as, sub and phoneme."""

    words: tuple[SpokenWord, ...]  # with places in the markup
    prosody: Prosody
    text: str  # as written


@dataclass(frozen=True, slots=True)
class Break:
    """Silence."""

    seconds: float  # 0: the words on both sides are to be joined
    at: int  # offset in the markup, characters


@dataclass(frozen=True, slots=True)
class Mark:
    """A named place whose time the caller wants to know."""

    name: str
    at: int  # offset in the markup, characters
    end: int  # offset after the tag


@dataclass(frozen=True, slots=True)
class Boundary:
    """A sentence or paragraph begins or ends here."""

    kind: Literal["sentence", "paragraph"]
    at: int  # offset in the markup, characters


Item = Run | Words | Break | Mark | Boundary
