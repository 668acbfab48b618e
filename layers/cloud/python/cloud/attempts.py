"""One attempt at a queue message: claim the job, do the work, and sort its end by one question: would a retry help?

Work that ends well, was done by another, or will never succeed is over, and its message can be deleted. Anything else
is raised: the message comes back after a while, and after the last attempt becomes a dead letter and the job FAILED.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aws_lambda_powertools.metrics import MetricUnit
from speech.errors import BadInput

from cloud import notices, queues
from cloud.deadline import Deadline
from cloud.jobs import Busy, Duplicate, Job, JobTable
from cloud.observability import logger, metrics
from cloud.queues import Message
from cloud.recordings import Recording, UnknownMessage, parse_message
from cloud.settings import QueueSettings
from cloud.storage import Superseded

Work = Callable[[Job, Deadline], None]


@dataclass(frozen=True, slots=True)
class Attempts:
    """Attempts at the messages of one queue."""

    settings: QueueSettings
    queue_url: str
    jobs: JobTable
    work: Work
    tell_failure: Callable[[str, Recording, str], None] = notices.failed  # (bus, recording, reason)

    def at(self, message: Message, deadline: Deadline) -> None:
        """Works on every recording that the message names; raises if the message has to come back."""
        metrics.add_metric("Messages", MetricUnit.Count, 1)
        try:
            for recording in parse_message(message.body):
                self._try(recording, message, deadline)
        except UnknownMessage:
            logger.exception("message not understood: it will become a dead letter")
            self._postpone(message, 0)
            raise
        except Busy as busy:
            self._postpone(message, busy.wait_s)
            raise
        except Exception:
            logger.exception("attempt %d of %d failed", message.receives, self.settings.max_receives)
            self._postpone(message, queues.retry_wait_s(message.receives, self.settings.retry_delay_s))
            raise

    def _try(self, recording: Recording, message: Message, deadline: Deadline) -> None:
        logger.append_keys(job=recording.job_id, recording=recording.uri)
        try:
            job = self.jobs.claim(recording, message.id, deadline.cut_off_s, deadline.now_s)
            self._work(job, message, deadline)
        except Duplicate as duplicate:
            logger.info("nothing to do: %s", duplicate)
            metrics.add_metric("Duplicates", MetricUnit.Count, 1)

    def _work(self, job: Job, message: Message, deadline: Deadline) -> None:
        try:
            self.work(job, deadline)
        except Duplicate:
            raise
        except Superseded as superseded:
            logger.info("superseded: %s", superseded)
            self.jobs.fail(job, deadline.now_s, str(superseded), may_retry=False)
        except BadInput as bad:
            logger.warning("no result: %s", bad)
            self._fail(job, deadline, str(bad), may_retry=False)
        except Exception as error:
            self._give_back(job, message, deadline, error)
            raise

    def _give_back(self, job: Job, message: Message, deadline: Deadline, error: Exception) -> None:
        reason = f"{type(error).__name__}: {error}"
        try:
            if message.receives < self.settings.max_receives:
                self.jobs.hand_over(job, deadline.now_s, reason=reason)
            else:
                reason = f"gave up after {message.receives} attempts; the last: {reason}"
                self._fail(job, deadline, reason, may_retry=True)
        except Duplicate as lost:  # handed over already, but the message for it did not leave: this one has to return
            logger.info("nothing to give back: %s", lost)

    def _fail(self, job: Job, deadline: Deadline, reason: str, *, may_retry: bool) -> None:
        self.tell_failure(self.settings.event_bus, job.recording, reason)
        self.jobs.fail(job, deadline.now_s, reason, may_retry=may_retry)
        metrics.add_metric("Failed", MetricUnit.Count, 1)

    def _postpone(self, message: Message, wait_s: int) -> None:
        try:
            queues.postpone(self.queue_url, message, wait_s)
        except Exception:  # the queue's own timeout brings the message back, only later
            logger.warning("the message's return could not be brought forward", exc_info=True)
