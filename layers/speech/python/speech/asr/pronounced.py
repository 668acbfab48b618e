"""Phrases with the sounds that one recogniser listens for: from its graph, a lexicon, the caller, or their letters.

Pronounced phrases are values that a snapshot carries: whoever takes the stream up needs no lexicon.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from speech.asr.graph import COST_PER_NAT, NO_WORD, Graph
from speech.asr.known import KnownWords
from speech.asr.overlay import OverlaidGraph, Path
from speech.asr.phones import to_phones
from speech.asr.vocabulary import CustomVocabulary, Phrase
from speech.errors import BadText, BadVocabulary
from speech.pronunciation.guesser import SILENT, Guesser
from speech.pronunciation.phonemes import from_ipa

MOST_WAYS = 8  # of saying a phrase
MOST_GUESSES = 4  # of saying a word that no lexicon has
LONGEST_INITIALS = 5  # letters: "GPU" may be spelt or read
VARIANT_COST = round(0.7 * COST_PER_NAT)  # of a pronunciation that is not the first, as in the graph


@dataclass(frozen=True, slots=True)
class Pronounced:
    """A phrase as one graph can hold it."""

    words: tuple[str, ...]
    written: tuple[tuple[str, int], ...]  # parts, with the number of words each stands for
    numbers: tuple[int, ...]  # of the words in the graph; NO_WORD for one it lacks
    ways: tuple[tuple[str, ...], ...]  # of saying it, the usual one first: phones of each word
    root: int  # state of the graph that it leads to


class Pronouncing:
    """Finds the sounds of phrases for one graph."""

    def __init__(self, graph: Graph, guesser: Callable[[], Guesser] | None) -> None:
        """`guesser` is called when a word is met that the graph lacks; None: there is no lexicon."""
        self._graph, self._load, self._known = graph, guesser, KnownWords(graph)

    @cached_property
    def _guesser(self) -> Guesser | None:
        return None if self._load is None else self._load()

    def pronounce(self, vocabulary: CustomVocabulary) -> tuple[Pronounced, ...]:
        """All phrases. Raises BadVocabulary naming the phrase whose sounds are not known, or no sounds."""
        numbers = self._known.numbers
        wanted = {numbers[w] for phrase in vocabulary.phrases for w in phrase.form.words if w in numbers}
        spoken = self._known.find(wanted)
        found = []
        for phrase in vocabulary.phrases:
            form = phrase.form
            ids = tuple(numbers.get(word, NO_WORD) for word in form.words)
            if phrase.pronunciations:
                ways = tuple(self._given(phrase, sounds) for sounds in phrase.pronunciations)
            else:
                shown = _shown(phrase)
                each = [
                    (
                        *self._spelt(word, text),
                        *(spoken[number].ways if number in spoken else self._guessed(word, text)),
                    )
                    for number, word, text in zip(ids, form.words, shown, strict=True)
                ]
                ways = tuple(itertools.islice(itertools.product(*each), MOST_WAYS))
            root = spoken[ids[-1]].root if ids[-1] in spoken else self._known.root
            found.append(Pronounced(form.words, form.parts, ids, tuple(dict.fromkeys(ways)), root))
        return tuple(found)

    def can_say(self, phrase: Phrase) -> bool:
        """Whether there are sounds for every word of a phrase without pronunciations of its own."""
        return self._load is not None or all(word in self._known.numbers for word in phrase.form.words)

    def _given(self, phrase: Phrase, sounds: str) -> tuple[str, ...]:
        """A caller's pronunciation, word by word: IPA, or phones of the model where it has symbols of its own."""
        words = sounds.split() if len(phrase.form.words) > 1 else ["".join(sounds.split())]
        phones = set(self._graph.phones[1:])
        try:
            heard = tuple(to_phones(from_ipa(word, f"vocabulary: {phrase.text!r}")) for word in words)
        except BadText as error:
            if all(set(word) <= phones for word in words):
                return tuple(words)
            raise BadVocabulary(str(error)) from None
        return heard if all(set(word) <= phones for word in heard) else tuple(words)

    def _spelt(self, word: str, shown: str) -> tuple[str, ...]:
        """Initials, letter by letter."""
        if self._guesser is None or not shown.isupper() or not 1 < len(word) <= LONGEST_INITIALS:
            return ()
        return (to_phones("".join(self._guesser.letter(letter) for letter in word)),)

    def _guessed(self, word: str, shown: str) -> tuple[str, ...]:
        """Pronunciations of a word that the graph lacks."""
        if self._guesser is None:
            message = f"vocabulary: this model does not know {word!r} and reads no letters: give a pronunciation"
            raise BadVocabulary(message)
        found = self._guesser.listed(shown)
        if not found:
            derived = self._guesser.derived(word)
            found = [*([derived] if derived else []), *self._guesser.letters.variants(word)]
        ways = [way for way in dict.fromkeys(to_phones(sound) for sound in found) if way]
        return tuple(ways[:MOST_GUESSES]) or (to_phones(SILENT),)


def _shown(phrase: Phrase) -> list[str]:
    """For each word the text it comes from, where that is one word: capitals tell initials."""
    pieces = phrase.text.split()
    form = phrase.form
    whole = len(pieces) == len(form.words)
    return pieces if whole else list(form.words)


def overlaid(graph: Graph, phrases: Iterable[Pronounced]) -> OverlaidGraph:
    """The graph with the phrases beside it."""
    number = {phone: i for i, phone in enumerate(graph.phones)}
    new: dict[str, int] = {}
    paths = []
    for phrase in phrases:
        ids = [
            known if known != NO_WORD else new.setdefault(word, len(graph.words) + len(new))
            for word, known in zip(phrase.words, phrase.numbers, strict=True)
        ]
        for nth, way in enumerate(phrase.ways):
            steps = tuple(step for word, sounds in zip(ids, way, strict=True) for step in _steps(word, sounds, number))
            paths.append(Path(steps, phrase.root, VARIANT_COST * (nth > 0)))
    return OverlaidGraph.of(graph, list(new), paths)


def _steps(word: int, sounds: Sequence[str], number: dict[str, int]) -> list[tuple[int, int]]:
    *inner, last = (number[phone] for phone in sounds)
    return [*((phone, NO_WORD) for phone in inner), (last, word)]
