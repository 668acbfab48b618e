"""Who answers: given what was said in a call so far, text comes as a stream that can be given up at any moment.

    answer = responder.answer(Question("call-7", turns))       # at once: the work is done while the text is read
    for text in answer:                                        # pieces of any length
        ...
    answer.cancel()                                            # from any thread: the caller has broken in

What a caller heard of an interrupted answer is in the next question, as a turn with `interrupted`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from speech.errors import BadInput, Transient

from cloud.replies.conversation import Turn


class Refused(BadInput):
    """The responder will not answer, however often it is asked: a wrong key, an unknown model, a malformed answer."""


class Unavailable(Transient):
    """It does not answer now: no connection, too many requests, a server's error, an answer that broke off."""


@dataclass(frozen=True, slots=True)
class Question:
    """What there is to be answered."""

    call: str  # id
    turns: tuple[Turn, ...]  # oldest first; the last is the caller's


class Answer(Protocol):
    """One answer on its way; read by one thread, once."""

    def __iter__(self) -> Iterator[str]:
        """Its text in pieces, as they come. Raises Refused or Unavailable; ends early after `cancel`."""
        ...

    def cancel(self) -> None:
        """Nobody listens any more. From any thread, any number of times; returns at once."""
        ...


class Responder(Protocol):
    """Shared by all calls of a process."""

    def answer(self, question: Question) -> Answer:
        """An answer to the last turn."""
        ...


def refused_or_unavailable(status: int, said: str) -> Refused | Unavailable:
    """What an HTTP status other than 200 means."""
    again = status in (408, 409, 425, 429) or status >= 500
    return (Unavailable if again else Refused)(f"the responder answered with HTTP status {status}: {said[:200]}")
