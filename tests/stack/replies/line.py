"""A call whose caller is answered: what the caller says, who answers, and the worker that holds the call."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from cloud.calls.call import Call
from cloud.calls.session import Session, step
from cloud.live.told import Told
from cloud.replies.conversation import Conversation
from cloud.replies.dialogue import Dialogue, Manner
from cloud.replies.mouth import Mouth
from cloud.replies.reading import Patience
from cloud.replies.responder import Question, Unavailable
from cloud.video.getmedia import Start

from tests.stack.calls import talk
from tests.stack.replies import voice
from tests.stack.replies.voice import Uploads

# What the caller of `talk` says, turn by turn.
TURNS = ["cat dog", "go tad", "two oak", "gag cat"]
FALLBACK = "Sorry."
LONG = "I have heard that, and I will look it up for you at once, if you would wait a moment."


@dataclass
class Answering:
    """Answers with texts given in turn, or with nothing until it is cancelled; remembers what it was asked."""

    texts: list[str | None]
    questions: list[Question] = field(default_factory=list)
    cancelled: threading.Event = field(default_factory=threading.Event)
    asked: threading.Event = field(default_factory=threading.Event)

    def answer(self, question: Question) -> Answering:
        self.questions.append(question)
        self.asked.set()
        return self

    def __iter__(self) -> Iterator[str]:
        text = self.texts.pop(0)
        if text is None:
            self.cancelled.wait()
        elif text == "fails":
            raise Unavailable("HTTP status 500")
        else:
            yield text

    def cancel(self) -> None:
        self.cancelled.set()


def frames(text: str) -> int:
    """In which a text is sent."""
    return -(-len(voice.spoken(text)) // 160)


class Line:
    """A call, its session, and the worker that holds it; `take_over` is what another worker does."""

    def __init__(self, *texts: str | None) -> None:
        self.responder = Answering([*texts])
        self.uploads = Uploads()
        self.noted: list[str] = []
        self.claimed = threading.Event()
        self.trouble: Exception | None = None
        self.told: list[Told] = []
        self.generation = 0
        self.session = Session.begin(Call("call-7", "s", Start("EARLIEST")), talk.RECOGNIZER)
        self._batches = talk.batches(talk.download(), 2000)
        self.take_over(self.session)

    def take_over(self, session: Session) -> None:
        self.session = session
        self.generation += 1
        manner = Manner(self.responder, voice.voice, "pcm_mulaw", 8000, FALLBACK, Patience(60, 60, 60))
        self.mouth = Mouth("call-7", self.uploads.reply())
        saved = self.noted[-1] if self.noted else None
        self.dialogue = Dialogue("call-7", self.generation, saved, manner, self.mouth, self._note)
        self.dialogue.resume(session)

    def _note(self, conversation: str) -> None:
        if self.trouble:
            raise self.trouble
        self.noted.append(conversation)
        self.claimed.set()

    def hear(self, until: str = "turn_end", who: str = "customer") -> None:
        """The call goes on until the recogniser has told such a thing of somebody."""
        for events, position in self._batches:
            self.session.take(events, position)
            records = step([self.session]).get("call-7", [])
            self.dialogue.hear(self.session, records)
            if any(record["type"] == until and record["speaker"] == who for record in records):
                return
        raise AssertionError(f"the call has ended without a {until}")

    def over(self) -> list[Told]:
        """Wait for the reply in work to be over; what was told of it."""
        self.dialogue.join(60)
        self.told += self.dialogue.take()
        return self.told

    @property
    def conversation(self) -> Conversation:
        return Conversation.from_json(self.noted[-1])

    @property
    def turns(self) -> list[tuple[str, str]]:
        return [(turn.who, turn.text.lower().rstrip(".")) for turn in self.conversation.turns]

    def end(self) -> None:
        self.dialogue.stop()
        self.dialogue.join(60)
        self.mouth.join(60)
