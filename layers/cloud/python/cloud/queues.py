"""Messages of a queue: what a delivery says, sending one, and choosing when a failed one comes back.

A queue's visibility timeout must outlast the longest invocation, so left alone a failed message would return after
an hour and a half; the functions set the wait themselves, short at first and doubling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cloud.clients import client

LONGEST_WAIT_S = 43_200  # SQS: 12 hours
LONGEST_RETRY_S = 900


@dataclass(frozen=True, slots=True)
class Message:
    """One delivery of a message."""

    id: str
    body: str
    receipt: str
    receives: int  # deliveries so far, this one included

    @classmethod
    def of(cls, record: dict[str, Any]) -> Message:
        """The message of a record of an SQS event."""
        receives = int(record["attributes"]["ApproximateReceiveCount"])
        return cls(record["messageId"], record["body"], record["receiptHandle"], receives)


def send(queue_url: str, body: str, delay_s: int = 0) -> None:
    """Sends a message, which arrives after `delay_s` seconds at the earliest."""
    later = {"DelaySeconds": delay_s} if delay_s else {}
    client("sqs").send_message(QueueUrl=queue_url, MessageBody=body, **later)


def postpone(queue_url: str, message: Message, wait_s: int) -> None:
    """Makes a message that was not deleted come back after `wait_s` seconds."""
    wait_s = min(wait_s, LONGEST_WAIT_S)
    client("sqs").change_message_visibility(QueueUrl=queue_url, ReceiptHandle=message.receipt, VisibilityTimeout=wait_s)


def retry_wait_s(receives: int, first_s: int) -> int:
    """Wait before the next attempt: `first_s` after the first, doubling, at most 15 minutes."""
    return min(first_s << min(receives, 16) - 1, LONGEST_RETRY_S)
