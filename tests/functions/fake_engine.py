"""A recogniser that hears loudness: each full second above a threshold is a word, a quiet second ends the segment.

Any chunking gives the same events, and a snapshot carries everything, as the real one promises.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode

import numpy as np
from numpy.typing import NDArray
from speech.events import Event, Final, Token, TurnEnd, Word

LOUD = 0.01


class FakeStream:
    """One channel."""

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self.pending = np.zeros(0, np.float32)
        self.second = 0
        self.segment = 0
        self.words: list[Word] = []

    def receive(self, samples: NDArray[np.float32]) -> list[Event]:
        self.pending = np.concatenate([self.pending, samples])
        events: list[Event] = []
        while len(self.pending) >= self.rate:
            events += self._hear(self.pending[: self.rate])
            self.pending = self.pending[self.rate :]
        return events

    def finish(self) -> list[Event]:
        return self._close("finish")

    def snapshot(self) -> bytes:
        words = [[w.text, w.start_s, w.end_s, w.confidence] for w in self.words]
        pending = b64encode(self.pending.tobytes()).decode()
        return json.dumps([self.rate, pending, self.second, self.segment, words]).encode()

    def _hear(self, samples: NDArray[np.float32]) -> list[Event]:
        at, self.second = self.second, self.second + 1
        if float(np.sqrt(np.mean(samples**2))) < LOUD:
            return self._close("silence")
        self.words.append(Word(f"word{at}", at + 0.1, at + 0.9, 0.875))
        return []

    def _close(self, reason: str) -> list[Event]:
        words, self.words = tuple(self.words), []
        if not words:
            return []
        tokens = tuple(Token(w.text, w.start_s, w.end_s, w.confidence, "word", (w.text,)) for w in words)
        stop = Token(".", words[-1].end_s, words[-1].end_s, 1.0, "punctuation")
        final = Final(self.segment, words, (*tokens, stop), words[0].start_s, words[-1].end_s)
        self.segment += 1
        return [final, TurnEnd(words[-1].end_s, reason)]  # type: ignore[arg-type]


class FakeRecognizer:
    """Makes streams and takes them up again."""

    language = "en-US"

    def stream(self, *, rate: int, live: bool) -> FakeStream:
        return FakeStream(rate)

    @staticmethod
    def step_many(streams: list[FakeStream], chunks: list[NDArray[np.float32]]) -> list[list[Event]]:
        return [stream.receive(chunk) for stream, chunk in zip(streams, chunks, strict=True)]

    def resume(self, blob: bytes) -> FakeStream:
        rate, pending, second, segment, words = json.loads(blob)
        stream = FakeStream(rate)
        stream.pending = np.frombuffer(b64decode(pending), np.float32)
        stream.second, stream.segment = second, segment
        stream.words = [Word(*word) for word in words]
        return stream
