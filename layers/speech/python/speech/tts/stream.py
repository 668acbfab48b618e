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

_REMEMBERED_WORDS = 4096  # for `cancel`: more than any listener interrupts


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

    words: tuple[TimedSpan, ...]  # begun by then, the last few thousand of them
    end: int  # offset in the caller's text after the last of them; 0 if there is none


class SpeechStream:
    """Use `Synthesizer.stream`. Work is done while the iterators are read; what is not read waits for the next call."""

    def __init__(self, script: Script, speaker: Speaker, encoder: AudioEncoder) -> None:
        self._script, self._speaker, self._encoder = script, speaker, encoder
        self._splitter = Splitter()
        self._length = 0  # characters received
        self._base = 0  # and before the splitter began
        self._queue: deque[Clause | None] = deque()  # None: flush
        self._sounds: Iterator[Sound] | None = None  # of the clause being spoken
        self._made = 0  # samples at 24 kHz
        self._words: deque[TimedSpan] = deque(maxlen=_REMEMBERED_WORDS)
        self._ended = self._cancelled = False

    @property
    def duration_s(self) -> float:
        """Seconds of speech made so far."""
        return self._made / RATE

    def receive(self, text: str) -> Iterator[Chunk]:
        """Take a piece of text of any length: the sound of the clauses that it completes."""
        self._check_open()
        self._length += len(text)
        self._take(self._splitter.receive(text))
        return self._chunks()

    def receive_markup(self, source: str) -> Iterator[Chunk]:
        """Take a whole SSML document, after text that waits. Raises BadText with the position of what is wrong."""
        self._check_open()
        clauses = self._script.markup(source)
        self._take(self._splitter.flush())
        self._queue.extend(_moved(clause, self._length) for clause in clauses)
        self._length += len(source)
        self._splitter = Splitter()  # its offsets begin anew: `_take` adds what came before
        self._base = self._length
        return self._chunks()

    def flush(self) -> Iterator[Chunk]:
        """Speak what has been received to its last sample, though no sentence ends; the stream goes on after it."""
        self._check_open()
        self._take(self._splitter.flush())
        self._queue.append(None)
        return self._chunks()

    def finish(self) -> Iterator[Chunk]:
        """The text is over: the rest of the sound, and the end of the file if the encoding has one."""
        chunks = self.flush()
        self._ended = True
        return self._last(chunks)

    def cancel(self, played_s: float | None = None) -> Spoken:
        """Stop at once: nothing more is made. `played_s`: how much the listener has heard, if less than was made."""
        self._ended = self._cancelled = True
        self._queue.clear()
        self._sounds = None
        heard_s = self.duration_s if played_s is None else played_s
        words = tuple(word for word in self._words if word.start_s < heard_s)
        return Spoken(words, words[-1].end if words else 0)

    def _take(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            clause = self._script.clause(piece)
            if clause is not None:
                text = piece.text
                start = piece.start + len(text) - len(text.lstrip())
                whole = replace(clause, start=start, end=piece.start + len(text.rstrip()))
                self._queue.append(_moved(whole, self._base))

    def _chunks(self) -> Iterator[Chunk]:
        while (sound := self._next()) is not None:
            start_s = self.duration_s
            self._made += len(sound.samples)
            self._words.extend(span for span in sound.spans if span.type == "word")
            audio = self._encoder.receive(sound.samples)
            if audio or sound.spans:
                yield Chunk(audio, start_s, self.duration_s - start_s, sound.spans)

    def _next(self) -> Sound | None:
        while True:
            if self._sounds is not None:
                if (sound := next(self._sounds, None)) is not None:
                    return sound
                self._sounds = None
            if not self._queue:
                return None
            item = self._queue.popleft()
            self._sounds = self._speaker.flush() if item is None else self._speaker.speak(item)

    def _last(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        yield from chunks
        if not self._cancelled and (audio := self._encoder.finish()):
            yield Chunk(audio, self.duration_s, 0.0, ())

    def _check_open(self) -> None:
        if self._ended:
            raise ValueError("the stream has been finished or cancelled: start another")


def _moved(clause: Clause, by: int) -> Clause:
    """The clause with all places later in the text."""
    if not by:
        return clause
    words = tuple(replace(p, word=replace(p.word, start=p.word.start + by, end=p.word.end + by)) for p in clause.words)
    marks = tuple(replace(mark, start=mark.start + by, end=mark.end + by) for mark in clause.marks)
    return replace(clause, words=words, marks=marks, start=clause.start + by, end=clause.end + by)
