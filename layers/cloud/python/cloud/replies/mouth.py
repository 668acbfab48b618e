"""Speech on its way to the caller: a thread that sends the frames of one call as they are due, and stops at once.

utterance = mouth.begin(claim, left)     # `claim` may still forbid it, while the first words are being made
utterance.say(audio)                     # never waits
utterance.end()
heard_s = utterance.wait()               # until the last sample was heard, or `stop` was called, from any thread
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Literal

from speech.errors import BadInput, Transient
from speech.media.acks import Ack

from cloud.observability import logger
from cloud.video.reply import Reply

PATIENCE = 3  # attempts in a row to send, before an utterance goes on unheard
AGAIN_S = 0.2  # between them
Command = tuple["Utterance | None", Literal["prepare", "begin", "say", "end", "stop", "close"], bytes]


class Nowhere:
    """An upload that leads nowhere, for calls without a reply stream: time passes for who listens by other ways."""

    over = False

    def send(self, data: bytes) -> list[Ack]:
        """Nothing happens."""
        return []

    def finish(self, data: bytes = b"", wait_s: float = 5.0) -> list[Ack]:
        """Nothing happens."""
        return []


class Utterance:
    """One answer as the mouth says it. Made by `Mouth.begin`; may be used from any thread."""

    def __init__(
        self, tell: Callable[[Command], None], claim: Callable[[], None], left: Callable[[float], None]
    ) -> None:
        self._tell, self.claim, self.left = tell, claim, left
        self.stopped = threading.Event()  # nothing more of it is to be heard
        self._over = threading.Event()
        self.heard_s = 0.0  # of its sound, once it is over
        self.sent_s = 0.0  # of its sound, so far
        self.begun = self.ended = False  # sound has been given; it is complete: the mouth's own

    def say(self, audio: bytes) -> None:
        """More of it."""
        self._tell((self, "say", audio))

    def end(self) -> None:
        """It is complete."""
        self._tell((self, "end", b""))

    def stop(self) -> None:
        """Nobody listens any more."""
        self.stopped.set()
        self._tell((self, "stop", b""))

    def wait(self) -> float:
        """Seconds of it that were heard, once it is over."""
        self._over.wait()
        return self.heard_s

    def finish(self, heard_s: float) -> None:
        """It is over: for the mouth to call."""
        self.heard_s = heard_s
        self.stopped.set()
        self._over.set()


class Mouth:
    """Of one call. All methods return at once."""

    def __init__(self, name: str, reply: Reply) -> None:
        self._reply = reply
        self._commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self._current: Utterance | None = None
        self._failures = 0
        self._lock, self._closed = threading.Lock(), False
        self._thread = threading.Thread(target=self._run, name=f"mouth {name}", daemon=True)
        self._thread.start()

    def prepare(self) -> None:
        """There may soon be something to say."""
        self._commands.put((None, "prepare", b""))

    def begin(self, claim: Callable[[], None], left: Callable[[float], None]) -> Utterance:
        """A new utterance; the one before is stopped.

        `claim` is called before anything of it is sent: what it raises ends the utterance unheard.
        `left` is told when its first frame has left, in seconds since 1970. Both are called by the mouth's thread.
        """
        utterance = Utterance(self._commands.put, claim, left)
        with self._lock:
            if self._closed:
                utterance.finish(0.0)
            else:
                self._commands.put((utterance, "begin", b""))
        return utterance

    def close(self) -> None:
        """Nothing more will be said; what is on its way is stopped."""
        with self._lock:
            self._closed = True
            self._commands.put((None, "close", b""))

    def join(self, timeout_s: float) -> None:
        """Wait until a closed mouth has ended its upload."""
        self._thread.join(timeout_s)

    def _run(self) -> None:
        wait_s: float | None = None
        while True:
            try:
                utterance, command, audio = self._commands.get(timeout=wait_s)
            except queue.Empty:
                wait_s = self._step()
                continue
            if command == "close":
                break
            self._obey(utterance, command, audio)
            wait_s = self._step()
        self._end()
        try:
            self._reply.close()
        except Transient as error:
            logger.info("%s: %s", self._thread.name, error)

    def _obey(self, utterance: Utterance | None, command: str, audio: bytes) -> None:
        if command == "prepare":
            self._connect()
        elif command == "begin" and utterance:
            self._end()
            self._begin(utterance)
        elif utterance is self._current and utterance and not utterance.stopped.is_set():
            if command == "say":
                utterance.begun = True
                self._reply.say(audio)
            elif command == "end":
                utterance.ended = True
                self._reply.end()

    def _begin(self, utterance: Utterance) -> None:
        try:
            utterance.claim()
        except Exception as error:  # another worker has the call, or the table cannot be written: better unsaid
            logger.warning("%s: nothing is said: %s", self._thread.name, error)
            utterance.finish(0.0)
            return
        self._current, self._failures = utterance, 0
        self._connect()

    def _connect(self) -> None:
        try:
            self._reply.prepare()
        except BadInput as error:
            self._give_up(error)
        except Exception as error:
            logger.warning("%s: %s", self._thread.name, error)

    def _step(self) -> float | None:
        """Send what is due; seconds until there is more to do, None when only a command brings that."""
        utterance = self._current
        if utterance is None:
            return None
        if utterance.stopped.is_set():
            self._end()
            return None
        try:
            wait_s = self._reply.step()
            self._failures = 0
        except Exception as error:  # Transient, or what boto3 raises when it asks where the stream is
            self._failures += 1
            logger.warning("%s: %s", self._thread.name, error)
            if isinstance(error, BadInput) or self._failures >= PATIENCE:
                self._give_up(error)
            return AGAIN_S
        if self._reply.refusals:
            self._give_up(BadInput(f"the service says {self._reply.refusals[-1]}"))
            self._reply.refusals.clear()
        before_s, utterance.sent_s = utterance.sent_s, self._reply.sent_ms / 1000 if utterance.begun else 0.0
        if not before_s and utterance.sent_s:
            utterance.left(self._reply.clock())
        if wait_s is None and utterance.ended:
            wait_s = self._reply.ahead_ms / 1000
            if not wait_s:
                self._end()
                return None
        return wait_s

    def _end(self) -> None:
        """The utterance is over, said or not."""
        utterance, self._current = self._current, None
        if utterance is None:
            return
        heard_ms = 0
        try:
            heard_ms = self._reply.stop()
        except Transient as error:
            logger.warning("%s: %s", self._thread.name, error)
            heard_ms = self._reply.sent_ms - self._reply.ahead_ms
        utterance.finish(heard_ms / 1000 if utterance.begun else 0.0)

    def _give_up(self, error: Exception) -> None:
        """From now on nothing is sent, but time passes."""
        logger.error("%s: replies are no longer sent to their stream: %s", self._thread.name, error)
        self._reply.redirect(lambda stream, start_s: Nowhere())
