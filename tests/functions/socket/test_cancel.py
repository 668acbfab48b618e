"""A context that is cancelled: silent within a chunk, wherever it is spoken, and what was heard is told in words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functions.socket.door import Door
from tests.functions.socket.talking import TEXT, audio, cancel, end, in_one_piece, opening, text, told


def cancelled(door: Door, **values: Any) -> dict[str, Any]:
    """The only record that a cancel gives."""
    (record,) = door.send(cancel(**values))
    assert record["type"] == "cancelled"
    return record


def chunks(door: Door) -> int:
    return sum(record["type"] == "chunk" for record in door.heard())


@pytest.mark.parametrize("post", [2, 7, 20])
def test_who_speaks_stops_within_a_chunk(door: Door, post: int) -> None:
    sent_by_then: list[int] = []

    def interrupt() -> None:
        assert door.send(cancel()) == [], "who speaks tells the end"
        sent_by_then.append(chunks(door))

    door.aws.apigatewaymanagementapi.during[post] = interrupt
    door.send(opening(text=TEXT, finish=True))
    assert chunks(door) <= sent_by_then[0] + 1
    last = told(door.heard())[-1]
    assert last["type"] == "cancelled"
    sound = audio(door.heard())
    assert sound == in_one_piece(door, TEXT)[0][: len(sound)]
    assert last["audio_s"] == last["played_s"] == round(len(sound) / 48_000, 3)
    begun = [w for w in in_one_piece(door, TEXT)[1] if w["start_s"] < last["audio_s"]]
    assert (last["end"], last["text"]) == ((begun[-1]["end"], TEXT[: begun[-1]["end"]]) if begun else (0, ""))


def test_what_was_heard_may_be_asked_when_all_has_been_sent(door: Door) -> None:
    """Sound is made faster than it plays: a listener who interrupts has long got everything."""
    door.send(opening(text=TEXT, finish=True))
    third = in_one_piece(door, TEXT)[1][2]
    record = cancelled(door, played_s=third["start_s"] + 0.01)
    assert (record["text"], record["end"]) == ("The cat is", len("The cat is"))
    assert record["played_s"] < record["audio_s"]
    assert door.send(cancel()) == [{**record, "repeat": True}]
    assert told(door.heard())[-1]["number"] == record["number"]


def test_a_context_that_waits_for_text_is_over_at_once(door: Door) -> None:
    door.send(opening())
    door.send(text(0, "The cat is here. And the dog "))
    record = cancelled(door)
    assert record["text"] == "The cat is here"[: record["end"]]
    assert door.send(text(1, "stops."))[0]["code"] == "context_ended"
    assert door.send(text(0, "The cat")) == []
    assert door.send(end(1))[0]["code"] == "context_ended"


def test_before_anything_was_said(door: Door) -> None:
    door.send(opening())
    record = cancelled(door, played_s=3)
    assert (record["number"], record["audio_s"], record["played_s"], record["end"], record["text"]) == (1, 0, 0, 0, "")


def test_a_cancelled_context_makes_room(door: Door) -> None:
    door.send(opening("a"))
    door.send(opening("b"))
    assert door.send(opening("c"))[0]["code"] == "too_many_streams"
    door.send(cancel("a"))
    assert door.send(opening("c"))[0]["type"] == "opened"


def test_a_speaker_that_died_does_not_hold_up_a_cancel_for_long(door: Door) -> None:
    def die() -> None:
        raise SystemExit

    door.aws.apigatewaymanagementapi.during[5] = die
    with pytest.raises(SystemExit):
        door.send(opening(text=TEXT, finish=True))
    now_s = door.opened_s() + 1
    assert door.at(now_s, cancel()) == [], "it may still speak"
    (record,) = door.at(now_s + 11, cancel())
    assert (record["type"], record["number"]) == ("cancelled", 1)


@pytest.mark.parametrize("played_s", [-1, "1", True, [], float("nan"), float("inf")])
def test_a_time_that_is_none_is_refused(door: Door, played_s: object) -> None:
    door.send(opening())
    assert door.send(cancel(played_s=played_s))[0]["code"] == "bad_format"
    assert cancelled(door, played_s=10**40)["played_s"] == 0


def test_nobody_cancels_for_another_connection(door: Door) -> None:
    door.send(opening())
    door.open("two", subject="mallory")
    assert door.send(cancel(), "two")[0]["code"] == "unknown_context"
