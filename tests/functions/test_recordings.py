"""Messages and what they say: the events of S3 in both shapes, identities and order."""

from __future__ import annotations

import pytest
from cloud.recordings import Recording, UnknownMessage, handover, pad_sequencer, parse_message
from hypothesis import given
from hypothesis import strategies as st

from tests.functions.situations import BUCKET, ETAG, load_event

TEXT = st.text(max_size=40)


def only(name: str) -> Recording:
    """The one recording of the first message of an event."""
    (found,) = parse_message(load_event(name)["Records"][0]["body"])
    return found


def test_an_event_of_eventbridge_names_a_recording() -> None:
    found = only("object_created")
    assert (found.bucket, found.key, found.etag, found.size) == (BUCKET, "calls/hello.wav", ETAG, 32044)
    assert found.uri == "s3://undertone-input/calls/hello.wav"


def test_both_roads_name_the_same_job() -> None:
    assert only("key_with_blank_plus_and_umlaut") == only("notification_with_encoded_key")
    assert only("object_created").job_id == only("continuation").job_id


def test_versions_are_jobs_of_their_own() -> None:
    assert only("versioned_object").job_id != only("object_created").job_id


def test_a_sequencer_is_compared_after_padding_on_the_right() -> None:
    assert pad_sequencer("0055AED6DCD90281E5") < pad_sequencer("0055aed6dcd90281e6")
    assert pad_sequencer("0055AED6DCD90281E5") < pad_sequencer("0055AED6DCD90281E500000000000001")
    assert pad_sequencer("0055AED6DCD90281E5") == pad_sequencer("0055AED6DCD90281E50")


@given(st.builds(Recording, TEXT, TEXT, TEXT, TEXT, TEXT, st.integers(1, 1 << 40)))
def test_a_handover_arrives_as_it_was_sent(recording: Recording) -> None:
    assert parse_message(handover(recording)) == [recording]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("", "not JSON"),
        ("[1]", "a JSON list, expected an object"),
        ('{"a": 1, "b": 2}', "it has the keys a, b"),
        ('{"source": "aws.s3", "detail-type": "Object Created", "detail": {}}', "lacks a part"),
        ('{"source": "aws.s3", "detail-type": "Object Created", "detail": []}', "lacks a part"),
        ('{"recording": {"bucket": "b"}}', "lacks a part"),
        ('{"Records": [{"eventName": "ObjectCreated:Put"}]}', "lacks a part"),
    ],
)
def test_a_foreign_message_is_refused_with_what_is_wrong(body: str, says: str) -> None:
    with pytest.raises(UnknownMessage, match=says):
        parse_message(body)
