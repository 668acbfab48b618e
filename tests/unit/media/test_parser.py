"""Every rule of the stream, one by one, on bytes made by hand."""

from __future__ import annotations

import struct

import pytest
from speech.errors import BadMedia
from speech.media.events import (
    Block,
    Damage,
    DocumentStart,
    Event,
    FragmentEnd,
    FragmentInfo,
    FragmentStart,
    ServiceError,
    Tags,
    Track,
)
from speech.media.parser import Parser

from tests.unit.media import mkv


def kinds(events: list[Event]) -> list[str]:
    return [type(event).__name__ for event in events]


def only(events: list[Event], kind: type) -> list:
    return [event for event in events if isinstance(event, kind)]


def in_document(*content: bytes, scale: int = 1_000_000, entries: tuple[bytes, ...] = ()) -> bytes:
    return mkv.ebml() + mkv.open_el(mkv.SEGMENT) + mkv.info(scale) + mkv.tracks(*entries) + b"".join(content)


def test_a_fragment_of_getmedia_in_full() -> None:
    data = mkv.document(7, 1500, [mkv.block(b"ab"), mkv.block(b"cd", 64)], {"ContactId": "c-1"})
    number = mkv.NUMBER.format(7)
    known = FragmentInfo(number, 1_600_000_001.5, 1_600_000_001.5)
    events = mkv.parse(data)
    assert kinds(events) == [
        *("DocumentStart", "Track", "Tags", "FragmentStart", "Block", "Block", "Tags", "Tags", "FragmentEnd")
    ]
    assert events[0] == DocumentStart(0, "matroska")
    assert events[1] == Track(1, "A_AAC", 8000.0, 1)
    assert events[3] == FragmentStart(known, 1500)
    assert events[4:6] == [Block(1, 1500, b"ab"), Block(1, 1564, b"cd")]
    assert events[6] == Tags({"ContactId": "c-1"})
    whole = FragmentInfo(number, 1_600_000_001.5, 1_600_000_001.5, 0, number)
    assert events[8] == FragmentEnd(whole, {"ContactId": "c-1"}, 2, True)


def test_a_block_is_out_with_its_last_byte() -> None:
    data = mkv.document(1, 0, [mkv.block(b"x" * 320)])
    end = data.index(b"x" * 320) + 320
    parser = Parser()
    assert only(parser.receive(data[: end - 1]), Block) == []
    assert parser.receive(data[end - 1 : end]) == [Block(1, 0, b"x" * 320)]


def test_a_fragment_ends_with_its_trailing_tags_and_not_only_with_the_next_document() -> None:
    assert kinds(Parser().receive(mkv.document(1, 0, [mkv.block(b"x")])))[-1] == "FragmentEnd"


def test_documents_repeat() -> None:
    events = mkv.parse(b"".join(mkv.document(n, 1000 * n, [mkv.block(bytes([n]))]) for n in range(5)))
    assert [event.data for event in only(events, Block)] == [bytes([n]) for n in range(5)]
    assert [event.info.number for event in only(events, FragmentEnd)] == [mkv.NUMBER.format(n) for n in range(5)]
    assert only(events, Damage) == []


def test_tags_without_a_cluster_are_a_fragment_without_blocks() -> None:
    events = mkv.parse(mkv.document(1, 0) + mkv.document(2, 1000, [mkv.block(b"x")]))
    assert only(events, FragmentStart)[0].timecode_ms is None
    ends = only(events, FragmentEnd)
    assert [(end.blocks, end.complete) for end in ends] == [(0, True), (1, True)]
    assert ends[0].info.continuation_token == mkv.NUMBER.format(1)


def test_putmedia_has_many_clusters_in_one_document() -> None:
    data = in_document(
        mkv.cluster(0, mkv.block(b"a")),
        mkv.tags({"k": "1"}),
        mkv.cluster(1000, mkv.block(b"b")),
        mkv.tags({"k": "2"}),
        mkv.aws(END_OF_FRAGMENT=""),
        mkv.cluster(9000, mkv.block(b"c")),
    )
    ends = only(mkv.parse(data), FragmentEnd)
    assert [(end.tags, end.blocks, end.complete) for end in ends] == [
        ({"k": "1"}, 1, True),
        ({"k": "2"}, 1, True),
        ({}, 1, False),
    ]


def test_known_sizes_end_by_themselves() -> None:
    closed = mkv.el(mkv.CLUSTER, mkv.el("e7", b"\x0a"), mkv.block(b"a"), length=4)
    segment = mkv.el(mkv.SEGMENT, mkv.info(), mkv.tracks(), closed, closed, length=4)
    events = mkv.parse((mkv.ebml() + segment) * 2)
    assert [event.timecode_ms for event in only(events, Block)] == [10] * 4
    assert [end.complete for end in only(events, FragmentEnd)] == [True] * 4
    assert only(events, Damage) == []


