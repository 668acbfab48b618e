"""One context being spoken: entries in, records out, put down between any two chunks and taken up by any process."""

from __future__ import annotations

from base64 import b64encode
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from speech.audio import pcm
from speech.tts.marks import TimedSpan

from cloud.sockets.context import Context, Entry
from cloud.sockets.envelope import FLUSH, TEXT
from cloud.sockets.said import WORD, Said

if TYPE_CHECKING:
    from speech.tts.stream import Chunk, SpeechStream
    from speech.tts.synthesizer import Synthesizer

MOST_AUDIO_BYTES = 24_000  # of a record: base64 of it and the rest fit a frame of 32 KB
MOST_WORDS = 20  # of a record: a written word has 300 characters at most, and these have to fit a frame too

Records = list[dict[str, Any]]


class Mouth:
    """`said` is what was said before; every process that goes on from it says the same, under the same numbers."""

    def __init__(self, synthesizer: Synthesizer, context: Context, said: Said) -> None:
        """Raises BadSnapshot where the speech was put down by another model."""
        self._voice, self.said, self._found = context.voice, said, said
        self._stream = synthesizer.resume(said.snapshot) if said.snapshot else stream(synthesizer, context)
        if said.entries and not said.snapshot:
            self._stream.cancel()  # it was over when it was put down, though that had not been told
        self._entries: deque[Entry] = deque()

    def give(self, entries: Sequence[Entry], first: int) -> None:
        """The entries of the context from number `first` on; those that were given before are left out."""
        known = self.said.entries + len(self._entries)
        self._entries.extend(entries[max(0, known - first) :])

    @property
    def tail(self) -> str:
        """Text that is no whole clause yet."""
        return self._stream.splitter.state[0]

    @property
    def over(self) -> bool:
        """Whether all has been said."""
        return self._stream.closed and self.said.owing is None

    def records(self) -> Iterator[Records]:
        """What is told because of the entries, chunk by chunk; more may be given meanwhile."""
        while True:
            for chunk in self._stream.remaining():
                if told := self._chunk(chunk):
                    yield told
            if self.said.owing is not None:
                yield [self._end(*self.said.owing)]
            if not self._entries:
                return
            self._take(self._entries.popleft())

    def put_down(self) -> Said | None:
        """What has been said, with the speech as it stands, for another process; None where nothing has changed."""
        if self.said == self._found:
            return None
        snapshot = b"" if self._stream.closed else self._stream.snapshot()
        self.said = self._found = replace(self.said, snapshot=snapshot, revision=self.said.revision + 1)
        return self.said

    def done(self, sequence: int | None) -> dict[str, Any]:
        """The last record once more, of a finish with this number."""
        audio_s = round(self.said.frames / self._voice.rate, 3)
        head = {"type": "done", "context": self.said.name, "number": self.said.number - 1}
        return {**head, "sequence": sequence, "audio_s": audio_s}

    def _take(self, entry: Entry) -> None:
        owing = None if entry.kind == TEXT else (entry.kind, entry.sequence)
        self.said = replace(self.said, entries=self.said.entries + 1, text=self.said.text + entry.text, owing=owing)
        if entry.kind == TEXT:
            self._stream.receive(entry.text)
        elif entry.kind == FLUSH:
            self._stream.flush()
        else:
            self._stream.finish()

    def _chunk(self, chunk: Chunk) -> Records:
        words = [span for span in chunk.spans if span.type == "word"]
        heard = np.array([(round(1000 * word.start_s), word.end) for word in words], WORD).tobytes()
        self.said = replace(self.said, words=self.said.words + heard)
        told: Records = []
        if self._voice.timestamps:
            for at in range(0, len(words), MOST_WORDS):
                shown = [self._word(word) for word in words[at : at + MOST_WORDS]]
                told.append(self._record("timestamps", words=shown))
        for at in range(0, len(chunk.audio), MOST_AUDIO_BYTES):
            told.append(self._audio(chunk.audio[at : at + MOST_AUDIO_BYTES]))
        return told

    def _audio(self, audio: bytes) -> dict[str, Any]:
        rate, frames = self._voice.rate, len(audio) // pcm.sample_bytes(self._voice.encoding)
        at_s, duration_s = self.said.frames / rate, frames / rate
        self.said = replace(self.said, frames=self.said.frames + frames)
        audio_text = b64encode(audio).decode()
        return self._record("chunk", at_s=round(at_s, 4), duration_s=round(duration_s, 4), audio=audio_text)

    def _end(self, kind: str, sequence: int | None) -> dict[str, Any]:
        self.said = replace(self.said, owing=None)
        audio_s = round(self.said.frames / self._voice.rate, 3)
        return self._record("flushed" if kind == FLUSH else "done", sequence=sequence, audio_s=audio_s)

    def _word(self, word: TimedSpan) -> dict[str, Any]:
        text = self.said.text[word.start : word.end]
        times = {"start_s": round(word.start_s, 3), "end_s": round(word.end_s or word.start_s, 3)}
        return {"text": text, **times, "start": word.start, "end": word.end}

    def _record(self, kind: str, **values: Any) -> dict[str, Any]:
        number = self.said.number
        self.said = replace(self.said, number=number + 1)
        return {"type": kind, "context": self.said.name, "number": number, **values}


def stream(synthesizer: Synthesizer, context: Context) -> SpeechStream:
    """A new speech of a context's voice. Raises BadInput where the synthesiser has no such voice or cannot do that."""
    voice = context.voice
    return synthesizer.stream(voice.voice or None, voice.rate, voice.encoding, voice.speed, voice.pitch, voice.volume)
