"""Spoken words of one segment to written tokens: punctuation, casing, numbers; every spoken word in one token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from speech.errors import BadBundle
from speech.events import Token, Word
from speech.model.bundle import Bundle
from speech.text.forms import Forms, Written
from speech.text.itn import SIGNS as SIGN_WORDS
from speech.text.itn import Piece, normalise
from speech.text.punctuation import LOWER, NONE, PERIOD, SIGNS, Hints, Tagger, capitalised, decide_marks, spell
from speech.text.vocabulary import Vocabulary

STOPS = frozenset(".?")
Placed = tuple[Piece, list[int]]  # a written piece, and the positions of its spoken words


@dataclass(frozen=True)
class Formatter:
    """Formats segments; holds weights only, so streams may share it."""

    tagger: Tagger | None = None
    hints: Hints = field(default_factory=Hints)

    @classmethod
    def load(cls, folder: Path, verify: bool = True) -> Formatter:
        """From a text bundle. Raises BadBundle when it is incomplete, altered, or of another task.

        `verify=False` skips the checksums, for a copy that was verified when it was made.
        """
        from speech.model.onnx import OnnxModel

        bundle = Bundle.load(folder, task="text", verify=verify)
        buckets = bundle.manifest.settings.get("buckets")
        if not isinstance(buckets, int):
            raise BadBundle(f"{folder}: settings.buckets is {buckets!r}, expected a whole number")
        vocabulary = Vocabulary.load(bundle.path("vocabulary.txt"), buckets)
        return cls(Tagger(OnnxModel(bundle.path("tagger.onnx")), vocabulary))

    @classmethod
    def plain(cls) -> Formatter:
        """No model: a capital first, a period last, and numbers. For tests and bundles without a tagger."""
        return cls()

    def format(self, words: Sequence[Word], opens: bool = True, forms: Forms | None = None) -> tuple[Token, ...]:
        """Written tokens of one segment.

        `opens`: whether a sentence begins here; pass `ends_sentence(tokens)` of the segment before where it is known.
        `forms`: phrases that are written in a way of their own, whatever the tagger and the rules for numbers say.
        """
        if not words:
            return ()
        marks, spellings, names = self.tags(words)
        own = forms.find([word.text for word in words]) if forms else []
        for parts in own:
            marks[parts[0].start : parts[-1].stop - 1] = [NONE] * (parts[-1].stop - 1 - parts[0].start)
        line: list[str] = []  # spoken words and signs, as the rules for numbers read them
        origin: list[int] = []  # for each, the word it is or follows
        for i, word in enumerate(words):
            line += [word.text, SIGNS[marks[i]]] if marks[i] != NONE else [word.text]
            origin += [i] * (1 if marks[i] == NONE else 2)
        places = {k for k, i in enumerate(origin) if i in names and line[k] not in SIGN_WORDS}
        pieces = [
            (piece, [origin[k] for k in range(piece.start, piece.end) if line[k] not in SIGN_WORDS])
            for piece in normalise(line, places)
        ]
        return _tokens(_with_own(pieces, [part for parts in own for part in parts]), words, spellings, opens)

    def tags(self, words: Sequence[Word]) -> tuple[list[int], list[str], set[int]]:
        """Sign class after each word, spelling of each word, positions of names."""
        texts = [word.text for word in words]
        if self.tagger is None:
            marks = [NONE] * (len(words) - 1) + [PERIOD]
            return marks, [spell(text, LOWER, {}) for text in texts], set()
        mark_scores, casing_scores = self.tagger.scores(texts)
        gaps = np.array([b.start_s - a.end_s for a, b in pairwise(words)], dtype=np.float64)
        marks = decide_marks(mark_scores, gaps, self.hints)
        casings = [int(c) for c in casing_scores.argmax(axis=1)]
        mixed = self.tagger.vocabulary.mixed
        spellings = [spell(text, casing, mixed) for text, casing in zip(texts, casings, strict=True)]
        return marks, spellings, {i for i, casing in enumerate(casings) if casing != LOWER}


def ends_sentence(tokens: Sequence[Token]) -> bool:
    """Whether the text so far ends with a period or a question mark; true of no text at all."""
    return not tokens or tokens[-1].text in STOPS


def _with_own(pieces: Sequence[Placed], own: Sequence[Written]) -> Sequence[Placed]:
    """The pieces, with those that lie in a part of a caller's own in its place; one that reaches beyond it stays."""
    if not own:
        return pieces
    parts = {part.start: part for part in own}
    out: list[Placed] = []
    at = 0
    while at < len(pieces):
        part = parts.get(pieces[at][1][0]) if pieces[at][1] else None
        end, covered = at, list[int]()
        while part and end < len(pieces) and len(covered) < part.stop - part.start:
            covered += pieces[end][1]
            end += 1
        if part and covered == list(range(part.start, part.stop)):
            out.append((Piece(pieces[at][0].start, pieces[end - 1][0].end, part.text, changed=True), covered))
            at = end
        else:
            out.append(pieces[at])
            at += 1
    return out


def _tokens(
    pieces: Sequence[Placed], words: Sequence[Word], spellings: Sequence[str], opens: bool
) -> tuple[Token, ...]:
    """Tokens of written pieces, each with the positions of its spoken words."""
    tokens: list[Token] = []
    for piece, spoken in pieces:
        if piece.text in SIGN_WORDS:
            if tokens and tokens[-1].kind == "word":
                tokens.append(_sign(piece.text, tokens[-1]))
            continue
        text = piece.text if piece.changed else spellings[spoken[0]]
        starts = tokens[-1].text in STOPS if tokens else opens
        tokens.append(_word(capitalised(text) if starts and text.islower() else text, [words[i] for i in spoken]))
    return tuple(tokens)


def _word(text: str, spoken: Sequence[Word]) -> Token:
    return Token(
        text=text,
        start_s=spoken[0].start_s,
        end_s=spoken[-1].end_s,
        confidence=min(word.confidence for word in spoken),
        spoken=tuple(word.text for word in spoken),
    )


def _sign(text: str, before: Token) -> Token:
    return Token(text=text, start_s=before.end_s, end_s=before.end_s, confidence=before.confidence, kind="punctuation")
