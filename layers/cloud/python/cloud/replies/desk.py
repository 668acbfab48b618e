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
            if told := dialogue.take():
                self._tell(session.call, told)

    def end(self, call_id: str) -> None:
        """A call is over, or another worker's."""
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
