"""Speech markup to a flat list of what is said, with places in the caller's markup.

The subset: speak, p, s, break, prosody (rate, pitch, volume), say-as, sub, phoneme, mark. Anything else, and anything
malformed, raises BadText with line and column. No document type, entity or instruction is read: entity bombs cannot
be written.
"""

from __future__ import annotations

from dataclasses import dataclass
from xml.parsers import expat

from speech.errors import BadText
from speech.tts.prosody import Prosody
from speech.tts.ssml_elements import ATTRIBUTES, EMPTY, TEXT_ONLY, Frame, break_s, prosody_of, words_of
from speech.tts.ssml_items import Boundary, Break, Item, Mark, Run, Words

LONGEST = 100_000  # characters of markup
DEEPEST = 32  # elements inside each other
MOST_ELEMENTS = 10_000


@dataclass(frozen=True, slots=True)
class _At:
    """A place in the markup, for messages and marks."""

    line: int  # from 1
    column: int  # from 1
    offset: int  # in characters, from 0

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column} (offset {self.offset})"


def parse(source: str, longest: int = LONGEST) -> tuple[Item, ...]:
    """What a markup document says. Raises BadText with the position of what is wrong."""
    if len(source) > longest:
        raise BadText(f"SSML has {len(source)} characters, at most {longest} are allowed")
    return _Reader(source).read()


class _Reader:
    def __init__(self, source: str) -> None:
        self.source = source
        self.items: list[Item] = []
        self.stack: list[Frame] = []
        self.elements = 0
        self.run: list[str] = []  # text since the last tag, with places as Run has them
        self.places: list[int] = []
        self.places_end = 0
        try:
            encoded = source.encode()
        except UnicodeEncodeError as error:
            raise BadText(f"SSML: character {error.start} is half of a surrogate pair") from None
        self.encoded = encoded
        self.ascii = len(encoded) == len(source)
        self.counted = (0, 0)  # bytes and characters up to the last place asked for
        self.parser = expat.ParserCreate("utf-8")
        self.parser.buffer_text = False
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.StartDoctypeDeclHandler = self._refuse("a document type (<!DOCTYPE)")
        self.parser.EntityDeclHandler = self._refuse("an entity declaration")
        self.parser.ProcessingInstructionHandler = self._refuse("a processing instruction (<?...?>)")

    def read(self) -> tuple[Item, ...]:
        """Parse it all."""
        try:
            self.parser.Parse(self.encoded, True)
        except expat.ExpatError as error:
            column = error.offset + 1
            raise BadText(f"SSML line {error.lineno}, column {column}: {expat.ErrorString(error.code)}") from None
        return tuple(self.items)

    def _refuse(self, what: str):  # type: ignore[no-untyped-def]
        def refuse(*_: object) -> None:
            raise self._bad(f"{what} is not allowed")

        return refuse

    def _at(self) -> _At:
        return _At(self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1, self._offset())

    def _offset(self) -> int:
        """Characters before the current place; counted on from the last one, as places only grow."""
        byte = self.parser.CurrentByteIndex
        if self.ascii:
            return byte
        done, characters = self.counted
        characters += len(self.encoded[done:byte].decode(errors="replace"))
        self.counted = (byte, characters)
        return characters

    def _bad(self, message: str) -> BadText:
        return BadText(f"SSML {self._at()}: {message}")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._end_run()
        self.elements += 1
        if len(self.stack) >= DEEPEST:
            raise self._bad(f"more than {DEEPEST} elements inside each other")
        if self.elements > MOST_ELEMENTS:
            raise self._bad(f"more than {MOST_ELEMENTS} elements")
        self._check(name, attributes)
        outer = self.stack[-1].prosody if self.stack else Prosody()
        frame = Frame(name, attributes, outer, self._offset())
        try:
            if name == "prosody":
                frame.prosody = prosody_of(attributes).within(outer)
            elif name == "break":
                self.items.append(Break(break_s(attributes), frame.start))
            elif name == "mark":
                self.items.append(Mark(attributes["name"], frame.start, self._end_of_tag(frame.start)))
            elif name in ("p", "s"):
                self.items.append(Boundary("paragraph" if name == "p" else "sentence", frame.start))
        except ValueError as error:
            raise self._bad(str(error)) from None
        self.stack.append(frame)

    def _end_of_tag(self, start: int) -> int:
        return self.source.find(">", start) + 1

    def _check(self, name: str, attributes: dict[str, str]) -> None:
        """The element, its place and its attributes are in the subset."""
        if name not in ATTRIBUTES:
            raise self._bad(f"<{name}> is not known; known are {', '.join(sorted(ATTRIBUTES))}")
        if (name == "speak") != (not self.stack):
            raise self._bad("expected <speak> around everything and nowhere else")
        if self.stack and self.stack[-1].name in TEXT_ONLY | EMPTY:
            raise self._bad(f"<{name}> inside <{self.stack[-1].name}>, which holds no elements")
        needed, allowed = ATTRIBUTES[name]
        if unknown := sorted(set(attributes) - needed - allowed):
            raise self._bad(f"<{name}> has no attribute {unknown[0]!r}; known are {sorted(needed | allowed)}")
        if missing := sorted(needed - set(attributes)):
            raise self._bad(f"<{name}> needs the attribute {missing[0]!r}")

    def _end(self, name: str) -> None:
        self._end_run()
        frame = self.stack.pop()
        if name in TEXT_ONLY:
            try:
                words = words_of(frame)
            except (ValueError, BadText) as error:
                raise self._bad(f"<{name}>: {error}") from None
            self.items.append(Words(words, frame.prosody, frame.text))
        elif name in ("p", "s"):
            self.items.append(Boundary("paragraph" if name == "p" else "sentence", self._offset()))

    def _characters(self, text: str) -> None:
        frame = self.stack[-1]
        start = self._offset()
        if frame.name in EMPTY:
            if text.strip():
                raise self._bad(f"<{frame.name}> holds text, expected none")
            return
        if text in ("&", "<", ">", "'", '"') and self.source[start : start + 1] == "&":
            end = self.source.find(";", start) + 1
        else:
            end = start + len(text)
        if frame.name in TEXT_ONLY:
            frame.take(text, start, end)
        else:
            self.run.append(text)
            self.places += range(start, start + len(text))
            self.places_end = end

    def _end_run(self) -> None:
        """Text up to a tag is one run, however the parser gave it out."""
        if self.run:
            places = (*self.places, self.places_end)
            self.items.append(Run("".join(self.run), places, self.stack[-1].prosody))
            self.run, self.places = [], []
