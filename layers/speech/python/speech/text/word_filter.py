"""Vocabulary filters: words that transcripts show as "***", leave out, or tag, as Amazon Transcribe does.

A filter holds single words and compares whole words without regard to case; other forms of a word (its plural, its
possessive) are words of their own. Partials are filtered like finals: a word appears in them once it is complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from speech.errors import BadVocabulary
from speech.events import Final, Partial, Token, Word
from speech.text.spoken import spoken_words

Method = Literal["mask", "remove", "tag"]
METHODS: tuple[Method, ...] = get_args(Method)
MASK = "***"
MOST_WORDS, LONGEST_WORD = 1000, 50
STOPS = frozenset(".?!")


@dataclass(frozen=True, slots=True)
class WordFilter:
    """Words and what becomes of them; equal filters are equal values."""

    words: frozenset[str]
    method: Method = "mask"

    @classmethod
    def read(cls, words: object, method: object = "mask") -> WordFilter:
        """From parsed JSON. Raises BadVocabulary naming the entry, what is wrong with it and what was expected."""
        if method not in METHODS:
            raise BadVocabulary(f"filter method {str(method)[:40]!r} is not known; expected {', '.join(METHODS)}")
        if not isinstance(words, Sequence) or isinstance(words, str):
            raise BadVocabulary(f"filter: expected a list of words, got {type(words).__name__}")
        if len(words) > MOST_WORDS:
            raise BadVocabulary(f"the filter has {len(words)} words, at most {MOST_WORDS} are allowed")
        return cls(frozenset(_word(word, i) for i, word in enumerate(words)), method)

    @classmethod
    def parse(cls, text: str, method: object = "mask") -> WordFilter:
        """From a file: a word a line; `#` begins a remark. Raises BadVocabulary."""
        lines = (line.strip() for line in text.splitlines())
        return cls.read([line for line in lines if line and not line.startswith("#")], method)

    def partial(self, event: Partial) -> Partial:
        """The partial as it may be shown; `stable` counts the words that are left."""
        stable = self._words(event.words[: event.stable])
        return replace(event, words=self._words(event.words), stable=len(stable))

    def final(self, event: Final) -> Final:
        """The final as it may be shown: its words, its text and its alternatives. It may have lost all its words."""
        others = tuple(
            replace(o, words=self._words(o.words), tokens=self._tokens(o.tokens)) for o in event.alternatives
        )
        return replace(event, words=self._words(event.words), tokens=self._tokens(event.tokens), alternatives=others)

    def _words(self, words: Sequence[Word]) -> tuple[Word, ...]:
        if self.method == "remove":
            return tuple(word for word in words if word.text not in self.words)
        return tuple(self._marked(word) if word.text in self.words else word for word in words)

    def _marked(self, word: Word) -> Word:
        return replace(word, text=MASK) if self.method == "mask" else replace(word, filtered=True)

    def _tokens(self, tokens: Sequence[Token]) -> tuple[Token, ...]:
        """A token that stands for several words goes with any of them."""
        hit = [not self.words.isdisjoint(token.spoken) for token in tokens]
        if self.method == "tag":
            return tuple(replace(t, filtered=True) if h else t for t, h in zip(tokens, hit, strict=True))
        if self.method == "mask":
            return tuple(replace(t, text=MASK, spoken=(MASK,)) if h else t for t, h in zip(tokens, hit, strict=True))
        return _mended([t for t, h in zip(tokens, hit, strict=True) if not h])


def _mended(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Punctuation after gaps: none begins a text, and of two signs in a row the one that ends a sentence stays."""
    kept: list[Token] = []
    for token in tokens:
        if token.kind == "word" or (kept and kept[-1].kind == "word"):
            kept.append(token)
        elif kept and kept[-1].text not in STOPS and token.text in STOPS:
            kept[-1] = token
    return tuple(kept)


def _word(value: object, i: int) -> str:
    where = f"filter entry {i}"
    if not isinstance(value, str) or not value.strip():
        raise BadVocabulary(f"{where}: expected a word, got {str(value)[:40]!r}")
    if len(value) > LONGEST_WORD:
        raise BadVocabulary(f"{where} has {len(value)} characters, at most {LONGEST_WORD} are allowed")
    try:
        words = [word for piece in value.split() for word in spoken_words(piece)]
    except ValueError as error:
        raise BadVocabulary(f"{where} {error}") from None
    if len(words) != 1:
        raise BadVocabulary(f"{where} {value!r} has {len(words)} words; a filter holds single words")
    return words[0]