@pytest.mark.parametrize("follower", [mkv.tags({"a": "b"}), mkv.info(), mkv.el("1c53bb6b", b"cues"), mkv.ebml()])
def test_any_element_of_a_higher_level_ends_a_cluster_of_unknown_size(follower: bytes) -> None:
    events = mkv.parse(in_document(mkv.cluster(0, mkv.block(b"a")), follower))
    assert only(events, Damage) == []
    assert len(only(events, FragmentEnd)) == 1


@pytest.mark.parametrize("unknown", [b"\xff", b"\x7f\xff", b"\x0f\xff\xff\xff\xff", mkv.UNKNOWN])
def test_all_ones_of_any_length_is_an_unknown_size(unknown: bytes) -> None:
    data = mkv.ebml() + bytes.fromhex(mkv.SEGMENT) + unknown + mkv.tracks()
    data += bytes.fromhex(mkv.CLUSTER) + unknown + mkv.el("e7", b"\5") + mkv.block(b"a")
    assert only(mkv.parse(data), Block) == [Block(1, 5, b"a")]


def test_void_crc_and_unknown_elements_are_passed_over() -> None:
    junk = mkv.el("ec", b"\0" * 50) + mkv.el("bf", b"1234") + mkv.el("4fff", b"new in Matroska 9") + mkv.el("ec")
    entry = mkv.track(1, b"name", b"A_AAC", 8000.0, junk)
    data = junk[:52] + in_document(junk, mkv.cluster(0, junk, mkv.block(b"a"), junk * 3), junk, entries=(junk, entry))
    events = mkv.parse(data)
    assert kinds(events) == ["DocumentStart", "Track", "FragmentStart", "Block", "FragmentEnd"]


def test_a_nul_behind_the_codec_id_is_no_part_of_it() -> None:
    events = mkv.parse(in_document(entries=(mkv.track(1, b"n\0", b"A_MS/ACM\0"),)))
    assert (only(events, Track)[0].codec, only(events, Track)[0].name) == ("A_MS/ACM", "n")


def test_everything_of_a_track() -> None:
    more = (mkv.el("63a2", b"private"), mkv.el("23e383", (20_000_000).to_bytes(4, "big")), mkv.el("6d80", b""))
    events = mkv.parse(in_document(entries=(mkv.track(3, b"who", b"A_X", 44100.0, *more),)))
    assert events[1] == Track(3, "A_X", 44100.0, 1, "who", b"private", "audio", 0, 20_000_000, True)


def test_two_tracks_keep_apart() -> None:
    entries = (mkv.track(1, b"AUDIO_FROM_CUSTOMER"), mkv.track(2, b"AUDIO_TO_CUSTOMER"))
    blocks = [mkv.block(bytes([n]), n * 10, 1 + n % 2) for n in range(6)]
    events = mkv.parse(mkv.document(1, 0, blocks, entries=entries))
    assert [(b.track, b.timecode_ms) for b in only(events, Block)] == [(1 + n % 2, n * 10) for n in range(6)]


@pytest.mark.parametrize(("scale", "expected"), [(1_000_000, 1005), (100_000, 101), (1_000_000_000, 1_005_000)])
def test_timecodes_are_milliseconds_whatever_the_scale(scale: int, expected: int) -> None:
    data = in_document(mkv.cluster(1000, mkv.block(b"", 5)), scale=scale)
    assert only(mkv.parse(data), Block)[0].timecode_ms == expected


def test_a_block_may_lie_before_its_cluster() -> None:
    assert only(mkv.parse(in_document(mkv.cluster(100, mkv.block(b"", -40)))), Block)[0].timecode_ms == 60


XIPH = b"\x02" + b"\xff\x2d" + b"\x03" + b"a" * 300 + b"bbb" + b"cc"
EBML = b"\x03" + b"\x41\x2c" + b"\x5f\xd3" + b"\xbf" + b"a" * 300 + b"b" * 256 + b"c" * 256 + b"d"
FIXED = b"\x02" + b"aabbcc"


@pytest.mark.parametrize(
    ("flags", "body", "expected"),
    [
        (0x82, XIPH, [b"a" * 300, b"bbb", b"cc"]),
        (0x86, EBML, [b"a" * 300, b"b" * 256, b"c" * 256, b"d"]),
        (0x84, FIXED, [b"aa", b"bb", b"cc"]),
        (0x82, b"\0one", [b"one"]),
        (0x84, b"\1", [b"", b""]),
    ],
)
def test_lacing_of_each_kind(flags: int, body: bytes, expected: list[bytes]) -> None:
    block_20ms = mkv.track(1, b"", b"A_AAC", 8000.0, mkv.el("23e383", (20_000_000).to_bytes(4, "big")))
    data = in_document(mkv.cluster(7, mkv.block(body, flags=flags)), entries=(block_20ms,))
    blocks = only(mkv.parse(data), Block)
    assert [found.data for found in blocks] == expected
    assert [(found.timecode_ms, found.lace) for found in blocks] == [(7 + 20 * n, n) for n in range(len(expected))]


