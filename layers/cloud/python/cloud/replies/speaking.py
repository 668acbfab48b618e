"""One answer from the question to the last word that was heard: text is read, made sound clause by clause, and sent.

Threads: a `Reading` waits for the responder, this one makes the sound, the `Mouth` sends it in time. So none of them
can hold up another one, or the worker that recognises the callers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cloud.observability import logger
from cloud.replies import heard
from cloud.replies.heard import Written
from cloud.replies.mouth import Utterance
from cloud.replies.reading import NoAnswer

if TYPE_CHECKING:
    from speech.tts.stream import Chunk, SpeechStream, Spoken

AHEAD_S = 1.0  # of sound that is made before it is due: more would be work for nothing when the caller breaks in


class Pieces(Protocol):
    """The text to be said; see `reading.Reading`."""

    def pieces(self) -> Iterator[str]:
        """As it comes. Raises NoAnswer."""
        ...

    def unread(self) -> str:
        """What has come and was not taken."""
        ...

    def cancel(self) -> None:
        """Nobody listens any more."""
        ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """A text that is known: `Pieces` of one."""

    text: str

    def pieces(self) -> Iterator[str]:
        """The text."""
        yield self.text

    def unread(self) -> str:
        """Nothing."""
        return ""

    def cancel(self) -> None:
        """There is nothing to be given up."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an answer ended."""

    text: str  # that there was to say, as far as it had come
    heard: str  # of it
    rest: str  # what of it was not heard, though it had come
    interrupted: bool
    failed: str  # why the responder did not answer, or not to the end
    asked: bool = True  # False: it was stopped before anybody was asked
    words: tuple[Written, ...] = ()  # of `heard`


class Speaking:
    """An answer in work, from `start` until `over`. `stop` may be called from any thread."""

    def __init__(
        self,
        pieces: Callable[[], Pieces],
        voice: Callable[[], SpeechStream],
        utter: Callable[[], Utterance],
        fallback: str,
        sound: Callable[[Chunk], None],
        over: Callable[[Outcome], None],
        before: Speaking | None = None,
    ) -> None:
        """`pieces` asks the responder, once `before`, the answer before this one, is over.

        `fallback` is said when there is no answer. `sound` is given what is made, `over` the end; both by this thread.
        """
        self._pieces, self._voice, self._utter = pieces, voice, utter
        self._fallback, self._sound, self._over, self._before = fallback, sound, over, before
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._reading: Pieces | None = None
        self._utterance: Utterance | None = None
        self.text = ""  # that there was to say so far
        self._failed = ""
        self._thread = threading.Thread(target=self._run, name="speaking", daemon=True)

    @property
    def is_over(self) -> bool:
        """Whether nothing more of it will be heard."""
        return self._stopped.is_set() or not self._thread.is_alive()

    @property
    def is_told(self) -> bool:
        """Whether `over` was called."""
        return not self._thread.is_alive()

    def start(self) -> Speaking:
        """Begin."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """The caller has broken in: not another word."""
        self._stopped.set()
        with self._lock:
            reading, utterance = self._reading, self._utterance
        if utterance:
            utterance.stop()
        if reading:
            reading.cancel()

    def join(self, timeout_s: float | None = None) -> None:
        """Wait until `over` was called."""
        self._thread.join(timeout_s)

    def _run(self) -> None:
        if self._before:
            self._before.join()
            self._before = None  # or a long call would keep all of its answers
        try:
            outcome = self._speak()
        except Exception:
            logger.exception("an answer failed")
            outcome = Outcome(self.text, "", "", interrupted=True, failed="an error of our own")
            self.stop()
        self._over(outcome)

    def _speak(self) -> Outcome:
        if self._stopped.is_set():
            return Outcome("", "", "", interrupted=True, failed="", asked=False)
        reading, utterance, speech = self._pieces(), self._utter(), self._voice()
        with self._lock:
            self._reading, self._utterance = reading, utterance
        if self._stopped.is_set():
            self.stop()
        made_s = 0.0
        for chunk in self._chunks(reading, speech):
            if utterance.stopped.is_set():
                reading.cancel()
                break
            utterance.say(chunk.audio)
            self._sound(chunk)
            made_s += chunk.duration_s
            while made_s - utterance.sent_s > AHEAD_S and not utterance.stopped.wait(AHEAD_S / 8):
                pass
        else:
            utterance.end()
        whole_s, heard_s = speech.duration_s, utterance.wait()
        return self._outcome(speech.cancel(heard_s), reading.unread(), heard_s, cut=heard_s < whole_s - 0.03)

    def _chunks(self, reading: Pieces, speech: SpeechStream) -> Iterator[Chunk]:
        try:
            for piece in reading.pieces():
                self.text += piece
                yield from speech.receive(piece)
        except NoAnswer as error:
            self._failed = str(error)
            logger.warning("no answer: %s", error)
            yield from speech.flush()
            if self._fallback:
                self.text += f" {self._fallback}" if self.text else self._fallback
                yield from speech.receive(self._fallback if self.text == self._fallback else f" {self._fallback}")
        if not self._stopped.is_set():
            yield from speech.finish()

    def _outcome(self, spoken: Spoken, unread: str, heard_s: float, cut: bool) -> Outcome:
        interrupted = cut or self._stopped.is_set()
        end = spoken.end if interrupted else len(self.text)
        front, rest = self.text[:end], self.text[end:] + unread
        words = heard.words(front, spoken.words, heard_s)
        return Outcome(self.text, front.strip(), rest, interrupted, self._failed, words=words)
