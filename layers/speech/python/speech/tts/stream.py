"""One voice speaking one text as it arrives: text in by pieces, chunks of audio with the times of words out."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

from speech.audio.encoder import AudioEncoder
from speech.tts.excitation import RATE
from speech.tts.marks import TimedSpan
from speech.tts.script import Clause, Script
from speech.tts.sentences import Piece, Splitter
from speech.tts.speaker import Sound, Speaker

_REMEMBERED_WORDS = 1024  # for `cancel`: more than any listener interrupts, and they have to fit a snapshot


@dataclass(frozen=True, slots=True)
class Chunk:
    """Audio in the encoding asked for, and what of the text begins to be spoken in it."""

    audio: bytes
    start_s: float  # of the audio, seconds from the start of the stream
    duration_s: float  # of the speech that went into it; compressed bytes may follow later
    spans: tuple[TimedSpan, ...]  # words, phonemes, sentences (given when they end) and marks


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a listener has heard when the stream was cancelled."""

    words: tuple[TimedSpan, ...]  # begun by then, the last thousand of them
    end: int  # offset in the caller's text after the last of them; 0 if there is none


@dataclass(slots=True)
class Document:
    """A markup document that waits to be spoken."""

    source: str
    start: int  # its offset in all that was received, characters
    clauses: list[Clause]  # with places in `source`
    spoken: int = 0  # clauses that have been


Item = Piece | Document | None  # None: flush


class SpeechStream:
    """Use `Synthesizer.stream`. Work is done while the iterators are read; what is not read waits for the next call."""

    def __init__(self, stamp: str, voice: str, script: Script, speaker: Speaker, encoder: AudioEncoder) -> None:
        """`stamp` is the synthesiser's, for snapshots."""
        self.stamp, self.voice = stamp, voice
        self.script, self.speaker, self.encoder = script, speaker, encoder
        self.splitter = Splitter()
        self.length = 0  # characters received
        self.base = 0  # and before the splitter began
        self.queue: deque[Item] = deque()  # what waits; the first item may have been spoken in part
        self.made = 0  # samples at 24 kHz
        self.words: deque[TimedSpan] = deque(maxlen=_REMEMBERED_WORDS)
        self.ended = False  # no more text comes
        self.closed = False  # and the last byte has been given, or the stream was cancelled
        self._sounds: Iterator[Sound] | None = None  # of the clause being spoken

    @property
    def duration_s(self) -> float:
        """Seconds of speech made so far."""
        return self.made / RATE

    def receive(self, text: str) -> Iterator[Chunk]:
        """Take a piece of text of any length: the sound of the clauses that it completes."""
        self._check_open()
        self.length += len(text)
        self._take(self.splitter.receive(text))
        return self.remaining()

    def receive_markup(self, source: str) -> Iterator[Chunk]:
        """Take a whole SSML document, after text that waits. Raises BadText with the position of what is wrong."""
        self._check_open()
        clauses = self.script.markup(source)
        self._take(self.splitter.flush())
        if clauses:
            self.queue.append(Document(source, self.length, clauses))
        self.length += len(source)
        self.splitter = Splitter()  # its offsets begin anew: `_take` adds what came before
        self.base = self.length
        return self.remaining()

    def flush(self) -> Iterator[Chunk]:
        """Speak what has been received to its last sample, though no sentence ends; the stream goes on after it."""
        self._check_open()
        self._take(self.splitter.flush())
        self.queue.append(None)
        return self.remaining()

    def finish(self) -> Iterator[Chunk]:
        """The text is over: the rest of the sound, and the end of the file if the encoding has one."""
        self.flush()
        self.ended = True
        return self.remaining()

    def remaining(self) -> Iterator[Chunk]:
        """The sound of what was received and has not been made: also that of a stream that was taken up again."""
        while (sound := self._next()) is not None:
            start_s = self.duration_s
            self.made += len(sound.samples)
            self.words.extend(span for span in sound.spans if span.type == "word")
            audio = self.encoder.receive(sound.samples)
            if audio or sound.spans:
                yield Chunk(audio, start_s, self.duration_s - start_s, sound.spans)
        if self.ended and not self.closed:
            self.closed = True
            if audio := self.encoder.finish():
                yield Chunk(audio, self.duration_s, 0.0, ())

    def cancel(self, played_s: float | None = None) -> Spoken:
        """Stop at once: nothing more is made. `played_s`: how much the listener has heard, if less than was made."""
        self.ended = self.closed = True
        self.queue.clear()
        self._sounds = None
        heard_s = self.duration_s if played_s is None else played_s
        words = tuple(word for word in self.words if word.start_s < heard_s)
        return Spoken(words, words[-1].end if words else 0)

    def snapshot(self) -> bytes:
        """Everything that `Synthesizer.resume` needs, between any two chunks; at most 256 KiB.

        Raises BadSnapshot if it is more or the encoding cannot be put down, ValueError if the stream is over.
        """
        from speech.tts import saved

        if self.closed:
            raise ValueError("the stream is over: there is nothing to resume")
        return saved.pack(self)

    def _take(self, pieces: list[Piece]) -> None:
        self.queue.extend(replace(piece, start=piece.start + self.base) for piece in pieces)

    def _next(self) -> Sound | None:
        while self.queue:
            if self._sounds is None:
                if self.queue[0] is None:
                    self.queue.popleft()
                    return self.speaker.flush()
                clause = self._clause(self.queue[0])
                self._sounds = self.speaker.speak(clause) if clause else iter(())
            if (sound := next(self._sounds, None)) is not None:
                return sound
            self._sounds = None
            self._spoken()
        return None

    def _clause(self, item: Piece | Document) -> Clause | None:
        """What is spoken next of the first item: found only now, so that a long text begins as soon as a short one."""
        if isinstance(item, Document):
            return _moved(item.clauses[item.spoken], item.start)
        if (clause := self.script.clause(item)) is None:
            return None
        text = item.text
        start = item.start + len(text) - len(text.lstrip())
        return replace(clause, start=start, end=item.start + len(text.rstrip()))

    def _spoken(self) -> None:
        """A clause of the first item is over."""
        item = self.queue[0]
        if isinstance(item, Document):
            item.spoken += 1
            if item.spoken < len(item.clauses):
                return
        self.queue.popleft()

    def _check_open(self) -> None:
        if self.ended:
            raise ValueError("the stream has been finished or cancelled: start another")


def _moved(clause: Clause, by: int) -> Clause:
    """The clause with all places later in the text."""
    if not by:
        return clause
    words = tuple(replace(p, word=replace(p.word, start=p.word.start + by, end=p.word.end + by)) for p in clause.words)
    marks = tuple(replace(mark, start=mark.start + by, end=mark.end + by) for mark in clause.marks)
    return replace(clause, words=words, marks=marks, start=clause.start + by, end=clause.end + by)
