"""A call over several connections: every block once, in order, with its speaker, whatever is repeated or missing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.media.call_events import (
    Audio,
    AudioTrack,
    CallEvent,
    ContactChanged,
    Dropped,
    FragmentDone,
    Gap,
    Position,
)
from speech.media.events import Damage, ServiceError
from speech.media.formats import AudioFormat
from speech.media.kvs import CallReader
from speech.media.timeline import is_above

from tests.unit.media import mkv

CONNECT = (mkv.track(1, b"AUDIO_FROM_CUSTOMER"), mkv.track(2, b"AUDIO_TO_CUSTOMER"))
EPOCH_MS = 1_600_000_000_000
USER = {"ContactId": "call-1", "MimeType": "audio/L16;rate=8000;channels=1;"}


def fragment(n: int, contact: str | None = "call-1", start_ms: int | None = None, **more: object) -> bytes:
    """A second of a call: ten blocks of 100 ms, on each track in turn."""
    blocks = [mkv.block(bytes([n, m]) * 800, 100 * m, number) for m in range(10) for number in (1, 2)]
    user = USER | {"ContactId": contact} if contact else {}
    return mkv.document(n, 1000 * n if start_ms is None else start_ms, blocks, user, CONNECT, **more)  # type: ignore[arg-type]


def read(reader: CallReader, *data: bytes) -> list[CallEvent]:
    """All events of one connection."""
    return [event for part in data for event in reader.receive(part)] + reader.finish()


def heard(events: list[CallEvent], track: int = 1) -> list[tuple[int, bytes]]:
    """(ms since the first fragment's second 0, first two bytes) of a track's blocks."""
    return [(e.at_ms - EPOCH_MS, e.data[:2]) for e in events if isinstance(e, Audio) and e.track == track]


def only(events: list[CallEvent], kind: type) -> list:
    return [event for event in events if isinstance(event, kind)]


def expected(*numbers: int) -> list[tuple[int, bytes]]:
    return [(1000 * n + 100 * m, bytes([n, m])) for n in numbers for m in range(10)]


def test_both_sides_of_a_call() -> None:
    reader = CallReader()
    events = read(reader, *map(fragment, range(3)))
    assert heard(events, 1) == heard(events, 2) == expected(0, 1, 2)
    tracks = only(events, AudioTrack)
    assert [(t.speaker, t.format) for t in tracks] == [
        ("customer", AudioFormat("pcm_s16le", 8000)),
        ("agent", AudioFormat("pcm_s16le", 8000)),
    ]
    done = only(events, FragmentDone)
    assert [d.info.number for d in done] == [mkv.NUMBER.format(n) for n in range(3)]
    assert done[0].tags == USER
    assert reader.position == Position(mkv.NUMBER.format(2), {1: EPOCH_MS + 2900, 2: EPOCH_MS + 2900}, EPOCH_MS)
    assert only(events, Gap) == only(events, Dropped) == []


def test_a_block_is_out_as_soon_as_it_is_in() -> None:
    reader, data = CallReader(), fragment(0)
    end = data.index(bytes([0, 3]) * 800) + 1600
    assert heard(reader.receive(data[:end]))[-1] == (300, b"\0\3")


def test_the_last_fragment_is_out_although_nothing_follows() -> None:
    reader, data = CallReader(), fragment(0)
    cut = data.index(bytes([0, 9]) * 800)
    events = read(reader, data[:cut])
    assert heard(events) == expected(0)[:9]
    assert not only(events, FragmentDone)[0].complete
    assert reader.position.fragment is None


def test_a_cut_connection_goes_on_without_loss_or_repetition() -> None:
    stream = [fragment(n) for n in range(4)]
    undisturbed = heard(read(CallReader(), *stream))
    for cut in range(0, len(stream[1]), 1999):
        first = CallReader()
        events = read(first, stream[0], stream[1][:cut])
        second = CallReader(after=first.position)
        again = [n for n in range(4) if first.position.fragment is None or n > int(first.position.fragment[-3:])]
        events += read(second, *(stream[n] for n in again))
        assert heard(events) == undisturbed
        assert only(events, Gap) == []


def test_one_reader_can_have_many_connections() -> None:
    reader = CallReader()
    events = read(reader, fragment(0), fragment(1)[:9000]) + read(reader, fragment(1), fragment(2))
    assert heard(events) == expected(0, 1, 2)


def test_fragments_that_come_again_are_dropped_by_number() -> None:
    events = read(CallReader(), *(fragment(n) for n in (0, 1, 0, 1, 1, 2)))
    assert heard(events) == expected(0, 1, 2)
    assert only(events, Dropped) == [Dropped(mkv.NUMBER.format(n), 20, "heard before") for n in (0, 1, 1)]


def test_blocks_that_a_producer_sends_again_in_a_new_fragment_are_dropped_by_time() -> None:
    again = mkv.document(5, 500, [mkv.block(b"old", 0), mkv.block(b"new", 500)], USER, CONNECT)
    events = read(CallReader(), fragment(0), again)
    assert heard(events) == [*expected(0), (1000, b"ne")]
    assert only(events, Dropped) == [Dropped(mkv.NUMBER.format(5), 1, "heard before")]


def test_blocks_with_one_timecode_in_one_fragment_are_all_heard() -> None:
    data = mkv.document(1, 0, [mkv.block(b"a"), mkv.block(b"b")], USER)
    assert [data for _, data in heard(read(CallReader(), data, data))] == [b"a", b"b"]


@given(st.permutations(range(1, 6)), st.lists(st.integers(0, 5), max_size=4))
@settings(max_examples=12, deadline=None, derandomize=True)
def test_reordered_and_repeated_fragments_are_put_in_order(order: list[int], again: list[int]) -> None:
    reader = CallReader(reorder=5, contact_id="call-1")
    events = read(reader, fragment(0), *map(fragment, order), *map(fragment, again), fragment(6))
    assert heard(events) == expected(*range(7))
    assert only(events, Gap) == []
    assert [done.info.number[-1] for done in only(events, FragmentDone)] == list("0123456")


def test_the_first_of_a_list_s_fragments_may_come_late_too() -> None:
    assert heard(read(CallReader(reorder=2), *map(fragment, (2, 1, 3)))) == expected(1, 2, 3)


def test_a_fragment_that_never_comes_is_a_gap() -> None:
    missing = [Gap(track, EPOCH_MS + 1000, EPOCH_MS + 2000) for track in (1, 2)]
    for reorder in (0, 1, 3):
        events = read(CallReader(reorder=reorder), fragment(0), fragment(2), fragment(3), fragment(1))
        assert heard(events) == expected(0, 2, 3) if reorder < 2 else expected(0, 1, 2, 3)
        assert only(events, Gap) == (missing if reorder < 2 else [])


def test_what_waits_is_bounded_in_bytes() -> None:
    reader = CallReader(reorder=100, held_bytes=70_000)
    events = [event for n in (0, 2, 3, 4) for event in reader.receive(fragment(n))]
    assert heard(events) == expected(0, 2, 3, 4)


def test_an_empty_fragment_moves_the_position_on() -> None:
    reader = CallReader()
    read(reader, fragment(0), mkv.document(1, 1000))
    assert reader.position.fragment == mkv.NUMBER.format(1)


def test_another_contact_ends_the_call_before_its_audio_is_given_out() -> None:
    reader = CallReader()
    events = read(reader, fragment(0), fragment(1, "call-2", 9000), fragment(2, "call-2", 10_000))
    assert heard(events) == expected(0)
    assert only(events, ContactChanged) == [ContactChanged("call-2", mkv.NUMBER.format(1), EPOCH_MS + 9000)]
    assert reader.ended
    assert reader.receive(fragment(3)) == []


def test_another_contact_without_a_pause_says_from_when_its_audio_was() -> None:
    events = read(CallReader(), fragment(0), fragment(1, "call-2"))
    assert only(events, ContactChanged)[0].from_ms == EPOCH_MS + 1000


def test_the_end_of_the_call_before_is_left_out() -> None:
    reader = CallReader(contact_id="call-1")
    events = read(reader, fragment(0, "call-0"), fragment(1), fragment(2))
    assert heard(events) == expected(1, 2)
    assert only(events, Dropped) == [Dropped(mkv.NUMBER.format(0), 20, "another call's")]


def test_a_contact_told_before_the_blocks_lets_them_out_at_once() -> None:
    head = mkv.ebml() + mkv.open_el(mkv.SEGMENT) + mkv.tracks(*CONNECT) + mkv.tags({"ContactId": "call-1"})
    events = CallReader(contact_id="call-1").receive(head + mkv.cluster(0, mkv.block(b"ab")))
    assert [event.data for event in only(events, Audio)] == [b"ab"]


def test_a_pause_of_the_producer_is_a_gap_and_not_the_end() -> None:
    events = read(CallReader(), fragment(0), fragment(1, start_ms=26_000))
    assert only(events, Gap)[0] == Gap(1, EPOCH_MS + 1000, EPOCH_MS + 26_000)
    assert len(heard(events)) == 20


def test_timecodes_that_begin_anew_do_not_disturb_the_producer_s_clock() -> None:
    events = read(CallReader(), fragment(0, timecode=0), fragment(1, timecode=0), fragment(2, timecode=77))
    assert heard(events) == expected(0, 1, 2)


def test_a_clock_that_was_set_back_is_said_and_heard() -> None:
    events = read(CallReader(), fragment(0, start_ms=3_600_000), fragment(1, start_ms=0), fragment(2, start_ms=1000))
    assert len(heard(events)) == 30
    back = only(events, Gap)[0]
    assert (back.to_ms - EPOCH_MS, back.from_ms - EPOCH_MS) == (0, 3_601_000)


def test_without_the_service_s_tags_the_timecodes_count() -> None:
    head = mkv.ebml() + mkv.open_el(mkv.SEGMENT) + mkv.tracks(mkv.track(1, b"", b"A_PCM/INT/LIT"))
    data = (
        head + mkv.cluster(0, mkv.block(b"ab")) + mkv.cluster(1000, mkv.block(b"cd")) + mkv.cluster(0, mkv.block(b"ab"))
    )
    assert [(e.at_ms, e.data) for e in only(read(CallReader(), data), Audio)] == [(0, b"ab"), (1000, b"cd")]


def test_the_mime_type_corrects_a_format() -> None:
    aac = (mkv.track(1, b"leg", b"A_AAC", 8000.0, mkv.el("63a2", b"\x14\x08")),)
    data = mkv.document(1, 0, [mkv.block(b"ab")], USER, aac) + mkv.document(2, 200, [mkv.block(b"cd")], USER, aac)
    first, second = only(read(CallReader(), data), AudioTrack)
    assert first.format == AudioFormat("aac", 16000, 1, "1408")
    assert second.format == AudioFormat("pcm_s16le", 8000)
    (known,) = only(read(CallReader(mime_type="audio/L16;rate=8000"), data), AudioTrack)
    assert known.format == AudioFormat("pcm_s16le", 8000)


def test_a_track_that_is_no_audio_is_told_and_left_out() -> None:
    video = mkv.el("ae", mkv.el("d7", b"\1"), mkv.el("83", b"\1"), mkv.el("86", b"V_VP8"))
    events = read(CallReader(), mkv.document(1, 0, [mkv.block(b"ab")], {}, (video,)))
    assert heard(events) == []
    assert "a video track, expected audio" in only(events, AudioTrack)[0].reason


def test_damage_costs_its_fragment_and_is_said() -> None:
    broken = bytearray(fragment(1))
    broken[broken.index(bytes([1, 5]) * 800) - 6] = 0
    events = read(CallReader(), fragment(0), bytes(broken), fragment(2))
    assert heard(events) == [*expected(0), *expected(1)[:5], *expected(2)]
    assert len(only(events, Damage)) == 1
    assert [done.complete for done in only(events, FragmentDone)] == [True, False, True]


def test_the_service_s_errors_are_passed_on() -> None:
    head = mkv.ebml() + mkv.open_el(mkv.SEGMENT)
    events = read(CallReader(), head + mkv.aws(ERROR_CODE="KMS", ERROR_ID="4500"))
    assert only(events, ServiceError) == [ServiceError("KMS", 4500, "", None)]


@given(st.lists(st.integers(0, 70_000), max_size=8))
@settings(max_examples=10, deadline=None, derandomize=True)
def test_any_cut_gives_the_same_call(cuts: list[int]) -> None:
    data = b"".join(map(fragment, (1, 0, 2, 2)))
    whole, parts = CallReader(contact_id="call-1", reorder=1), CallReader(contact_id="call-1", reorder=1)
    assert read(parts, *mkv.cut(data, cuts)) == read(whole, data)


@pytest.mark.parametrize(
    ("one", "other", "above"),
    [("10", "9", True), ("9", "10", False), ("010", "10", False), ("a", "b", True), ("a", "a", False), ("", "1", True)],
)
def test_fragment_numbers_count_up(one: str, other: str, above: bool) -> None:
    assert is_above(one, other) is above
