"""What a recognition stream tells its caller: words, partials, finals and turn ends, as frozen values.

Times are seconds from the first sample of the stream, counted in samples and never accumulated from rounded chunks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

TokenKind = Literal["word", "punctuation"]


@dataclass(frozen=True, slots=True)
class Word:
    """One spoken word as the decoder found it: lower case, no punctuation, numbers spelled out."""

    text: str
    start_s: float  # seconds from the start of the stream
    end_s: float  # seconds from the start of the stream
    confidence: float  # 0 to 1, the estimated probability that the word is right
    filtered: bool = False  # matches a vocabulary filter that tags


@dataclass(frozen=True, slots=True)
class Token:
    """One written token, after punctuation, casing and inverse text normalisation.

    A word token stands for `spoken` (one or more spoken words: "$25" for "twenty five dollars").
    A punctuation token has no spoken words and takes the end time of the word before it.
    """

    text: str
    start_s: float  # seconds
    end_s: float  # seconds
    confidence: float  # 0 to 1; the least confident of its spoken words
    kind: TokenKind = "word"
    spoken: tuple[str, ...] = ()
    filtered: bool = False  # stands for a word that matches a vocabulary filter that tags


@dataclass(frozen=True, slots=True)
class Partial:
    """The words of the running segment so far; those before `stable` will not change any more."""

    segment: int  # counts from 0 within the stream
    words: tuple[Word, ...]
    stable: int  # number of leading words that are settled


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another way of hearing a segment: its spoken words, and the same as written text."""

    words: tuple[Word, ...]
    tokens: tuple[Token, ...]

    @property
    def raw_text(self) -> str:
        """The spoken words, lower case, separated by blanks."""
        return " ".join(word.text for word in self.words)

    @property
    def text(self) -> str:
        """The written text: punctuation joined to the word before it."""
        return join_tokens(self.tokens)


@dataclass(frozen=True, slots=True)
class Final:
    """A finished segment: its spoken words, and the same as written text."""

    segment: int  # counts from 0 within the stream
    words: tuple[Word, ...]
    tokens: tuple[Token, ...]
    start_s: float  # seconds
    end_s: float  # seconds
    alternatives: tuple[Alternative, ...] = ()  # the likeliest first, where they were asked for

    @property
    def raw_text(self) -> str:
        """The spoken words, lower case, separated by blanks."""
        return " ".join(word.text for word in self.words)

    @property
    def text(self) -> str:
        """The written text: punctuation joined to the word before it."""
        return join_tokens(self.tokens)


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """The speaker has stopped; follows the final of the turn's last segment."""

    at_s: float  # seconds: the end of the last word
    reason: Literal["silence", "length", "finish"]  # which endpoint rule fired


Event = Partial | Final | TurnEnd


def join_tokens(tokens: tuple[Token, ...]) -> str:
    """Written text of tokens: a blank before each word, none before punctuation."""
    return "".join(t.text if t.kind == "punctuation" else " " + t.text for t in tokens).strip()
