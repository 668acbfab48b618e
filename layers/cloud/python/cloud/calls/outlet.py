"""Where the results of calls go: a Kinesis stream, the event bus, WebSockets that watch; at the end files in S3."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from speech.text.transcript import Transcript

if TYPE_CHECKING:
    from cloud.calls.session import Session

from cloud import outputs, storage
from cloud.calls import sides, told
from cloud.calls.call import Call
from cloud.calls.courier import Courier
from cloud.calls.gallery import Gallery
from cloud.calls.recorder import Recorded, Recorder
from cloud.calls.told import COMPLETED, FAILED, STARTED, Event
from cloud.calls.watchers import Watchers
from cloud.clients import client
from cloud.live.told import Told
from cloud.notices import NotDelivered
from cloud.settings import NONE, LiveWorkerSettings, reply_stream

SOURCE = "undertone.calls"
EVENTS = {
    STARTED: "Call Started",
    "final": "Utterance Transcribed",
    "reply_end": "Reply Spoken",
    COMPLETED: "Call Completed",
    FAILED: "Call Failed",
}
MOST_RECORDS, MOST_EVENTS = 500, 10  # that the services take at a time
SETTLE_S = 5.0
FAILED_REASON = "failed"


@dataclass
class Outlet:
    """A worker's sink. Delivers in threads of its own; `settle` waits for the stream and the bus, not for watchers."""

    settings: LiveWorkerSettings
    watchers: Watchers
    clock: Callable[[], float] = time.time
    latencies_ms: list[int] = field(default_factory=list)  # of finals since somebody has looked
    _stream: Courier[Event] = field(init=False)
    _gallery: Gallery = field(init=False)
    _recorder: Recorder | None = field(init=False, default=None)
    _recorded: dict[str, Recorded] = field(init=False, default_factory=dict)  # by call

    def __post_init__(self) -> None:
        self._stream = Courier("events of calls", self._send, told.latest)
        self._gallery = Gallery(self.watchers)
        if self.settings.call_recording != NONE:
            self._recorder = Recorder(self.settings.output_bucket, self._recording_key)

    def began(self, call: Call) -> None:
        """The first worker has taken a call."""
        self._give([told.notice(call, STARTED, self.clock())])

    def tell(self, call: Call, records: list[Told]) -> None:
        """Publish records."""
        events = told.events(call, records, self.clock())
        self.latencies_ms += [event["latency_ms"] for event in events if event["type"] == "final"]
        self._give(events)

    def reply(self, call: Call, records: list[Told]) -> None:
        """Publish what is told of replies; their sound goes to watchers alone."""
        events = told.replies(call, records, self.clock())
        self._stream.give([event for event in events if event["type"] != told.SOUND])
        self._gallery.give(events)

    def greet(self, session: Session) -> None:
        """Tell those who have come to watch a call what was so far."""
        self._gallery.greet(session, self.clock())

    def recorded(self, call: Call, session: Session) -> bool:
        """Whether a call that is over is recorded, or will not be."""
        if self._recorder is None:
            return True
        found = self._recorder.outcome(call.id, lambda: sides.plan(session, self._replies(call)))
        if found is not None:
            self._recorded[call.id] = found
        return found is not None

    def forget(self, call: Call) -> None:
        """A call is over, or another worker's."""
        self._gallery.forget(call.id)
        self._recorded.pop(call.id, None)
        if self._recorder:
            self._recorder.forget(call.id)

    def ended(self, call: Call, transcript: Transcript, reason: str) -> None:
        """Write the transcript, then say that the call is over."""
        recorded = self._recorded.get(call.id, Recorded())
        transcript = replace(transcript, warnings=(*transcript.warnings, *recorded.warnings))
        uris = self._write(call, transcript)
        if recorded.address:
            uris["recording"] = recorded.address
        kind = FAILED if reason == FAILED_REASON else COMPLETED
        more = {"reason": reason, "audio_seconds": round(transcript.duration_s, 3), "outputs": uris}
        if transcript.warnings:
            more["warnings"] = list(transcript.warnings)
        self._give([told.notice(call, kind, self.clock(), **more)])
        self.settle()

    def settle(self) -> None:
        """Wait until all events are in the stream and on the bus. Raises NotDelivered."""
        self._stream.settle(SETTLE_S)

    def close(self) -> None:
        """Deliver what waits, then end the threads."""
        self._stream.close()
        self._gallery.close()
        if self._recorder:
            self._recorder.close()

    def _give(self, events: list[Event]) -> None:
        self._stream.give(events)
        self._gallery.give(events)

    def _recording_key(self, call_id: str) -> str:
        return transcript_key(self.settings.output_prefix, call_id, self.settings.call_recording)

    def _replies(self, call: Call) -> str:
        """The video stream that a call's replies go to, where they go to one."""
        settings = self.settings
        return "" if settings.responder == NONE else reply_stream(settings, call.id)

    def _write(self, call: Call, transcript: Transcript) -> dict[str, str]:
        """Transcripts by format; their addresses."""
        settings, uris = self.settings, dict[str, str]()
        account = settings.calls_queue_url.split("/")[-2]  # the only place where the environment names it
        for name in settings.formats:
            key = transcript_key(settings.output_prefix, call.id, name)
            body = outputs.render(name, transcript, call.id, account).encode()
            storage.write_bytes(settings.output_bucket, key, body, outputs.CONTENT_TYPES[name])
            uris[name] = f"s3://{settings.output_bucket}/{key}"
        return uris

    def _send(self, events: list[Event]) -> None:
        records = [{"PartitionKey": e["call"], "Data": _json(e).encode()} for e in events]
        for some in _pieces(records, MOST_RECORDS):
            answer = client("kinesis").put_records(StreamName=self.settings.transcript_stream, Records=some)
            if answer["FailedRecordCount"]:
                # All of them come again, since those of one call must stay in order; numbers tell what is old.
                raise NotDelivered(f"{answer['FailedRecordCount']} events of calls were not taken")
        entries = [self._entry(event) for event in events if event["type"] in EVENTS]
        for some in _pieces(entries, MOST_EVENTS):
            if refused := client("events").put_events(Entries=some)["FailedEntryCount"]:
                raise NotDelivered(f"the event bus did not take {refused} events of calls")

    def _entry(self, event: Event) -> dict[str, Any]:
        kind, detail = EVENTS[event["type"]], _json(event)
        return {"EventBusName": self.settings.event_bus, "Source": SOURCE, "DetailType": kind, "Detail": detail}


def transcript_key(prefix: str, call_id: str, name: str) -> str:
    """Key of a call's transcript, or of its recording, in one format."""
    return f"{prefix}calls/{call_id}.{name}"


def _json(event: Event) -> str:
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def _pieces(items: Sequence[dict[str, Any]], size: int) -> list[list[dict[str, Any]]]:
    return [list(items[at : at + size]) for at in range(0, len(items), size)]
