"""Calls are heard of by a contact flow, by events and by plain requests; each becomes one message, however often."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest
from cloud.calls.call import Call
from cloud.calls.starts import BadStart, Begun, parse, plain
from cloud.jobs import from_attribute
from cloud.video.getmedia import Start

from tests.functions.fake_aws import FakeAws
from tests.functions.situations import ROOT, Context, Load, load_event

VARIABLES = {
    "CALL_TABLE": "calls",
    "CALLS_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/1/calls",
    "CALL_RETENTION_DAYS": "30",
}
CONTACT, CHIME = "4a573372-1f28-4e26-b97b-5f3d2c1b0a99", "ec97a8ff-3f83-4de2-8d73-d988070f6af4"


@pytest.fixture
def app(load: Load) -> ModuleType:
    return load("call_start", **VARIABLES)


def told(app: ModuleType, case: str) -> dict[str, str]:
    answer: dict[str, str] = app.handler(load_event(case, "call_start"), Context())
    assert all(isinstance(value, str) for value in answer.values())  # a contact flow takes nothing else
    return answer


def call(aws: FakeAws, call_id: str) -> Call:
    return Call.from_json(from_attribute(aws.dynamodb.items[call_id]["call"]))


@pytest.mark.parametrize("case", ["connect_inbound", "connect_outbound"])
def test_a_contact_flow_starts_a_call_where_its_audio_begins(app: ModuleType, aws: FakeAws, case: str) -> None:
    assert told(app, case) == {"call": CONTACT, "status": "started"}
    started = call(aws, CONTACT)
    assert started.stream.endswith(":stream/undertone-connect-contact-8c0a5a0e/1700000000000")
    assert started.start == Start("PRODUCER_TIMESTAMP", timestamp_s=1_700_000_000.25)
    assert started.contact_id == CONTACT
    assert [(queue, json.loads(body)) for queue, body in aws.sqs.sent] == [("calls", {"call": CONTACT})]


def test_the_same_news_again_changes_nothing(app: ModuleType, aws: FakeAws) -> None:
    told(app, "connect_inbound")
    before = dict(aws.dynamodb.items[CONTACT])
    assert told(app, "connect_inbound") == {"call": CONTACT, "status": "known"}
    assert aws.dynamodb.items[CONTACT] == before
    assert len(aws.sqs.sent) == 1


def test_a_flow_that_streams_no_media_is_told_so(app: ModuleType, aws: FakeAws) -> None:
    with pytest.raises(BadStart, match=r"MediaStreams.Customer.Audio: the flow must start media streaming before"):
        told(app, "connect_without_streaming")
    assert not aws.dynamodb.items


@pytest.mark.parametrize("order", [("caller", "callee"), ("callee", "caller")])
def test_the_two_sides_of_a_chime_call_are_one_call(app: ModuleType, aws: FakeAws, order: tuple[str, str]) -> None:
    first, second = (f"chime_{side}_started" for side in order)
    assert told(app, first) == {"call": CHIME, "status": "started"}
    assert told(app, second) == {"call": CHIME, "status": "joined"}
    assert told(app, second) == {"call": CHIME, "status": "joined"}
    assert told(app, first) == {"call": CHIME, "status": "known"}
    legs = call(aws, CHIME).legs
    assert [leg.stream.split("/")[1].rpartition("-")[2] for leg in legs] == list(order)
    assert {leg.speaker for leg in legs} == {"customer", "agent"}
    starts = {leg.speaker: leg.start.timestamp_s for leg in legs}
    assert starts == {"customer": 1_700_000_000.25, "agent": 1_700_000_000.31}
    assert {leg.mime_type for leg in legs} == {"audio/L16"}
    assert len(aws.sqs.sent) == 1


def test_who_is_called_is_the_customer_on_the_way_out(app: ModuleType, aws: FakeAws) -> None:
    told(app, "chime_outbound_started")
    assert call(aws, CHIME).speaker == "agent"


def test_the_end_of_a_side_is_noted_for_the_worker(app: ModuleType, aws: FakeAws) -> None:
    told(app, "chime_caller_started")
    told(app, "chime_callee_started")
    assert told(app, "chime_caller_ended") == {"call": CHIME, "status": "ended"}
    assert [leg.last for leg in call(aws, CHIME).legs] == ["91343852333181437344442219794598596340754947999", None]
    assert len(aws.sqs.sent) == 1


def test_the_end_of_a_contact_is_noted_for_the_worker(app: ModuleType, aws: FakeAws) -> None:
    assert told(app, "connect_disconnected") == {"call": CONTACT, "status": "ignored"}  # it was none of ours
    told(app, "connect_inbound")
    assert told(app, "connect_disconnected") == {"call": CONTACT, "status": "ended"}
    assert call(aws, CONTACT).last == ""


def test_what_chime_could_not_stream_is_no_call(app: ModuleType, aws: FakeAws) -> None:
    assert told(app, "chime_failed") == {"call": "", "status": "ignored"}
    assert not aws.dynamodb.items


def test_a_plain_request_starts_a_call(app: ModuleType, aws: FakeAws) -> None:
    answer = told(app, "request")
    assert answer["status"] == "started"
    assert call(aws, answer["call"]) == Call(answer["call"], "front-desk", Start("NOW"))
    assert told(app, "request")["call"] != answer["call"]  # without an id, two requests are two calls
    assert told(app, "request_with_everything") == {"call": "order-4711", "status": "started"}
    assert told(app, "request_with_everything") == {"call": "order-4711", "status": "known"}
    assert call(aws, "order-4711").start == Start("PRODUCER_TIMESTAMP", timestamp_s=1_700_000_000.25)


@pytest.mark.parametrize(
    ("case", "text"),
    [
        ("request_without_stream", "stream must be the name or ARN of a video stream; got None"),
        ("request_with_unknown_field", "unknown field 'begin': expected stream, id, start, contact_id, mime_type"),
        ("unknown_event", "detail-type 'Scheduled Event': expected 'Chime VoiceConnector Streaming Status' or"),
    ],
)
def test_what_names_no_call_is_refused_by_name(app: ModuleType, aws: FakeAws, case: str, text: str) -> None:
    with pytest.raises(BadStart) as refused:
        told(app, case)
    assert text in str(refused.value)
    assert not aws.dynamodb.items
    assert not aws.sqs.sent


@pytest.mark.parametrize(
    "changed",
    [
        {"stream": "no stream!"},
        {"stream": "arn:aws:s3:::bucket"},
        {"id": "a/b"},
        {"id": ""},
        {"start": "yesterday"},
        {"start": {"timestamp_s": -1}},
        {"start": {"timestamp_s": 1e12}},  # milliseconds
        {"start": {"timestamp_s": 1.0, "fragment": "1"}},
        {"start": {"fragment": "first"}},
        {"contact_id": 7},
    ],
)
def test_each_field_of_a_request_is_looked_at(changed: dict[str, Any]) -> None:
    [field] = changed
    with pytest.raises(BadStart, match=rf"^{field} must be"):
        plain({"stream": "front-desk"} | changed)


@pytest.mark.parametrize(
    ("given", "start"),
    [("now", Start("NOW")), ("earliest", Start("EARLIEST")), ({"fragment": "7"}, Start("FRAGMENT_NUMBER", "7"))],
)
def test_where_to_begin(given: Any, start: Start) -> None:
    assert plain({"stream": "s", "start": given}).start == start


@pytest.mark.parametrize("field", ["transactionId", "streamArn", "startTime", "streamingStatus"])
def test_an_event_that_lacks_something_says_what(field: str) -> None:
    event = load_event("chime_caller_started", "call_start")
    del event["detail"][field]
    with pytest.raises(BadStart, match=field):
        parse(event)


def test_every_situation_is_used_here() -> None:
    text = (ROOT / "tests" / "functions" / "test_call_start.py").read_text()
    cases = {path.stem for path in (ROOT / "events" / "call_start").glob("*.json")}
    sides = {"chime_caller_started", "chime_callee_started"}
    assert {case for case in cases - sides if f'"{case}"' not in text} == set()
    assert all(isinstance(parse(load_event(case, "call_start")), Begun) for case in sides)
