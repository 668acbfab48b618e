"""Damage: what is lost, where reading goes on, what the limits say; never an exception."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from speech.media.events import Block, Damage, DocumentStart, Event, FragmentEnd, FragmentStart, Tags, Track
from speech.media.kvs import CallReader
from speech.media.limits import Limits
from speech.media.parser import Parser

from tests.unit.media import mkv
from tests.unit.media.mkv import block, document
from tests.unit.media.test_parser import in_document, only

STREAM = b"".join(
    document(
        n,
        200 * n,
        [block(bytes([n, m]) * 20, 20 * m, 1 + m % 2) for m in range(4)],
        {"ContactId": "one", "MimeType": "audio/L16;rate=8000;channels=1;"},
        (mkv.track(1, b"AUDIO_FROM_CUSTOMER"), mkv.track(2, b"AUDIO_TO_CUSTOMER")),
    )
    for n in range(4)
)


def damage(events: list[Event]) -> Damage:
    (found,) = only(events, Damage)
    return found


def test_rubbish_before_the_first_document_is_skipped() -> None:
    events = mkv.parse(b"HTTP/1.1 200 OK\r\n\r\n" + document(1, 0, [block(b"a")]))
    assert (damage(events).offset, damage(events).skipped) == (0, 19)
    assert len(only(events, Block)) == 1


def test_reading_goes_on_at_the_next_document() -> None:
    first = document(1, 0, [block(b"a"), block(b"b", 20)])
    broken = first[: first.index(block(b"b", 20))] + b"\0\0\0rubbish"
    events = mkv.parse(broken + document(2, 1000, [block(b"c")]))
    assert [found.data for found in only(events, Block)] == [b"a", b"c"]
    assert damage(events).skipped == 10
    assert "byte 0x00 where an element's ID was expected" in damage(events).reason
    assert [end.complete for end in only(events, FragmentEnd)] == [False, True]


def test_reading_goes_on_at_the_next_cluster_of_a_document_with_known_tracks() -> None:
    bad, good = mkv.cluster(0, block(b"a"), b"\0\0\0"), mkv.cluster(1000, block(b"b"))
    events = mkv.parse(in_document(bad, good))
    assert [found.data for found in only(events, Block)] == [b"a", b"b"]
    assert damage(events).skipped == 3


def test_a_cluster_found_after_damage_does_not_get_the_number_of_an_earlier_fragment() -> None:
    told = mkv.aws(FRAGMENT_NUMBER="1", PRODUCER_TIMESTAMP="5")
    events = mkv.parse(in_document(told, b"\0\0", mkv.cluster(1000, block(b"b"))))
    assert [start.info.number for start in only(events, FragmentStart)] == ["1", None]


def test_a_cluster_without_known_tracks_is_no_place_to_go_on() -> None:
    events = mkv.parse(b"\0" + mkv.cluster(0, block(b"a")) + document(2, 0, [block(b"b")]))
    assert [found.data for found in only(events, Block)] == [b"b"]


def test_an_id_within_audio_is_not_taken_for_a_document() -> None:
    audio = bytes.fromhex("1a45dfa3") + b"\xa3\x10\x20" + bytes.fromhex("1f43b675") + b"\xff\x00"
    events = mkv.parse(in_document(mkv.cluster(0, b"\0", audio)) + document(2, 0, [block(b"b")]))
    assert [type(event) for event in events].count(DocumentStart) == 2
    assert damage(events).skipped == 1 + len(audio)


def test_how_much_is_lost_can_be_asked_while_it_is_searched() -> None:
    parser = Parser()
    assert parser.receive(in_document(b"\0" * 500)) != []
    assert 490 < parser.lost_bytes <= 500
    parser.receive(document(1, 0))
    assert parser.lost_bytes == 0


def test_a_document_inside_a_cluster_of_known_size_is_not_swallowed() -> None:
    stated = bytes.fromhex(mkv.CLUSTER) + mkv.size(5000) + mkv.el("e7", b"\0") + block(b"a")
    events = mkv.parse(in_document(stated) + document(2, 0, [block(b"b")]))
    assert [found.data for found in only(events, Block)] == [b"a", b"b"]
    assert damage(events).skipped == 0
    assert re.fullmatch(r"Ebml begins \d{4} bytes before the end that its parent stated", damage(events).reason)


def test_a_size_that_was_damaged_does_not_swallow_the_next_documents() -> None:
    whole = document(1, 0, [block(b"a" * 50), block(b"b" * 50, 20)])
    second = block(b"b" * 50, 20)
    swallowing = whole.replace(second, b"\xa3\x23\xff\xff" + second[2:])
    parser = Parser()
    events = parser.receive(swallowing + document(2, 1000, [block(b"c")]))
    assert [found.data[:1] for found in only(events, Block)] == [b"a", b"c"]
    assert "SimpleBlock claims 262143 bytes, but" in damage(events).reason
    assert "in, Ebml begins" in damage(events).reason


def test_a_child_larger_than_its_parent_is_damage() -> None:
    stated = bytes.fromhex(mkv.CLUSTER) + mkv.size(10) + mkv.el("e7", b"\0") + block(b"a" * 50)
    reason = damage(mkv.parse(in_document(stated))).reason
    assert reason == "SimpleBlock of 54 bytes reaches 49 bytes beyond its parent's end"


@pytest.mark.parametrize(
    ("limits", "content", "reason"),
    [
        (
            Limits(block_bytes=100),
            mkv.cluster(0, block(b"a" * 97)),
            "SimpleBlock of 101 bytes, at most 100 are allowed",
        ),
        (Limits(element_bytes=300), mkv.el("ec", b"a" * 301), "Void of 301 bytes, at most 300 are allowed"),
        (Limits(tag_bytes=20), mkv.tags({"k": "v" * 21}), "TagString of 21 bytes, at most 20 are allowed"),
        (Limits(tags=3), mkv.tags(dict.fromkeys("abcd", "")), "more than 3 tags in one Tags element"),
        (
            Limits(tags=3),
            mkv.tags({"a": "", "b": ""}) + mkv.tags({"c": "", "d": ""}),
            "4 tags in one fragment, at most 3",
        ),
        (Limits(tracks=2), mkv.tracks(*(mkv.track(n) for n in (1, 2, 3))), "more than 2 tracks"),
        (Limits(tracks=2), b"".join(mkv.tracks(mkv.track(n)) for n in (2, 3)), "more than 2 tracks"),
    ],
)
def test_limits_say_both_numbers(limits: Limits, content: bytes, reason: str) -> None:
    events = mkv.parse(in_document(content), parser=Parser(limits))
    assert reason in damage(events).reason


def test_tags_nested_too_deep_are_damage() -> None:
    tag = mkv.el("67c8", mkv.el("45a3", b"n"), mkv.el("4487", b"v"))
    for _ in range(3):
        tag = mkv.el("67c8", mkv.el("45a3", b"n"), tag)
    data = in_document(mkv.el("1254c367", mkv.el("7373", tag)))
    assert "nested more than 3 deep" in damage(mkv.parse(data, parser=Parser(Limits(depth=3)))).reason
    assert only(mkv.parse(data, parser=Parser(Limits(depth=4))), Tags) == [Tags({"n/n/n/n": "v"})]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (in_document(block(b"a")), "SimpleBlock outside a Cluster"),
        (
            in_document(mkv.cluster(0, b"").replace(mkv.el("e7", bytes(8)), b""), block(b"a")),
            "before its Cluster's Timecode",
        ),
        (in_document(mkv.cluster(0, mkv.el("e7", b"\1"))), "a second Timecode"),
        (in_document(mkv.open_el("1254c367")), "Tags of unknown size"),
        (in_document(scale=0), "TimecodeScale is 0"),
        (in_document(mkv.el("1654ae6b", mkv.el("ae", mkv.el("86", b"A")))), "without a TrackNumber"),
        (
            in_document(mkv.el("1654ae6b", mkv.el("ae", b"\xd7\x85\1"))),
            "TrackNumber claims 5 bytes, TrackEntry holds 1",
        ),
        (in_document(mkv.el("1654ae6b", mkv.el("ae", b"\xd7"))), "TrackEntry ends inside the head of an element"),
        (in_document(mkv.cluster(0, mkv.el("a3", b"\x81\0"))), "a block of 2 bytes is too short"),
        (mkv.ebml(b"mp4") + mkv.open_el(mkv.SEGMENT), "'mp4', expected 'matroska' or 'webm'"),
        (mkv.el(mkv.EBML_ID, mkv.el("42f3", b"\x09")), "EbmlMaxSizeLength is 9, at most 8"),
        (mkv.el(mkv.EBML_ID, b"a" * 5000), "Ebml of 5000 bytes, at most 4096"),
        (mkv.ebml() + mkv.cluster(0), "Cluster outside a Segment"),
        (mkv.ebml() + b"\xec\x00", "byte 0x00 where an element's size was expected"),
    ],
)
def test_every_damage_has_its_reason(data: bytes, reason: str) -> None:
    assert reason in damage(mkv.parse(data)).reason


def test_what_was_read_of_damaged_tags_and_tracks_counts() -> None:
    broken_tags = mkv.el("1254c367", mkv.el("7373", mkv.el("67c8", mkv.el("45a3", b"k"), mkv.el("4487", b"v"))), b"\0")
    broken_tracks = mkv.el("1654ae6b", mkv.track(1), b"\0")
    events = mkv.parse(mkv.ebml() + mkv.open_el(mkv.SEGMENT) + broken_tracks + broken_tags)
    assert only(events, Tags) == [Tags({"k": "v"})]
    assert [found.number for found in only(events, Track)] == [1]
    assert len(only(events, Damage)) == 2


def mutated(data: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
    """`data` with, at each place, some bytes replaced."""
    out = bytearray(data)
    for place, gone, new in changes:
        at = place % (len(out) + 1)
        out[at : at + gone] = new
    return bytes(out)


changes = st.lists(st.tuples(st.integers(0, len(STREAM)), st.integers(0, 40), st.binary(max_size=12)), max_size=6)
cuts = st.lists(st.integers(0, len(STREAM)), max_size=12)


@given(st.lists(st.integers(0, len(STREAM)), max_size=30))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_any_cut_gives_the_same_events(places: list[int]) -> None:
    assert mkv.parse(STREAM, places) == mkv.parse(STREAM)


def test_byte_by_byte_gives_the_same_events() -> None:
    assert mkv.parse(STREAM, range(len(STREAM))) == mkv.parse(STREAM)


@given(changes, cuts)
@settings(max_examples=100, deadline=None, derandomize=True)
@example([(200, 1, b"\0")], [210])
def test_damaged_streams_give_the_same_events_at_any_cut_and_raise_nothing(
    edits: list[tuple[int, int, bytes]], places: list[int]
) -> None:
    data = mutated(STREAM, edits)
    events = mkv.parse(data)
    assert mkv.parse(data, [place for place in places if place <= len(data)]) == events
    assert all(0 <= found.offset <= len(data) and 0 <= found.skipped <= len(data) for found in only(events, Damage))
    assert len(only(events, FragmentStart)) == len(only(events, FragmentEnd))
    reader = CallReader()
    reader.receive(data)
    reader.finish()


@given(st.binary(max_size=600))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_random_bytes_inside_a_cluster(data: bytes) -> None:
    stream = in_document(mkv.cluster(0, data)) + document(9, 0, [block(b"last")])
    assert mkv.parse(stream, range(0, len(stream), 7)) == mkv.parse(stream)


def test_one_changed_byte_never_costs_more_than_two_fragments() -> None:
    """Also not where it makes a size larger than all that follows."""
    later = {bytes([n, m]) * 20 for n in (2, 3) for m in range(4)}
    for place in range(0, len(STREAM) // 4, 3):
        data = mutated(STREAM, [(place, 1, bytes([STREAM[place] ^ 0x81]))])
        assert later <= {found.data for found in only(mkv.parse(data), Block)}, place
