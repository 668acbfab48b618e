"""A clause as the acoustic model reads it: numbered symbols with rate, pitch and loudness, and what stands where."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from speech.pronunciation.phonemes import STRESS
from speech.tts import symbols
from speech.tts.marks import MarkType
from speech.tts.prosody import Prosody
from speech.tts.script import Clause, line

WINDOW = 48  # symbols: a longer clause is read in windows, so that its first sound does not wait for its end
CONTEXT = 24  # symbols on each side of a window that its reader sees too


@dataclass(frozen=True, slots=True)
class PlannedSpan:
    """A stretch of the caller's text, and the symbols that speak it."""

    type: MarkType
    first: int  # its first symbol; the number of symbols: after the last
    after: int  # the symbol after its last
    start: int  # offset in the caller's text, characters
    end: int
    value: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """Symbols (L,) of one clause; L is 0 for a clause without words."""

    tokens: NDArray[np.int64]
    rates: NDArray[np.float32]  # (L,) times the voice's own speed
    semitones: NDArray[np.float32]  # (L,)
    gains: NDArray[np.float32]  # (L,) factors of amplitude
    begins: bool  # a sentence: there is a pad in front
    first: str  # the first phoneme, without stress; "" if there is none
    spans: tuple[PlannedSpan, ...]

    def windows(self) -> list[range]:
        """The symbols in stretches of WINDOW and more, each but the first beginning with a word."""
        cuts, count = [0], len(self.tokens)
        for span in self.spans:
            if span.type == "word" and span.first >= cuts[-1] + WINDOW and span.first + WINDOW // 2 <= count:
                cuts.append(span.first)
        return [range(first, after) for first, after in zip(cuts, [*cuts[1:], count], strict=True)]

    def part(self, window: range) -> Plan:
        """One window as a plan of its own, its symbols counted from 0."""
        chosen, last = slice(window.start, window.stop), window.stop == len(self.tokens)
        spans = [s for s in self.spans if window.start <= s.first and (last or s.first < window.stop)]
        return replace(
            self,
            tokens=self.tokens[chosen],
            rates=self.rates[chosen],
            semitones=self.semitones[chosen],
            gains=self.gains[chosen],
            begins=self.begins and not window.start,
            spans=tuple(replace(s, first=s.first - window.start, after=s.after - window.start) for s in spans),
        )


def plan(clause: Clause, begins: bool, base: Prosody) -> Plan:
    """The plan of a clause; `begins`: it is the first of its sentence, `base`: what the whole stream is changed by."""
    ends = clause.kind != "clause"
    text, places = line(clause.words) if clause.words else ("", ())
    first = text.lstrip(STRESS)[:1]
    if text:
        text += "." if ends and text[-1] not in symbols.SIGNS else ""
        text = text if begins else " " + text  # the teacher's phonemes sound before their time: a blank makes room
        places = places if begins else tuple(range(p.start + 1, p.stop + 1) for p in places)
    tokens = np.array(symbols.encode(text, begins, ends) if text else [], np.int64)
    shift = int(begins and bool(text))
    owner = _owners(places, shift, len(tokens))
    prosody = [one.within(base) for one in clause.prosody]
    return Plan(
        tokens,
        np.array([prosody[i].rate for i in owner], np.float32),
        np.array([prosody[i].pitch_st for i in owner], np.float32),
        np.array([10 ** (prosody[i].volume_db / 20) for i in owner], np.float32),
        begins,
        first,
        _spans(clause, text, places, shift, len(tokens)),
    )


def _owners(places: tuple[range, ...], shift: int, count: int) -> NDArray[np.int64]:
    """The word to whose prosody each symbol belongs: signs and blanks go with the word before them."""
    starts = [place.start + shift for place in places]
    return np.maximum(np.searchsorted(starts, np.arange(count), side="right") - 1, 0)


def _spans(clause: Clause, text: str, places: tuple[range, ...], shift: int, count: int) -> tuple[PlannedSpan, ...]:
    spans: list[PlannedSpan] = []
    for pronounced, place in zip(clause.words, places, strict=True):
        word, first = pronounced.word, place.start
        spans.append(PlannedSpan("word", place.start + shift, place.stop + shift, word.start, word.end))
        for i in place:
            if text[i] in STRESS:
                continue
            if text[i] != " ":
                value = text[first : i + 1]
                spans.append(PlannedSpan("phoneme", first + shift, i + 1 + shift, word.start, word.end, value))
            first = i + 1
    for mark in clause.marks:
        at = places[mark.before_word].start + shift if mark.before_word < len(places) else count
        spans.append(PlannedSpan("ssml", at, at, mark.start, mark.end, mark.name))
    return tuple(sorted(spans, key=lambda span: span.first))
