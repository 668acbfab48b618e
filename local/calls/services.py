"""The services of one call: the embedded AWS and the endpoint of Kinesis Video Streams, for as long as it takes."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

CALL = "call"  # name of the call and of its stream
REPLIES = "replies"  # name of the stream that is spoken into


@contextmanager
def services() -> Iterator[Path]:
    """The embedded AWS and the endpoint of Kinesis Video Streams, in the environment, with a call in them.

    A folder that lasts as long.
    """
    import boto3
    from cloud.calls.call import Call
    from cloud.calls.leases import LeaseTable
    from cloud.video.getmedia import Start

    from local import emulator
    from local.calls import resources
    from local.kvs.background import Background
    from local.kvs.settings import Settings

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        process = emulator.start(port := emulator.choose_port(0), folder)
        stack.callback(emulator.stop, process.pid)
        kvs = stack.enter_context(Background(folder / "kvs", Settings()))
        found = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ENDPOINT_URL_KINESIS_VIDEO": kvs.url,
            "AWS_CA_BUNDLE": kvs.ca,
            "AWS_DEFAULT_REGION": emulator.REGION,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
        }
        stack.callback(forget)
        stack.callback(restore(found))
        forget()
        resources.create(found["AWS_ENDPOINT_URL"])
        for name in (CALL, REPLIES):
            boto3.client("kinesisvideo").create_stream(StreamName=name, DataRetentionInHours=24)
        LeaseTable(resources.TABLE, 1.0).add(Call(CALL, CALL, Start("EARLIEST"), contact_id=CALL), 0.0)
        yield folder


def holder() -> int | None:
    """Process id of the worker that has the call, once one has."""
    from cloud.calls.leases import LeaseTable

    from local.calls import resources

    owner = LeaseTable(resources.TABLE, 0.0).read(CALL).get("owner")
    return int(owner.rpartition(":")[2]) if owner else None


def heard_s() -> float:
    """How far the call was heard at its last checkpoint, in its seconds; its end may have no words to tell of."""
    from botocore.exceptions import ClientError
    from cloud import storage
    from cloud.calls.checkpoint import Checkpoint
    from cloud.calls.leases import LeaseTable

    from local.calls import resources

    key = LeaseTable(resources.TABLE, 0.0).read(CALL).get("checkpoint")
    if not key:
        return 0.0
    try:
        saved = Checkpoint.from_bytes(storage.read_bytes(resources.BUCKET, key))
    except ClientError:
        return 0.0  # there is a later one by now
    return min((track.end_ms or 0.0 for track in saved.tracks.values()), default=0.0) / 1000


class Events:
    """What workers publish in the transcript stream, from its beginning."""

    def __init__(self) -> None:
        from cloud.clients import client

        from local.calls import resources

        self._kinesis = client("kinesis")
        [shard] = self._kinesis.list_shards(StreamName=resources.STREAM)["Shards"]
        where = {"ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
        self._iterator = self._kinesis.get_shard_iterator(StreamName=resources.STREAM, **where)["ShardIterator"]

    def new(self) -> list[dict[str, Any]]:
        """Those that have come since the last look."""
        answer = self._kinesis.get_records(ShardIterator=self._iterator)
        self._iterator = answer["NextShardIterator"]
        return [json.loads(record["Data"]) for record in answer["Records"]]


def read_json(uri: str) -> Any:
    """An object that a worker has written, by its address."""
    from cloud import storage

    bucket, _, key = uri.removeprefix("s3://").partition("/")
    return json.loads(storage.read_bytes(bucket, key))


def forget() -> None:
    """Drop clients that were made for other services, or for these when they end."""
    from cloud import clients
    from cloud.video import endpoints

    clients.client.cache_clear()
    clients.credentials.cache_clear()
    endpoints.forget()


def restore(found: dict[str, str]) -> Callable[[], None]:
    """Set variables; what is given back undoes it."""
    before = dict(os.environ)
    os.environ.update(found)

    def undo() -> None:
        for name in found:
            os.environ.pop(name)
        os.environ.update(before)

    return undo
