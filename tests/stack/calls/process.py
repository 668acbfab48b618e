"""The worker as a container runs it: functions/live_worker/app.py in a process of its own, and what it publishes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cloud.calls import intake
from cloud.clients import client

from local.calls.resources import BUCKET, QUEUE, STREAM, TABLE, WATCHERS

ROOT = Path(__file__).resolve().parents[3]
SPEECH, CLOUD = ROOT / "layers" / "speech" / "python", ROOT / "layers" / "cloud" / "python"


def environment(folder: Path, **changed: str) -> dict[str, str]:
    """Variables of a worker in the embedded AWS, with those of this process that name its services."""
    return (
        os.environ
        | {
            "PYTHONPATH": f"{SPEECH}{os.pathsep}{CLOUD}",
            "POWERTOOLS_SERVICE_NAME": "test-live-worker",
            "POWERTOOLS_METRICS_NAMESPACE": "Undertone",
            "POWERTOOLS_LOG_LEVEL": "INFO",
            "MODELS_DIR": str(ROOT / "tests" / "tiny"),
            "ASR_BUNDLE": "tones",
            "CALL_TABLE": TABLE,
            "CALLS_QUEUE_URL": queue_url(),
            "CALL_RETENTION_DAYS": "7",
            "OUTPUT_BUCKET": BUCKET,
            "OUTPUT_PREFIX": "transcripts/",
            "WORK_PREFIX": "work/",
            "FORMATS": "json,srt,vtt,txt",
            "TRANSCRIPT_STREAM": STREAM,
            "EVENT_BUS": "default",
            "WATCHER_TABLE": WATCHERS,
            "CONNECTIONS_URL": os.environ["AWS_ENDPOINT_URL"],
            "MOST_CALLS": "10",
            "LEASE_S": "60",  # no machine is so slow that a worker loses its calls
            "CHECKPOINT_S": "1",
            "CALL_IDLE_S": "600",  # nor that a call without sound is over before all workers have started
            "CALL_RECORDING": "none",
            "HEARTBEAT_FILE": str(folder / "heartbeat"),
            "TTS_BUNDLE": "hum",
            "RESPONDER": "none",
            "RESPONDER_ADDRESS": "none",
            "RESPONDER_MODEL": "none",
            "RESPONDER_SECRET": "none",
            "RESPONDER_PROMPT": "none",
            "RESPONDER_OPTIONS": "{}",
            "REPLY_STREAM": "none",
            "REPLY_ENCODING": "pcm_mulaw",
            "REPLY_VOICE": "none",
            "REPLY_FALLBACK": "Sorry.",
            "REPLY_FIRST_TEXT_S": "60",
            "REPLY_BETWEEN_S": "60",
            "BARGE_IN_WORDS": "1",
        }
        | changed
    )


def queue_url() -> str:
    """Of the calls queue."""
    return str(client("sqs").get_queue_url(QueueName=QUEUE)["QueueUrl"])


def send(call_id: str) -> None:
    """A message about a call."""
    client("sqs").send_message(QueueUrl=queue_url(), MessageBody=intake.body(call_id))


@contextmanager
def worker(folder: Path, **changed: str) -> Iterator[subprocess.Popen[str]]:
    """A worker; its lines are on `stdout`. It is killed at the end where it still runs."""
    command = [sys.executable, str(ROOT / "functions" / "live_worker" / "app.py")]
    with subprocess.Popen(command, env=environment(folder, **changed), stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def until(process: subprocess.Popen[str], text: str) -> dict[str, Any]:
    """Read on to the line that has a text."""
    assert process.stdout is not None
    for line in process.stdout:
        if text in line:
            return dict(json.loads(line))
    raise AssertionError(f"the worker ended without {text!r}")


class Events:
    """What the transcript stream says of a call from now on; call it to read on."""

    def __init__(self, call_id: str) -> None:
        self._call = call_id
        self._kinesis = client("kinesis")
        [shard] = self._kinesis.list_shards(StreamName=STREAM)["Shards"]
        where = {"StreamName": STREAM, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
        self._iterator = self._kinesis.get_shard_iterator(**where)["ShardIterator"]
        self.all: list[dict[str, Any]] = []

    def until(self, kind: str, most: int = 3000) -> dict[str, Any]:
        """Read on to an event of a kind; a look takes some hundredths of a second."""
        for _ in range(most):
            answer = self._kinesis.get_records(ShardIterator=self._iterator)
            self._iterator = answer["NextShardIterator"]
            found = [json.loads(record["Data"]) for record in answer["Records"]]
            ours = [event for event in found if event["call"] == self._call]
            self.all += ours
            if first := next((event for event in ours if event["type"] == kind), None):
                return first
        raise AssertionError(f"no {kind} of call {self._call} among {[event['type'] for event in self.all]}")
