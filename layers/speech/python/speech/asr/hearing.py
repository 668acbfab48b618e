"""How one stream is heard and told: the decoder with its phrases, how they are written, what is hidden.

Streams that ask for the same share a decoder, so that one search can advance them together.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from speech.asr.decoder import Decoder, DecoderConfig
from speech.asr.graph import Graph
from speech.asr.options import StreamOptions
from speech.asr.pronounced import Pronounced, Pronouncing, overlaid
from speech.asr.vocabulary import CustomVocabulary
from speech.errors import BadSnapshot, BadVocabulary
from speech.events import Final, Partial, Word
from speech.pronunciation.guesser import Guesser
from speech.text.forms import Form, Forms
from speech.text.word_filter import WordFilter

KEPT = 16  # vocabularies that stay compiled
LARGEST_JSON = 1 << 20  # bytes, of what a snapshot may unpack to


@dataclass(frozen=True, eq=False)
class Hearing:
    """Holds no state of a stream."""

    decoder: Decoder
    phrases: tuple[Pronounced, ...] = ()
    forms: Forms | None = None
    word_filter: WordFilter | None = None
    alternatives: int = 0

    def partial(self, segment: int, words: tuple[Word, ...], stable: int) -> Partial:
        """A partial as it may be shown."""
        event = Partial(segment, words, stable)
        return event if self.word_filter is None else self.word_filter.partial(event)

    def final(self, event: Final) -> Final:
        """A final as it may be shown; it may have lost all its words."""
        return event if self.word_filter is None else self.word_filter.final(event)

    def pack(self) -> bytes:
        """For a snapshot; nothing where nothing was asked for."""
        if not (self.phrases or self.word_filter or self.alternatives):
            return b""
        values = {
            "phrases": [[p.words, p.written, p.numbers, p.ways, p.root] for p in self.phrases],
            "filter": None if self.word_filter is None else [sorted(self.word_filter.words), self.word_filter.method],
            "alternatives": self.alternatives,
        }
        return zlib.compress(json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode())


class Hearings:
    """Makes hearings for one graph, equal ones with the same decoder."""

    def __init__(self, graph: Graph, config: DecoderConfig, guesser: Callable[[], Guesser] | None) -> None:
        """`guesser`: loads what pronounces words that the graph lacks, when one is met; None: there is nothing."""
        self.plain = Hearing(Decoder(graph, config))
        self._graph, self._config = graph, config
        self._pronouncing = Pronouncing(graph, guesser)
        self._pronounced = lru_cache(KEPT)(self._pronouncing.pronounce)
        self._decoder = lru_cache(KEPT)(self._compiled)

    def of(self, options: StreamOptions | None) -> Hearing:
        """Raises BadVocabulary naming a phrase that cannot be pronounced."""
        if options is None:
            return self.plain
        phrases = self._pronounced(options.vocabulary) if options.vocabulary.phrases else ()
        return self._made(phrases, options.word_filter, options.alternatives)

    def sayable(self, vocabulary: CustomVocabulary) -> CustomVocabulary:
        """The phrases that can be pronounced: all of them where there is a lexicon."""
        return CustomVocabulary(tuple(filter(self._pronouncing.can_say, vocabulary.phrases)))

    def unpack(self, blob: bytes) -> Hearing:
        """What `Hearing.pack` gave, of the same graph. Raises BadSnapshot."""
        if not blob:
            return self.plain
        try:
            values = json.loads(zlib.decompressobj().decompress(blob, LARGEST_JSON))
            phrases = tuple(_pronounced(*row) for row in values["phrases"])
            hidden = None if values["filter"] is None else WordFilter.read(*values["filter"])
            return self._made(phrases, hidden, int(values["alternatives"]))
        except (zlib.error, ValueError, KeyError, TypeError, BadVocabulary) as error:
            raise BadSnapshot(f"the snapshot's vocabulary cannot be read: {error}") from error

    def _made(self, phrases: tuple[Pronounced, ...], hidden: WordFilter | None, alternatives: int) -> Hearing:
        if not phrases and hidden is None and not alternatives:
            return self.plain
        forms = Forms(Form(phrase.words, phrase.written) for phrase in phrases) if phrases else None
        return Hearing(self._decoder(phrases), phrases, forms, hidden, alternatives)

    def _compiled(self, phrases: tuple[Pronounced, ...]) -> Decoder:
        return Decoder(overlaid(self._graph, phrases), self._config) if phrases else self.plain.decoder


def _pronounced(
    words: list[str], written: list[list[str | int]], numbers: list[int], ways: list[list[str]], root: int
) -> Pronounced:
    parts = tuple((str(text), int(count)) for text, count in written)
    return Pronounced(tuple(words), parts, tuple(numbers), tuple(tuple(way) for way in ways), root)
