"""From the text of an answer to the words that were heard of it, with a real synthesiser and a real mouth."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator

import pytest
from cloud.replies.mouth import Mouth
from cloud.replies.reading import NoAnswer
from cloud.replies.speaking import AHEAD_S, Fixed, Outcome, Pieces, Speaking
from speech.tts.stream import Chunk

from tests.stack.replies import voice
from tests.stack.replies.voice import Uploads

FALLBACK = "Sorry, say it again."


class Dripping:
    """Text that a test lets through piece by piece; None ends it, an exception breaks it off."""

    def __init__(self) -> None:
        self.queue: queue.SimpleQueue[str | Exception | None] = queue.SimpleQueue()
        self.cancelled = threading.Event()

    def pieces(self) -> Iterator[str]:
        while (piece := self.queue.get()) is not None:
            if isinstance(piece, Exception):
                raise piece
            yield piece

    def unread(self) -> str:
        return "and never read"

    def cancel(self) -> None:
        self.cancelled.set()
        self.queue.put(None)


class Room:
    """One mouth and what comes of answers."""

    def __init__(self) -> None:
        self.uploads = Uploads()
        self.mouth = Mouth("call", self.uploads.reply())
        self.chunks: list[Chunk] = []
        self.outcomes: list[Outcome] = []

    def speak(self, pieces: Pieces, before: Speaking | None = None, fallback: str = FALLBACK) -> Speaking:
        def utter() -> object:
            return self.mouth.begin(lambda: None, lambda at_s: None)

        return Speaking(
            lambda: pieces,
            voice.voice,
            utter,
            fallback,
            self.chunks.append,
            self.outcomes.append,
            before,  # type: ignore[arg-type]
        ).start()


@pytest.fixture
def room() -> Iterator[Room]:
    made = Room()
    yield made
    made.mouth.close()
    made.mouth.join(10)


def heard(room: Room, text: str) -> bool:
    """Whether what was sent is the sound of a text, up to the silence that fills the last frame."""
    expected = voice.spoken(text)
    return room.uploads.audio[: len(expected)] == expected and len(room.uploads.audio) - len(expected) < 160


def test_a_text_is_spoken_as_it_is(room: Room) -> None:
    room.speak(Fixed("Yes, at seven.")).join()
    assert heard(room, "Yes, at seven.")
    words = room.outcomes[0].words
    assert room.outcomes == [Outcome("Yes, at seven.", "Yes, at seven.", "", False, "", words=words)]
    assert [text for text, _, _ in words] == ["Yes,", "at", "seven."]
    assert [time for _, *times in words for time in times] == sorted(time for _, *times in words for time in times)
    assert b"".join(chunk.audio for chunk in room.chunks) == voice.spoken("Yes, at seven.")


def test_a_clause_is_heard_before_the_rest_has_come(room: Room) -> None:
    text = Dripping()
    speaking = room.speak(text)
    text.queue.put("Of course, that can be done. ")
    room.uploads.after(4)  # without this clause's sound the test would wait for ever
    text.queue.put("When?")
    text.queue.put(None)
    speaking.join()
    assert room.outcomes[0].heard == "Of course, that can be done. When?"
    assert heard(room, "Of course, that can be done. When?")


def test_sound_is_made_little_ahead_of_its_time(room: Room) -> None:
    speaking = room.speak(Fixed("This is a long answer that nobody will hear to its end, as you shall see. " * 3))
    room.uploads.after(10)
    speaking.stop()
    speaking.join()
    made_s = sum(chunk.duration_s for chunk in room.chunks)
    assert made_s - room.uploads.sent * 0.02 <= AHEAD_S + 0.2


@pytest.mark.parametrize("frames", [2, 30])
def test_when_the_caller_breaks_in_the_words_heard_are_told(room: Room, frames: int) -> None:
    text = "I can offer you Thursday at two or Friday at nine, whatever suits you."
    speaking = room.speak(Fixed(text))
    room.uploads.after(frames)
    speaking.stop()
    assert speaking.is_over
    speaking.join()
    [outcome] = room.outcomes
    assert outcome.interrupted
    assert outcome.heard == text[: len(outcome.heard)]
    assert len(outcome.heard) < len(text) - 10
    # The rest goes on exactly where it was cut, for somebody else to say.
    assert outcome.text[: len(outcome.heard)] + outcome.rest == text
    # The words agree with what was sent, as far as it can have been heard.
    words = [span for chunk in room.chunks for span in chunk.spans if span.type == "word"]
    begun = [word for word in words if word.start_s < room.uploads.sent * 0.02]
    assert outcome.heard in ("", *(text[: word.end] for word in begun))


def test_stopped_while_the_responder_thinks(room: Room) -> None:
    text = Dripping()
    speaking = room.speak(text)
    speaking.stop()
    speaking.join()
    [outcome] = room.outcomes
    assert (outcome.heard, outcome.interrupted) == ("", True)
    assert room.uploads.sent == 0


@pytest.mark.parametrize(
    ("pieces", "text"),
    [((), FALLBACK), (("Let me",), f"Let me {FALLBACK}"), (("Good day. ", "I"), f"Good day. I {FALLBACK}")],
)
def test_an_answer_that_fails_ends_in_the_fallback(room: Room, pieces: tuple[str, ...], text: str) -> None:
    dripping = Dripping()
    for piece in (*pieces, NoAnswer("HTTP status 500")):
        dripping.queue.put(piece)
    room.speak(dripping).join()
    [outcome] = room.outcomes
    assert (outcome.heard, outcome.failed, outcome.interrupted) == (text, "HTTP status 500", False)
    assert room.uploads.sent > 20


def test_without_a_fallback_a_failure_is_silent_and_told(room: Room) -> None:
    dripping = Dripping()
    dripping.queue.put(NoAnswer("empty"))
    room.speak(dripping, fallback="").join()
    assert room.outcomes == [Outcome("", "", "and never read", False, "empty")]


def test_answers_follow_each_other_and_the_first_makes_room(room: Room) -> None:
    first = room.speak(Fixed("One, two, three, four, five, six, seven."))
    room.uploads.after(5)
    first.stop()
    second = room.speak(Fixed("Eight."), before=first)
    second.join()
    assert [outcome.heard for outcome in room.outcomes][1] == "Eight."
    assert room.outcomes[0].interrupted


def test_one_that_was_stopped_before_it_began_asks_nobody(room: Room) -> None:
    first = room.speak(Dripping())
    asked = list[int]()

    class Never(Dripping):
        def pieces(self) -> Iterator[str]:
            asked.append(1)
            yield "No."

    second = room.speak(Never(), before=first)
    second.stop()
    first.stop()
    second.join()
    assert not asked
    assert not room.outcomes[1].asked


def test_an_error_of_our_own_ends_the_answer_and_nothing_else(room: Room) -> None:
    class Broken(Dripping):
        def pieces(self) -> Iterator[str]:
            yield "One. "
            raise KeyError("a bug")

    room.speak(Broken()).join()
    assert room.outcomes[0].failed
    room.speak(Fixed("Two.")).join()
    assert room.outcomes[1].heard == "Two."
