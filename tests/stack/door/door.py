"""What a test does at the door: drop a recording, send an event by hand, and listen for what becomes of it."""

from __future__ import annotations

import io
import json
import wave
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import av
import numpy as np
from boto3.dynamodb.types import TypeDeserializer

from local.stack import Stack

SOON = 20  # looks at the bus of some hundredths of a second each, for what is over in no time; after them
PATIENCE = 120  # looks of a second each, at most
_plain: Any = TypeDeserializer()


def wav(*channels: np.ndarray, rate: int = 16000) -> bytes:
    """16-bit WAV; shorter channels end in silence."""
    samples = np.zeros((max(map(len, channels)), len(channels)))
    for number, channel in enumerate(channels):
        samples[: len(channel), number] = channel
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setparams((len(channels), 2, rate, 0, "NONE", "not compressed"))
        out.writeframes(np.round(samples * 32767).astype("<i2").tobytes())
    return file.getvalue()


def m4a(samples: np.ndarray, rate: int = 16000) -> bytes:
    """AAC in MP4, one channel."""
    file = io.BytesIO()
    with av.open(file, "w", format="ipod") as out:
        stream = out.add_stream("aac", rate=rate, layout="mono")
        for at in range(0, len(samples), 1024):
            block = np.ascontiguousarray(samples[None, at : at + 1024], np.float32)
            frame = av.AudioFrame.from_ndarray(block, format="fltp", layout="mono")
            frame.rate, frame.pts = rate, at
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    return file.getvalue()


def event(bucket: str, key: str, etag: str, sequencer: str, size: int = 1) -> str:
    """What EventBridge puts into the queue for an upload."""
    item = {"key": key, "size": size, "etag": etag, "sequencer": sequencer}
    detail = {"bucket": {"name": bucket}, "object": item}
    return json.dumps({"source": "aws.s3", "detail-type": "Object Created", "detail": detail})


@dataclass
class Door:
    """A running stack and a queue that hears the events of its bus."""

    stack: Stack
    ears: str
    heard: list[dict[str, Any]] = field(default_factory=list)  # events so far, in no particular order

    @classmethod
    def at(cls, stack: Stack) -> Door:
        """Puts a queue of its own behind the bus."""
        sqs, events = stack.client("sqs"), stack.client("events")
        ears = sqs.create_queue(QueueName="ears")["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=ears, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        events.put_rule(Name="ears", EventPattern=json.dumps({"source": ["undertone.transcribe"]}))
        events.put_targets(Rule="ears", Targets=[{"Id": "ears", "Arn": arn}])
        return cls(stack, ears)

    def name(self, output: str) -> str:
        """An output of the template."""
        return self.stack.outputs[output]

    def drop(self, key: str, body: bytes) -> str:
        """Uploads a recording; its etag."""
        answer = self.stack.client("s3").put_object(Bucket=self.name("InputBucket"), Key=key, Body=body)
        etag: str = answer["ETag"].strip('"')
        return etag

    def send(self, body: str) -> None:
        """Puts a message into the queue of recordings by hand."""
        self.stack.client("sqs").send_message(QueueUrl=self.name("RecordingsQueueUrl"), MessageBody=body)

    def jobs(self, key: str) -> list[dict[str, Any]]:
        """Jobs of a key, oldest upload first."""
        items = self.stack.client("dynamodb").scan(TableName=self.name("JobTable"), ConsistentRead=True)["Items"]
        plain = [{name: _plain.deserialize(value) for name, value in item.items()} for item in items]
        return sorted((job for job in plain if job["key"] == key), key=lambda job: str(job["sequencer"]))

    def job(self, key: str, status: str) -> dict[str, Any]:
        """The latest job of a key, once it has come to a state."""
        self.wait(lambda: [job["status"] for job in self.jobs(key)[-1:]] == [status], f"{key} to be {status}")
        return self.jobs(key)[-1]

    def output(self, key: str, name: str) -> str:
        """A transcript of a key."""
        where = {"Bucket": self.name("OutputBucket"), "Key": f"transcripts/{key}.{name}"}
        body: bytes = self.stack.client("s3").get_object(**where)["Body"].read()
        return body.decode()

    def told(self, key: str) -> list[str]:
        """Kinds of the events about a key so far."""
        return [one["detail-type"] for one in self.heard if one["detail"]["key"] == key]

    def waiting(self, queue: str) -> int:
        """Messages in a queue of the template, those in work included."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        answer = self.stack.client("sqs").get_queue_attributes(QueueUrl=self.name(queue), AttributeNames=names)
        return sum(int(count) for count in answer["Attributes"].values())

    def settle(self) -> None:
        """Waits until every message has been dealt with."""
        queues = ("RecordingsQueueUrl", "ConversionsQueueUrl")
        self.wait(lambda: not any(self.waiting(queue) for queue in queues), "the queues to be empty")

    def wait(self, done: Callable[[], bool], what: str) -> None:
        """Listens to the bus until something is so."""
        for look in range(SOON + PATIENCE):
            if done():
                self._listen(0)
                return
            self._listen(int(look >= SOON))
        raise AssertionError(f"waited in vain for {what}; the log ends:\n{self.stack.log()[-3000:]}")

    def dead_letters(self) -> list[str]:
        """Takes all dead letters away: their bodies."""
        return [message["Body"] for message in self._receive(self.name("FailuresQueueUrl"), 0)]

    @contextmanager
    def variables(self, **changed: str) -> Iterator[None]:
        """The transcribe function with some variables of its environment changed for a while."""
        client, name = self.stack.client("lambda"), self.name("TranscribeFunction")
        kept = client.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
        client.update_function_configuration(FunctionName=name, Environment={"Variables": kept | changed})
        try:
            yield
        finally:
            client.update_function_configuration(FunctionName=name, Environment={"Variables": kept})

    def _listen(self, wait_s: int) -> None:
        self.heard += [json.loads(message["Body"]) for message in self._receive(self.ears, wait_s)]

    def _receive(self, queue_url: str, wait_s: int) -> list[dict[str, Any]]:
        sqs, found = self.stack.client("sqs"), []
        while some := sqs.receive_message(
            QueueUrl=queue_url, MaxNumberOfMessages=10, WaitTimeSeconds=0 if found else wait_s
        ).get("Messages"):
            for message in some:
                sqs.delete_message(QueueUrl=queue_url, ReceiptHandle=message["ReceiptHandle"])
            found += some
        return found
