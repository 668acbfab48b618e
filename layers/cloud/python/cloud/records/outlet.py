"""Where results go: all of them to a Kinesis stream, those that others may want to act on to the event bus as well."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cloud.clients import client
from cloud.notices import NotDelivered

SOURCE = "undertone.records"
EVENTS = {"final": "Utterance Transcribed", "done": "Stream Ended", "gap": "Audio Missing", "error": "Record Refused"}
ATTEMPTS = 3
MOST_RECORDS, MOST_EVENTS = 500, 10  # that the services take at a time


@dataclass(frozen=True, slots=True)
class Outlet:
    """A transcript stream and an event bus."""

    stream: str
    bus: str

    def send(self, results: Sequence[dict[str, Any]]) -> None:
        """Sends results of one live stream, which is their partition key. Raises NotDelivered; then send them again.

        A result that was sent twice has the same `session` and `number`, and so can be told from a new one.
        """
        records = [
            {"PartitionKey": result["stream"], "Data": json.dumps(result, ensure_ascii=False).encode()}
            for result in results
        ]
        for at in range(0, len(records), MOST_RECORDS):
            self._put(records[at : at + MOST_RECORDS])
        events = [result for result in results if result["type"] in EVENTS]
        for at in range(0, len(events), MOST_EVENTS):
            self._announce(events[at : at + MOST_EVENTS])

    def _put(self, records: list[dict[str, Any]]) -> None:
        for _ in range(ATTEMPTS):
            answer = client("kinesis").put_records(StreamName=self.stream, Records=records)
            if not answer["FailedRecordCount"]:
                return
            records = [r for r, told in zip(records, answer["Records"], strict=True) if told.get("ErrorCode")]
        raise NotDelivered(f"{len(records)} results were not taken: {answer['Records'][0].get('ErrorCode')}")

    def _announce(self, results: list[dict[str, Any]]) -> None:
        entries = [
            {
                "EventBusName": self.bus,
                "Source": SOURCE,
                "DetailType": EVENTS[result["type"]],
                "Detail": json.dumps(result, ensure_ascii=False),
            }
            for result in results
        ]
        answer = client("events").put_events(Entries=entries)
        if answer["FailedEntryCount"]:
            raise NotDelivered(f"{answer['FailedEntryCount']} events were not taken")
