"""Both sides of one call: the caller's turns are answered, and the caller who speaks is never spoken over.

Only the caller's own track counts as the caller. Replies go out on a stream of their own, so they cannot come back on
that track; where a telephone system mixes them into the agent's, they are transcribed there and answered by nobody.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cloud.calls.leases import LostLease
from cloud.live.told import QUIET, Told
from cloud.observability import logger
from cloud.replies import records
from cloud.replies.conversation import Conversation
from cloud.replies.mouth import Mouth, Utterance
from cloud.replies.reading import Patience, Reading
from cloud.replies.responder import Question, Responder
from cloud.replies.speaking import Fixed, Outcome, Pieces, Speaking

if TYPE_CHECKING:
    from speech.tts.stream import Chunk, SpeechStream

    from cloud.calls.session import Session
    from cloud.calls.track import Track

GONE = "the worker that gave it is gone"
Finals = list[tuple[int, str]]  # (segment, text) of the caller's finals


@dataclass(frozen=True, slots=True)
class Manner:
    """How a process replies, in all its calls."""

    responder: Responder
    voice: Callable[[], SpeechStream]  # a stream of the encoding and rate below
    encoding: str  # pcm_mulaw or pcm_s16le
    rate: int  # Hz
    fallback: str  # said when there is no answer; "" for silence
    patience: Patience = field(default_factory=Patience)
    barge_in_words: int = 1  # that a caller has to say for a reply to stop


@dataclass(slots=True)
class Now:
    """The answer in work."""

    reply: str  # id
    turn: int  # number of the turn end that it answers
    turn_end_s: float  # in the call's clock
    sounds: int = 0
    left_at_s: float | None = None  # when its first sound left, seconds since 1970


class Dialogue:
    """Of one call. `hear`, `resume`, `stop` and `take` belong to the worker's thread."""

    def __init__(
        self,
        name: str,
        generation: int,
        saved: str | None,
        manner: Manner,
        mouth: Mouth,
        note: Callable[[str], None],
    ) -> None:
        """`generation`: which holder of the call this is; `note` keeps the conversation and may raise LostLease.

        `saved` is what the holder before noted last.
        """
        self._name, self._generation, self._manner, self._mouth, self._note = name, generation, manner, mouth, note
        self._conversation = Conversation.from_json(saved) if saved else Conversation()
        self._numbered: dict[int, int] = {}  # by channel: records so far that are no partials
        self._owed = self._conversation.speaking  # the holder before has left an answer unfinished
        self._records: deque[Told] = deque()
        self._speaking: Speaking | None = None
        self._replies = 0
        self._broken_off, self._rest = False, ""  # the caller seemed to break in; what was not heard on its account
        self._putting_down = threading.Event()

    def resume(self, session: Session) -> None:
        """Begin, or go on where the holder before has left the call."""
        self._tell_again({reply["reply"] for reply in session.replies})
        self._numbered = {track.channel: track.numbered for track in session.tracks.values()}
        track = caller(session)
        if track is None or track.teller.turn != QUIET or track.numbered <= self._conversation.answered:
            return
        # What was owed is behind us. A turn that has ended and was not answered, is now.
        self._ask(track, track.numbered - 1, (track.end_ms or 0.0) / 1000)

    def _tell_again(self, known: set[str]) -> None:
        """Ends of answers of the holder before: what is in no checkpoint, nobody may have been told."""
        conversation = self._conversation
        if conversation.begun:
            lost = Outcome("", "", "", interrupted=True, failed=GONE)
            conversation.keep(records.ended(**conversation.begun, left_at_s=None, outcome=lost))
            conversation.begun = None
        self._records.extend(reply for reply in conversation.replies if reply["reply"] not in known)

    def hear(self, session: Session, told: list[Told]) -> None:
        """What was told of the call just now, in order."""
        track, ended = caller(session), None
        if track is None:
            return
        for record in told:
            if record["channel"] != track.channel:
                continue
            if "number" in record:
                self._numbered[track.channel] = record["number"] + 1
            # What is heard again after a worker's death was answered then.
            numbered, answered = self._numbered.get(track.channel, 0), self._conversation.answered
            if record["type"] == "turn_end":
                # One that ends with its stream ("finish") leaves nobody to be answered.
                ended = record if numbered > answered and record["reason"] != "finish" else None
            elif numbered > answered + 1:
                ended, self._owed = None, False
                self._caller_speaks(record)
        if ended is None:
            return
        if ended["reason"] != "nothing_said":
            self._broken_off = False
            self._ask(track, ended["number"], ended["at_s"])
        elif self._broken_off:
            self._broken_off = False
            self._begin(Now(self._next_id(), self._conversation.answered, ended["at_s"]), self._going_on)

    def take(self) -> list[Told]:
        """What is to be told of replies since the last time."""
        found = []
        while self._records:
            found.append(self._records.popleft())
        return found

    @property
    def is_over(self) -> bool:
        """Whether nothing is being said, and `take` has all that there is to be told of it."""
        return self._speaking is None or self._speaking.is_told

    def stop(self) -> None:
        """The call is over, or another worker's."""
        if self._speaking:
            self._speaking.stop()
        self._mouth.close()

    def put_down(self) -> None:
        """Stop in the middle of a word, for the next holder to go on there; `join` waits until that is noted."""
        self._putting_down.set()
        self.stop()

    def join(self, timeout_s: float) -> None:
        """Wait for the end of what `stop` or `put_down` has ended."""
        if self._speaking:
            self._speaking.join(timeout_s)

    def _caller_speaks(self, record: Told) -> None:
        if record["type"] == "turn_start":
            self._mouth.prepare()
        elif self._speaking and not self._speaking.is_over and len(record["words"]) >= self._manner.barge_in_words:
            self._broken_off = True
            self._speaking.stop()

    def _ask(self, track: Track, turn: int, turn_end_s: float) -> None:
        """Answer the caller's turn that has ended with record number `turn`."""
        owed, self._owed = self._owed, False
        conversation = self._conversation
        if owed:
            rest = conversation.rest or self._manner.fallback
            if rest:
                self._begin(Now(self._next_id(), turn, turn_end_s), lambda: Fixed(rest))
            return
        finals = [(final.segment, final.text) for final in track.finals if final.segment > conversation.segment]
        if not any(text for _, text in finals):
            return
        now = Now(self._next_id(), turn, turn_end_s)
        self._begin(now, lambda: self._question(turn, finals))

    def _question(self, turn: int, finals: Finals) -> Pieces:
        """Ask the responder; by the answer's thread, once the answer before is over and has its place."""
        conversation = self._conversation
        conversation.add("caller", " ".join(text for segment, text in finals if segment > conversation.segment))
        conversation.answered, conversation.segment = turn, finals[-1][0]
        question = Question(self._name, tuple(conversation.turns))
        return Reading(self._manner.responder, question, self._manner.patience)

    def _going_on(self) -> Pieces:
        """What seemed to be the caller was none: the rest of the answer, or the question once more."""
        turns = self._conversation.turns
        if self._rest or not turns or turns[-1].who == "reply":
            return Fixed(self._rest)
        return Reading(self._manner.responder, Question(self._name, tuple(turns)), self._manner.patience)

    def _begin(self, now: Now, pieces: Callable[[], Pieces]) -> None:
        before = self._speaking
        if before:
            before.stop()

        def utter() -> Utterance:
            self._conversation.speaking, self._conversation.rest = True, ""
            self._conversation.begun = {"reply": now.reply, "turn": now.turn, "turn_end_s": now.turn_end_s}
            noted = self._conversation.to_json()
            return self._mouth.begin(lambda: self._claim(noted), lambda at_s: self._left(now, at_s))

        def sound(chunk: Chunk) -> None:
            self._records.append(
                records.sound(now.reply, now.sounds, chunk, speaking.text, self._manner.encoding, self._manner.rate)
            )
            now.sounds += 1

        speaking = Speaking(
            pieces,
            self._manner.voice,
            utter,
            self._manner.fallback,
            sound,
            lambda found: self._over(now, found),
            before,
        )
        self._speaking = speaking.start()

    def _claim(self, noted: str) -> None:
        """Note that an answer was begun, so that no other worker begins it too. Raises LostLease."""
        try:
            self._note(noted)
        except LostLease:
            raise
        except Exception as error:  # to say it twice after a death is better than to say nothing
            logger.warning("call %s: an answer is not noted: %s", self._name, error)

    def _left(self, now: Now, at_s: float) -> None:
        now.left_at_s = at_s
        self._records.append(records.started(now.reply, now.turn, now.turn_end_s, at_s))

    def _over(self, now: Now, outcome: Outcome) -> None:
        """Keep what was heard of an answer, for the next question and the next holder."""
        if not outcome.asked:
            return
        conversation, self._rest = self._conversation, outcome.rest.strip() if outcome.interrupted else ""
        if outcome.heard:
            conversation.add("reply", outcome.heard, interrupted=outcome.interrupted)
        record = records.ended(now.reply, now.turn, now.turn_end_s, now.left_at_s, outcome)
        conversation.keep(record)
        conversation.begun = None
        left_over = outcome.interrupted and self._putting_down.is_set()
        conversation.speaking, conversation.rest = left_over, self._rest if left_over else ""
        try:
            self._note(conversation.to_json())
        except Exception as error:
            logger.info("call %s: how an answer ended is not noted: %s", self._name, error)
        self._records.append(record)

    def _next_id(self) -> str:
        self._replies += 1
        return f"{self._generation}-{self._replies}"


def caller(session: Session) -> Track | None:
    """The caller's track: the customer's, or the first one of a call that does not say whose its tracks are."""
    tracks = sorted(session.tracks.values(), key=lambda track: track.channel)
    named = [track for track in tracks if track.speaker == "customer"]
    return next(iter(named or [track for track in tracks if track.speaker != "agent"]), None)
