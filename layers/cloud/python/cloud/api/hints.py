"""Words that a request asks to listen for or to hide: a vocabulary taken strictly, and OpenAI's `prompt` as hints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING

from speech.asr.options import StreamOptions
from speech.asr.vocabulary import LONGEST_PHRASE, MOST_CHARACTERS, CustomVocabulary
from speech.errors import BadVocabulary
from speech.text.spoken import spoken_words
from speech.text.word_filter import WordFilter

from cloud.api.errors import ApiError

if TYPE_CHECKING:
    from speech.asr.recognizer import Recognizer

MOST_HINTS = 100
LONGEST_HINT = 4  # words: a longer stretch of a prompt is prose, of which only names are taken
_STRETCH = re.compile(r"[^,;:\n.!?()\"]+")
_NAME = re.compile(r"[^\W\d_][\w'’-]*")


def options(
    recognizer: Recognizer, prompt: str | None, vocabulary: str | None, hidden: str | None, method: str
) -> StreamOptions | None:
    """What the fields of a form ask for; None for nothing. Raises ApiError naming the field and what is wrong in it."""
    try:
        asked = CustomVocabulary.parse(vocabulary) if vocabulary else CustomVocabulary()
        found = StreamOptions(asked)
        recognizer.hearings.of(found)
    except BadVocabulary as error:
        raise _refused(error, "vocabulary") from None
    try:
        word_filter = WordFilter.parse(hidden.replace(",", "\n"), method) if hidden else None
    except BadVocabulary as error:
        raise _refused(error, "vocabulary_filter") from None
    hinted = recognizer.hearings.sayable(hints(prompt)) if prompt else CustomVocabulary()
    try:
        both = asked.and_also(hinted)
    except BadVocabulary:  # no room for hints beside what was asked for
        both = asked
    return StreamOptions(both, word_filter) if both.phrases or word_filter else None


def hints(prompt: str) -> CustomVocabulary:
    """The phrases of a prompt: its short stretches between commas and stops, and the names in longer ones.

    A prompt is never wrong: what cannot be said is passed over, and so is what comes after a hundred phrases.
    """
    phrases: dict[tuple[str, ...], str] = {}
    for phrase in _phrases(prompt[: 4 * MOST_CHARACTERS]):
        try:
            words = tuple(word for piece in phrase.split() for word in spoken_words(piece))
        except ValueError:
            continue
        if len(phrase) <= LONGEST_PHRASE and len(words) <= 2 * LONGEST_HINT:
            phrases.setdefault(words, phrase)
        if len(phrases) == MOST_HINTS:
            break
    return CustomVocabulary.read(list(phrases.values()))


def _phrases(prompt: str) -> Iterator[str]:
    for stretch in _STRETCH.findall(prompt):
        words = stretch.split()
        if len(words) <= LONGEST_HINT:
            if words:
                yield " ".join(words)
            continue
        run: list[str] = []
        for word in [*words[1:], ""]:  # the first word of a sentence has its capital for that alone
            if word[:1].isupper() and _NAME.fullmatch(word):
                run.append(word)
            elif run:
                yield " ".join(run[:LONGEST_HINT])
                run = []


def _refused(error: BadVocabulary, param: str) -> ApiError:
    return ApiError(HTTPStatus.BAD_REQUEST, str(error), code="invalid_vocabulary", param=param)