@pytest.mark.parametrize(
    ("flags", "body", "reason"),
    [
        (0x84, b"\2abcd", "4 bytes with fixed lacing do not divide into 3 frames"),
        (0x82, b"\1\xff", "ends inside the sizes of its 2 frames with Xiph"),
        (0x82, b"\1\x09abc", "claims 6 bytes more than are there"),
        (0x86, b"\2\x83", "ends inside the sizes of its 3 frames with EBML"),
        (0x86, b"\2\x81\x80abc", "a size of -62 bytes"),
        (0x86, b"", "no number of frames"),
    ],
)
def test_lacing_that_cannot_be_right_loses_one_block_only(flags: int, body: bytes, reason: str) -> None:
    bad = mkv.block(body, flags=flags)
    events = mkv.parse(in_document(mkv.cluster(0, bad, mkv.block(b"good"))))
    (damage,) = only(events, Damage)
    assert reason in damage.reason
    assert damage.skipped == len(bad)
    assert only(events, Block) == [Block(1, 0, b"good")]
    assert not only(events, FragmentEnd)[0].complete


def test_block_groups() -> None:
    inner = mkv.size(1) + struct.pack(">hB", 30, 0) + b"data"
    alone = mkv.el("a0", mkv.el("a1", inner), mkv.el("9b", b"\x14"))
    needs_other = mkv.el("a0", mkv.el("fb", b"\xff"), mkv.el("a1", inner))
    events = mkv.parse(in_document(mkv.cluster(0, alone, needs_other)))
    assert only(events, Block) == [Block(1, 30, b"data", True), Block(1, 30, b"data", False)]


@pytest.mark.parametrize("content", [b"", mkv.el("a1", b"\x81\0\0\0") * 2, mkv.el("a1", b"\x81")])
def test_a_block_group_without_one_good_block_is_damage(content: bytes) -> None:
    assert len(only(mkv.parse(in_document(mkv.cluster(0, mkv.el("a0", content)))), Damage)) == 1


def test_tags_within_tags_are_named_by_their_path() -> None:
    inner = mkv.el("67c8", mkv.el("45a3", b"IN"), mkv.el("4487", b"2"))
    outer = mkv.el("67c8", mkv.el("45a3", b"OUT"), mkv.el("4487", b"1"), inner)
    data = mkv.el("1254c367", mkv.el("7373", mkv.el("63c0", b""), outer))
    assert only(mkv.parse(in_document(data)), Tags) == [Tags({"OUT": "1", "OUT/IN": "2"})]


def test_getmediaforfragmentlist_has_names_of_its_own() -> None:
    told = mkv.aws(FRAGMENT_NUMBER="12", SERVER_SIDE_TIMESTAMP="2.5", PRODUCER_SIDE_TIMESTAMP="1.25")
    events = mkv.parse(in_document(told, mkv.cluster(0, mkv.block(b"a"))))
    assert only(events, FragmentStart)[0].info == FragmentInfo("12", 2.5, 1.25)


def test_the_service_says_why_it_ends() -> None:
    events = mkv.parse(in_document(mkv.aws(ERROR_CODE="Internal error", ERROR_ID="5000")))
    assert only(events, ServiceError) == [ServiceError("Internal error", 5000, "", None)]
    assert only(events, FragmentEnd) == []


def test_a_fragment_of_a_list_can_fail_alone() -> None:
    told = mkv.aws(FRAGMENT_NUMBER="12", EXCEPTION_ERROR_CODE="4000", EXCEPTION_MESSAGE="not found")
    assert only(mkv.parse(in_document(told)), ServiceError) == [ServiceError("", 4000, "not found", "12")]


def test_a_timestamp_that_is_no_number_is_damage_and_the_fragment_goes_on() -> None:
    events = mkv.parse(in_document(mkv.aws(PRODUCER_TIMESTAMP="soon"), mkv.cluster(0, mkv.block(b"a"))))
    assert "'soon', expected a number" in only(events, Damage)[0].reason
    assert len(only(events, Block)) == 1


def test_an_input_that_ends_inside_a_block_says_so_and_ends_its_fragment() -> None:
    data = in_document(mkv.cluster(0, mkv.block(b"a"), mkv.block(b"x" * 100)))[:-30]
    events = mkv.parse(data)
    assert kinds(events)[-3:] == ["Block", "Damage", "FragmentEnd"]
    assert only(events, Damage)[0].skipped == 76
    assert not only(events, FragmentEnd)[0].complete


def test_nothing_is_taken_after_the_end() -> None:
    parser = Parser()
    assert parser.finish() == []
    assert parser.finish() == []
    with pytest.raises(BadMedia, match="after the end of the stream"):
        parser.receive(b"x")


def test_no_bytes_are_no_events() -> None:
    assert mkv.parse(b"") == []
