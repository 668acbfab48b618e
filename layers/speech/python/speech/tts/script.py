"""From text or markup to clauses ready for the acoustic model: words with phonemes, prosody, pauses and marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from speech.tts import ssml
from speech.tts.g2p.pronouncer import Pronounced, Pronouncer
from speech.tts.normalise import SpokenWord
from speech.tts.normalise.words import stronger
from speech.tts.prosody import Prosody
from speech.tts.sentences import Kind, Piece, Splitter
from speech.tts.ssml_items import Boundary, Break, Item, Mark, Run, Words
from speech.tts.user_lexicon import UserLexicon


@dataclass(frozen=True, slots=True)
class ScriptMark:
    """A mark of the markup and the word before which it stands (the number of words: after the last)."""

    name: str
    before_word: int
    start: int  # offset of its tag in the markup, characters
    end: int


@dataclass(frozen=True, slots=True)
class Clause:
    """What is spoken in one go. Without words it carries only a pause or marks."""

    words: tuple[Pronounced, ...]
    prosody: tuple[Prosody, ...]  # of each word
    start: int  # offset in the caller's text, characters
    end: int
    kind: Kind  # what ends with it: a sentence, a clause, a paragraph
    pause_s: float | None = None  # asked for after it; None: what the sign and the kind suggest
    marks: tuple[ScriptMark, ...] = ()


class Script:
    """Turns pieces of plain text, or a whole markup document, into clauses."""

    def __init__(self, pronouncer: Pronouncer, lexicon: UserLexicon | None = None) -> None:
        self.pronouncer = pronouncer
        self.lexicon = lexicon or UserLexicon()

    def clause(self, piece: Piece, prosody: Prosody | None = None) -> Clause | None:
        """A piece of plain text from the splitter; None if it holds no words."""
        found = self.lexicon.words(piece.text, self.pronouncer.known)
        if not found:
            return None
        words = self.pronouncer.pronounce([_moved(word, piece.start) for word in found])
        return Clause(words, (prosody or Prosody(),) * len(words), piece.start, piece.end, piece.kind)

    def clauses(self, text: str) -> list[Clause]:
        """All clauses of a whole text."""
        splitter = Splitter()
        pieces = splitter.receive(text) + splitter.flush()
        return [clause for piece in pieces if (clause := self.clause(piece))]

    def markup(self, source: str) -> list[Clause]:
        """All clauses of a markup document. Raises BadText with the position of what is wrong."""
        out: list[Clause] = []
        for group, boundary in _groups(ssml.parse(source)):
            out += self._of_group(group, boundary)
        return out

    def _of_group(self, items: list[Item], boundary: Break | Boundary | None) -> list[Clause]:
        """Items between two breaks or boundaries, cut into sentences and clauses."""
        builder = _Builder(self)
        for item in items:
            if isinstance(item, Run):
                builder.run(item)
            elif isinstance(item, Words):
                builder.ready(item)
            elif isinstance(item, Mark):
                builder.mark(item)
        return builder.finish(boundary)


class _Builder:
    """Collects words with their prosody and cuts them where the text of the group says that a piece ends."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.text = ""
        self.words: list[tuple[int, SpokenWord, Prosody]] = []  # place in self.text, word, prosody
        self.marks: list[tuple[int, Mark]] = []

    def run(self, run: Run) -> None:
        """Plain text of the markup."""
        base = len(self.text)
        self.text += run.text
        sign, found = self.script.lexicon.words_with_lead(run.text, self.script.pronouncer.known)
        if sign and self.words:
            at, word, prosody = self.words[-1]
            self.words[-1] = (at, replace(word, after=stronger(word.after, sign)), prosody)
        for word in found:
            placed = replace(word, start=run.places[word.start], end=run.places[word.end - 1] + 1)
            if run.places[word.end] > placed.end:
                placed = replace(placed, end=run.places[word.end])
            self.words.append((base + word.start, placed, run.prosody))

    def ready(self, item: Words) -> None:
        """Words that an element decides; for the splitter they are one word."""
        self.words += [(len(self.text), word, item.prosody) for word in item.words]
        self.text += "x" * max(1, len(item.text))

    def mark(self, mark: Mark) -> None:
        """A mark before the next word."""
        self.marks.append((len(self.words), mark))

    def finish(self, boundary: Break | Boundary | None) -> list[Clause]:
        """The clauses of the group; the break after it is a pause after the last."""
        splitter = Splitter()
        pieces = splitter.receive(self.text) + splitter.flush()
        said = self.script.pronouncer.pronounce([word for _, word, _ in self.words])
        out: list[Clause] = []
        taken = 0
        for piece in pieces:
            until = taken
            while until < len(said) and self.words[until][0] < piece.end:
                until += 1
            if until > taken:
                out.append(self._clause(said, taken, until, piece.kind))
            taken = until
        return self._with_end(out, len(said), boundary)

    def _clause(self, said: Sequence[Pronounced], first: int, last: int, kind: Kind) -> Clause:
        words = tuple(said[first:last])
        prosody = tuple(one for _, _, one in self.words[first:last])
        marks = tuple(_script_mark(mark, at - first) for at, mark in self.marks if first <= at < last)
        return Clause(words, prosody, words[0].word.start, words[-1].word.end, kind, None, marks)

    def _with_end(self, out: list[Clause], count: int, boundary: Break | Boundary | None) -> list[Clause]:
        late = [mark for at, mark in self.marks if at >= count]
        pause = boundary.seconds if isinstance(boundary, Break) else None
        if out:
            last = out[-1]
            marks = (*last.marks, *(_script_mark(mark, len(last.words)) for mark in late))
            kind = boundary.kind if isinstance(boundary, Boundary) else last.kind
            return [*out[:-1], replace(last, marks=marks, kind=kind, pause_s=pause)]
        if not late and not pause:
            return []
        at = late[0].at if late else boundary.at if boundary else 0
        end = late[-1].end if late else at
        return [Clause((), (), at, end, "clause", pause, tuple(_script_mark(mark, 0) for mark in late))]


def _script_mark(mark: Mark, before: int) -> ScriptMark:
    return ScriptMark(mark.name, before, mark.at, mark.end)


def _groups(items: Iterable[Item]) -> list[tuple[list[Item], Break | Boundary | None]]:
    """Items up to each break or boundary, with it."""
    groups: list[tuple[list[Item], Break | Boundary | None]] = [([], None)]
    for item in items:
        if isinstance(item, Break | Boundary):
            groups[-1] = (groups[-1][0], item)
            groups.append(([], None))
        else:
            groups[-1][0].append(item)
    return groups


def _moved(word: SpokenWord, by: int) -> SpokenWord:
    return replace(word, start=word.start + by, end=word.end + by) if by else word


def line(words: Sequence[Pronounced]) -> tuple[str, tuple[range, ...]]:
    """What the acoustic model reads: phonemes with blanks between words and signs after them, as `jˈɛs, ˌIm hˈɪɹ.`

    The ranges give the symbols of each word in it, without its sign.
    """
    text = ""
    places: list[range] = []
    for pronounced in words:
        text += " " if text else ""
        places.append(range(len(text), len(text) + len(pronounced.phonemes)))
        text += pronounced.phonemes + pronounced.word.after
    return text, tuple(places)
