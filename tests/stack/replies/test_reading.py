"""Nobody waits for a responder for ever: late, stalled, endless, empty and failing answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from cloud.replies.conversation import Turn
from cloud.replies.reading import NoAnswer, Patience, Reading
from cloud.replies.responder import Question, Refused, Unavailable

QUESTION = Question("call-7", (Turn("caller", "Hello?"),))
LONG = Patience(first_s=60, between_s=60, whole_s=60)


class Scripted:
    """Answers with what a function yields; waits in it end when the answer is cancelled."""

    def __init__(self, script: Callable[[threading.Event], Iterator[str]]) -> None:
        self._script, self.asked, self.cancelled = script, 0, threading.Event()

    def answer(self, question: Question) -> Scripted:
        self.asked += 1
        return self

    def __iter__(self) -> Iterator[str]:
        return self._script(self.cancelled)

    def cancel(self) -> None:
        self.cancelled.set()


def text(responder: Scripted, patience: Patience = LONG) -> str:
    return "".join(Reading(responder, QUESTION, patience).pieces())


def test_the_text_is_that_of_the_responder() -> None:
    assert text(Scripted(lambda cancelled: iter(["", "Hel", "lo."]))) == "Hello."


def late(cancelled: threading.Event) -> Iterator[str]:
    cancelled.wait()
    yield from ()


def stalled(cancelled: threading.Event) -> Iterator[str]:
    yield "One "
    cancelled.wait()


def blank(cancelled: threading.Event) -> Iterator[str]:
    yield " \n"


def endless(cancelled: threading.Event) -> Iterator[str]:
    while not cancelled.wait(0.001):
        yield "word "


@pytest.mark.parametrize(
    ("script", "patience", "reason"),
    [
        (late, replace(LONG, first_s=0.05), "no text came in time"),
        (stalled, replace(LONG, between_s=0.05), "no text for"),
        (blank, LONG, "empty"),
        (lambda cancelled: iter(()), LONG, "empty"),
    ],
)
def test_an_answer_that_does_not_come_has_a_reason_and_is_given_up(
    script: Callable[[threading.Event], Iterator[str]], patience: Patience, reason: str
) -> None:
    responder = Scripted(script)
    with pytest.raises(NoAnswer, match=reason):
        text(responder, patience)
    if script in (late, stalled):
        assert responder.cancelled.wait(60)


def test_an_endless_answer_has_an_end_in_characters_and_in_time() -> None:
    responder = Scripted(endless)
    assert text(responder, replace(LONG, most_characters=12)) == "word word wo"
    assert responder.cancelled.is_set()
    responder = Scripted(endless)
    assert text(responder, replace(LONG, whole_s=0.05, most_characters=1 << 40)).startswith("word ")
    assert responder.cancelled.is_set()


def test_what_fails_at_once_is_asked_once_more() -> None:
    def script(cancelled: threading.Event) -> Iterator[str]:
        if responder.asked == 1:
            raise Unavailable("HTTP status 503")
        yield "Here."

    responder = Scripted(script)
    assert text(responder) == "Here."
    assert responder.asked == 2


@pytest.mark.parametrize(("error", "asked"), [(Unavailable("busy"), 2), (Refused("wrong key"), 1), (KeyError("x"), 1)])
def test_what_goes_on_failing_says_why(error: Exception, asked: int) -> None:
    def script(cancelled: threading.Event) -> Iterator[str]:
        yield from ()
        raise error

    responder = Scripted(script)
    with pytest.raises(NoAnswer, match=str(error)):
        text(responder)
    assert responder.asked == asked


def test_what_fails_after_some_text_is_not_asked_again() -> None:
    def script(cancelled: threading.Event) -> Iterator[str]:
        yield "One "
        raise Unavailable("broke off")

    responder, found = Scripted(script), list[str]()
    with pytest.raises(NoAnswer, match="broke off"):
        found.extend(Reading(responder, QUESTION, LONG).pieces())
    assert (found, responder.asked) == (["One "], 1)


@pytest.mark.parametrize("script", [late, stalled])
def test_cancelled_it_ends_at_once(script: Callable[[threading.Event], Iterator[str]]) -> None:
    responder, found = Scripted(script), list[str]()
    reading = Reading(responder, QUESTION, LONG)
    reader = threading.Thread(target=lambda: found.extend(reading.pieces()))
    reader.start()
    reading.cancel()
    reader.join()
    assert responder.cancelled.wait(60)
    assert found in ([], ["One "])


def test_what_was_not_taken_can_be_had() -> None:
    read = threading.Event()

    def script(cancelled: threading.Event) -> Iterator[str]:
        yield "One. "
        yield "Two. "
        yield "Three."
        read.set()

    reading = Reading(Scripted(script), QUESTION, LONG)
    pieces = reading.pieces()
    assert next(pieces) == "One. "
    read.wait()
    reading.cancel()
    assert list(pieces) == []
    assert reading.unread().endswith("Three.")
