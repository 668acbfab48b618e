"""The queue of new calls, asked in a thread of its own so that waiting for a message holds up no call.

A message names a call that is in the table; the lease decides who has it, so that a message may come twice.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from dataclasses import dataclass, field

from botocore.exceptions import BotoCoreError, ClientError

from cloud import queues
from cloud.clients import client
from cloud.observability import logger

AT_ONCE = 10  # messages: SQS gives no more


@dataclass(frozen=True, slots=True)
class Note:
    """One message."""

    call: str
    receipt: str


def body(call_id: str) -> str:
    """Of the message about a call."""
    return json.dumps({"call": call_id})


@dataclass
class Intake:
    """Messages of one queue."""

    queue_url: str
    wait_s: int = 10  # of one request
    _wanted: int = field(init=False, default=0)
    _found: deque[Note] = field(init=False, default_factory=deque)
    _closing: threading.Event = field(init=False, default_factory=threading.Event)
    _changed: threading.Condition = field(init=False, default_factory=threading.Condition)
    _thread: threading.Thread | None = field(init=False, default=None)

    def take(self, most: int) -> list[Note]:
        """What has come; up to `most` further messages are asked for, which later calls will give."""
        with self._changed:
            found = list(self._found)
            self._found.clear()
            self._wanted = max(0, most - len(found))
            self._changed.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="intake", daemon=True)
            self._thread.start()
        return found

    def done(self, note: Note) -> None:
        """A message has been dealt with."""
        client("sqs").delete_message(QueueUrl=self.queue_url, ReceiptHandle=note.receipt)

    def put_back(self, note: Note) -> None:
        """A message is for others, at once."""
        about = {"QueueUrl": self.queue_url, "ReceiptHandle": note.receipt}
        try:
            client("sqs").change_message_visibility(**about, VisibilityTimeout=0)
        except (ClientError, BotoCoreError):
            logger.warning("the message about call %s will come back by itself, only later", note.call, exc_info=True)

    def send(self, call_id: str) -> None:
        """Tell of a call that somebody else has to go on with."""
        queues.send(self.queue_url, body(call_id))

    def close(self) -> None:
        """Ask for no more, and put back what nobody took; a request that waits may still do so later."""
        self._closing.set()
        with self._changed:
            self._changed.notify()
        for note in self.take(0):
            self.put_back(note)

    def _run(self) -> None:
        while not self._closing.is_set():
            with self._changed:
                self._changed.wait_for(lambda: self._wanted or self._closing.is_set())
                most = min(self._wanted, AT_ONCE)
            if not most:
                return
            try:
                found = self._ask(most)
            except (ClientError, BotoCoreError):
                logger.exception("the queue of calls does not answer")
                self._closing.wait(self.wait_s)
                continue
            with self._changed:
                if not self._closing.is_set():
                    self._found.extend(found)
                    self._wanted = max(0, self._wanted - len(found))
                    continue
            for note in found:
                self.put_back(note)

    def _ask(self, most: int) -> list[Note]:
        answer = client("sqs", read_timeout_s=self.wait_s + 10).receive_message(
            QueueUrl=self.queue_url, MaxNumberOfMessages=most, WaitTimeSeconds=self.wait_s
        )
        notes = []
        for message in answer.get("Messages", []):
            try:
                notes.append(Note(str(json.loads(message["Body"])["call"]), message["ReceiptHandle"]))
            except (ValueError, KeyError, TypeError):
                logger.error("no message about a call, left to become a dead letter: %s", message["Body"][:200])
        return notes
