"""The text of an answer, read by a thread of its own: nobody waits for a responder longer than patience allows."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from speech.errors import Transient

from cloud.observability import logger
from cloud.replies.responder import Answer, Question, Responder

ATTEMPTS = 2  # a responder that fails at once is asked once more


class NoAnswer(Exception):
    """There is no answer, or no more of it; the text says why."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for a responder; the caller hears silence meanwhile."""

    first_s: float = 6.0  # for the first text, second attempt included
    between_s: float = 4.0  # between two pieces of text
    whole_s: float = 60.0  # for the whole text: what comes later is left out
    most_characters: int = 4000  # of an answer: what is beyond is left out


class Reading:
    """One answer. `pieces` belongs to one thread; `cancel` may be called from any."""

    def __init__(self, responder: Responder, question: Question, patience: Patience) -> None:
        self._responder, self._question, self._patience = responder, question, patience
        self._pieces: queue.SimpleQueue[str | Exception | None] = queue.SimpleQueue()
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._answer: Answer | None = None
        self._thread = threading.Thread(target=self._read, name=f"answer {question.call}", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Nobody listens any more."""
        with self._lock:
            self._cancelled.set()
            answer = self._answer
        if answer:
            answer.cancel()
        self._pieces.put(None)

    def pieces(self) -> Iterator[str]:
        """The text as it comes. Raises NoAnswer where none comes, or where it breaks off; ends after `cancel`."""
        began_s, spoken = time.monotonic(), False
        ends_s = began_s + self._patience.whole_s
        while True:
            now_s = time.monotonic()
            wait_s = self._patience.between_s if spoken else began_s + self._patience.first_s - now_s
            try:
                piece = self._pieces.get(timeout=max(0.0, min(wait_s, ends_s - now_s)))
            except queue.Empty:
                self.cancel()
                if spoken and time.monotonic() >= ends_s:
                    return
                raise NoAnswer(f"no text for {wait_s:.1f} s" if spoken else "no text came in time") from None
            if self._cancelled.is_set():
                return
            if isinstance(piece, Exception):
                raise NoAnswer(str(piece) or type(piece).__name__) from piece
            if piece is None:
                if not spoken:
                    raise NoAnswer("the answer is empty")
                return
            spoken = spoken or bool(piece.strip())
            yield piece
            if now_s >= ends_s:
                self.cancel()
                return

    def unread(self) -> str:
        """What has come and was not taken, after `cancel`."""
        text = ""
        while True:
            try:
                piece = self._pieces.get_nowait()
            except queue.Empty:
                return text
            text += piece if isinstance(piece, str) else ""

    def _read(self) -> None:
        try:
            for attempt in range(ATTEMPTS):
                if self._attempt(last=attempt == ATTEMPTS - 1):
                    break
            self._pieces.put(None)
        except Exception as error:  # whatever a responder fails with, the caller must hear something
            self._pieces.put(error)

    def _attempt(self, last: bool) -> bool:
        """Ask and read; False for a failure before the first text that another attempt may mend."""
        answer = self._responder.answer(self._question)
        with self._lock:
            self._answer = answer
        if self._cancelled.is_set():
            answer.cancel()
            return True
        room = self._patience.most_characters
        try:
            for piece in answer:
                if self._cancelled.is_set():
                    return True
                if piece:
                    self._pieces.put(piece[:room])
                    room -= len(piece)
                if room <= 0:
                    logger.warning("call %s: an answer is too long, and is cut off", self._question.call)
                    answer.cancel()
                    return True
        except Transient as error:
            if room < self._patience.most_characters or last or self._cancelled.wait(0.2):
                raise
            logger.warning("call %s: asking the responder again: %s", self._question.call, error)
            return False
        return True
