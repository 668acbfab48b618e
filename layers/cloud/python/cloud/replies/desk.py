"""The replies of all calls of a worker.

    desk = Desk(manner, leases, tell, stream=lambda call: f"replies-{call.id}")
    worker = Worker(settings, recognizer, leases, sink, owner, replies=desk)

What survives a worker: the conversation is noted in the call's table item before a reply is heard and when it is over.
A worker that is told to stop leaves the words that were not heard yet, and the next one goes on with them. One that is
killed leaves only that it was answering: the next one says the fallback, and repeats nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from speech.media.kvs import CONTACT
from speech.media.writer import mulaw_track, pcm_track

from cloud.calls.sides import REPLY_TRACK
from cloud.live.told import Told
from cloud.replies.dialogue import Dialogue, Manner
from cloud.replies.mouth import Mouth, Nowhere
from cloud.video.reply import Reply

if TYPE_CHECKING:
    from cloud.calls.call import Call
    from cloud.calls.leases import Lease, LeaseTable
    from cloud.calls.session import Session

TRACK_NAME = "REPLY"
ENDING_S = 5.0  # for an answer in work to be told of, when its call is over
PUT_DOWN_S = 3.0  # for all answers in work to be noted, when the worker is told to stop


class Desk:
    """Belongs to the worker's thread."""

    def __init__(
        self,
        manner: Manner,
        leases: LeaseTable,
        tell: Callable[[Call, list[Told]], None],
        stream: Callable[[Call], str],
        reply: Callable[..., Reply] = Reply,
    ) -> None:
        """`stream`: name or ARN of the video stream that a call's replies go to; "" for none.

        `tell` is given what is told of replies (`replies.records`), in order, by the worker's thread.
        """
        self._manner, self._leases, self._tell, self._stream, self._reply = manner, leases, tell, stream, reply
        self._dialogues: dict[str, tuple[Session, Dialogue]] = {}  # a session's call knows when it began, once it has
        self._ending_s: dict[str, float] = {}  # by call that is over: until when its last answer is waited for

    def begin(self, lease: Lease, session: Session) -> None:
        """A call was taken."""
        call, manner = lease.call, self._manner
        make = mulaw_track if manner.encoding == "pcm_mulaw" else pcm_track
        reply = self._reply(self._stream(call), make(REPLY_TRACK, manner.rate, name=TRACK_NAME))
        reply.tags = {CONTACT: call.id}  # whose words they are, for readers of a stream that calls share
        if not reply.stream:
            reply.redirect(lambda stream, start_s: Nowhere())
        dialogue = Dialogue(
            call.id,
            lease.generation,
            lease.conversation,
            manner,
            Mouth(call.id, reply),
            lambda noted: self._leases.note(lease, noted),
        )
        self._dialogues[call.id] = session, dialogue
        dialogue.resume(session)

    def hear(self, call_id: str, session: Session, told: list[Told]) -> None:
        """What was told of a call just now."""
        if found := self._dialogues.get(call_id):
            found[1].hear(session, told)

    def flush(self) -> None:
        """Tell of replies what there is to tell."""
        for session, dialogue in list(self._dialogues.values()):
            self._flush(session, dialogue)

    def _flush(self, session: Session, dialogue: Dialogue) -> None:
        if told := dialogue.take():
            session.replies += [record for record in told if record["type"] == "reply_end"]
            self._tell(session.call, told)

    def over(self, call_id: str) -> bool:
        """A call is over, and what was being said with it: whether that was told, or has been waited for in vain."""
        if call_id not in self._dialogues:
            return True
        session, dialogue = self._dialogues[call_id]
        if call_id not in self._ending_s:
            self._ending_s[call_id] = time.monotonic() + ENDING_S
            dialogue.stop()
        late = time.monotonic() > self._ending_s[call_id]
        if not dialogue.is_over and not late:
            return False
        self._flush(session, dialogue)
        self.end(call_id)
        return True

    def end(self, call_id: str) -> None:
        """A call is over, or another worker's."""
        self._ending_s.pop(call_id, None)
        if found := self._dialogues.pop(call_id, None):
            found[1].stop()

    def put_down(self) -> None:
        """The worker is told to stop: leave every answer for the next one."""
        for _, dialogue in self._dialogues.values():
            dialogue.put_down()
        ends_s = time.monotonic() + PUT_DOWN_S
        for _, dialogue in self._dialogues.values():
            dialogue.join(max(0.0, ends_s - time.monotonic()))
        self.flush()
        self._dialogues.clear()
