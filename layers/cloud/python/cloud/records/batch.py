"""A batch of a shard: its records by stream, each stream on from where it stood, and what has to come again.

State, results and sequence number are written together, then the results are sent, then it is noted that they were.
A crash between any two of these makes Kinesis give the batch again, and each step is done once all the same.
"""

from __future__ import annotations

from base64 import b64decode
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.metrics import MetricUnit

from cloud.observability import logger, metrics
from cloud.records.outlet import Outlet
from cloud.records.stream import Record, Stream, after, rested
from cloud.records.table import RecordTable

if TYPE_CHECKING:
    from speech.asr.recognizer import Recognizer

IDLE_S = 300  # without a record


@dataclass(frozen=True, slots=True)
class Batches:
    """Works on batches."""

    recognizer: Recognizer
    table: RecordTable
    outlet: Outlet

    def work(self, event: dict[str, Any], now_s: float) -> list[str]:
        """Works on a Lambda event; the sequence numbers from which on a stream has to come again."""
        streams: dict[str, list[Record]] = defaultdict(list)
        for item in event["Records"]:
            kinesis = item["kinesis"]
            record = Record(int(kinesis["sequenceNumber"]), b64decode(kinesis["data"]))
            streams[kinesis["partitionKey"]].append(record)
        metrics.add_metric("Records", MetricUnit.Count, len(event["Records"]))
        failed = []
        for name, records in streams.items():
            try:
                self._stream(name, records, now_s)
            except Exception:
                logger.exception("the records of a stream come again", extra={"stream": name})
                failed.append(str(records[0].sequence))
        return failed

    def sweep(self, now_s: float) -> int:
        """Makes final what producers left open that have paused or are gone; how many streams those were.

        A batch that comes meanwhile finds its stream written, and comes again.
        """
        names = list(self.table.idle(now_s - IDLE_S))
        for name in names:
            stream = self.table.read(name)
            self._send_if_in_doubt(stream, now_s)
            stream = rested(stream, self.recognizer)
            self.table.write(stream, now_s)
            self._send(stream, now_s)
        metrics.add_metric("Rested", MetricUnit.Count, len(names))
        return len(names)

    def _stream(self, name: str, records: list[Record], now_s: float) -> None:
        stream = self.table.read(name)
        if any(stream.taken_from <= record.sequence <= stream.taken for record in records):
            metrics.add_metric("Repeats", MetricUnit.Count, 1)
            self._send_if_in_doubt(stream, now_s)
        left = [record for record in records if record.sequence > stream.taken]
        while left:
            stream, left = after(stream, left, self.recognizer)
            self.table.write(stream, now_s)
            self._send(stream, now_s)

    def _send_if_in_doubt(self, stream: Stream, now_s: float) -> None:
        """Whoever took the last records may have died before their results were sent."""
        if stream.results and self.table.sent(stream.name) < stream.revision:
            self._send(stream, now_s)

    def _send(self, stream: Stream, now_s: float) -> None:
        if stream.results:
            self.outlet.send(stream.results)
            self.table.note_sent(stream, now_s)
