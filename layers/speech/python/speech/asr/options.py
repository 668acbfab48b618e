"""What a caller may ask of one stream: words to listen for, words to hide, and other ways of hearing each segment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from speech.asr.vocabulary import CustomVocabulary
from speech.errors import BadVocabulary
from speech.text.word_filter import WordFilter

MOST_ALTERNATIVES = 10
_KEYS = ("vocabulary", "vocabulary_filter", "vocabulary_filter_method", "alternatives")


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """Equal options are equal values. Raises BadVocabulary for a number of alternatives that is not possible."""

    vocabulary: CustomVocabulary = field(default_factory=CustomVocabulary)
    word_filter: WordFilter | None = None
    alternatives: int = 0  # of each final, beside it

    def __post_init__(self) -> None:
        number = self.alternatives
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= MOST_ALTERNATIVES:
            message = f"alternatives: expected a whole number from 0 to {MOST_ALTERNATIVES}, got {str(number)[:40]!r}"
            raise BadVocabulary(message)

    @classmethod
    def read(cls, values: Mapping[str, object]) -> StreamOptions:
        """From parsed JSON: vocabulary, vocabulary_filter (words), vocabulary_filter_method, alternatives.

        Raises BadVocabulary naming what is wrong and what was expected.
        """
        if unknown := sorted(set(values) - set(_KEYS)):
            raise BadVocabulary(f"unknown options {unknown}; known are {', '.join(_KEYS)}")
        hidden, method = values.get("vocabulary_filter"), values.get("vocabulary_filter_method")
        if method is not None and hidden is None:
            raise BadVocabulary("vocabulary_filter_method needs the words of vocabulary_filter")
        return cls(
            CustomVocabulary.read(values["vocabulary"]) if values.get("vocabulary") is not None else CustomVocabulary(),
            None if hidden is None else WordFilter.read(hidden, method or "mask"),
            values.get("alternatives") or 0,  # type: ignore[arg-type]  # it looks for itself
        )

    def values(self) -> dict[str, object]:
        """What `read` takes."""
        values: dict[str, object] = {"vocabulary": self.vocabulary.values(), "alternatives": self.alternatives}
        if self.word_filter is not None:
            values["vocabulary_filter"] = sorted(self.word_filter.words)
            values["vocabulary_filter_method"] = self.word_filter.method
        return values
