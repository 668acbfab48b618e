"""Whoever comes to watch a call, at any moment, is told what was so far and then all that follows, each thing once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from botocore.exceptions import ClientError
from cloud.calls import gallery, so_far
from cloud.calls.call import Call
from cloud.calls.gallery import LOOK_S, Gallery
from cloud.calls.session import Session
from cloud.calls.so_far import Running, taken
from cloud.calls.track import Track
from cloud.calls.watchers import Watchers
from cloud.live.told import Teller
from cloud.sockets.client_side import Gone
from cloud.video.getmedia import Start
from hypothesis import example, given, settings
from hypothesis import strategies as st
from speech.events import Final, Partial, Token, TurnEnd, Word
from speech.media.formats import AudioFormat

NAME, ONE, TWO = "desk-1", "one", "two"
FRAME = 32 * 1024  # bytes: API Gateway's
Record = dict[str, Any]


@dataclass
class Sockets:
    """Who watches, and what each was sent; posts to `broken` ones fail."""

    held: dict[str, str] = field(default_factory=dict)
    sent: dict[str, list[Record]] = field(default_factory=dict)
    broken: dict[str, Exception] = field(default_factory=dict)

    def of(self, call_id: str) -> dict[str, str]:
        return dict(self.held)

    def leave(self, call_id: str, connection: str) -> None:
        self.held.pop(connection, None)

    def send(self, connection: str, record: Record) -> None:
        if connection in self.broken:
            raise self.broken[connection]
        assert len(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()) <= FRAME
        self.sent.setdefault(connection, []).append(record)

    def finals(self, connection: str) -> list[str]:
        """What a client has at last that takes each `so_far` in place of all before it."""
        found: list[str] = []
        for record in self.sent.get(connection, []):
            if record["type"] == "so_far" and record["part"] == 0:
                found = []
            found += [one["text"] for one in record.get("records", [record]) if one["type"] == "final"]
        return found


class Worker:
    """A call that is told of, by a worker whose watchers are looked for every two seconds."""

    def __init__(self) -> None:
        self.sockets = Sockets()
        self.gallery = Gallery(Watchers(self.sockets, self.sockets))  # type: ignore[arg-type]
        self.session = Session.begin(Call(NAME, "stream", Start("EARLIEST"), began_ms=1000), None)  # type: ignore[arg-type]
        self.track = Track(0, "customer", AudioFormat("pcm_s16le", 8000), Teller(0))
        self.session.tracks[0, 1] = self.track
        self.now_s = 0.0

    def turn(self) -> None:
        """The worker's turn, and all that comes of it."""
        for _ in range(2):
            self.gallery.greet(self.session, self.now_s)
            self.gallery._courier.settle(60)

    def later(self) -> None:
        """Two seconds, in which nothing is said."""
        self.now_s += LOOK_S
        self.turn()

    def say(self, text: str) -> None:
        """Somebody says something."""
        at_s = float(len(self.track.finals))
        word = Word(text, at_s, at_s + 0.5, 1.0)
        said = Final(len(self.track.finals), (word,), (Token(text, at_s, at_s + 0.5, 1.0),), at_s, at_s + 0.5)
        told = self.track.tell([Partial(said.segment, (word,), 1), said, TurnEnd(at_s + 0.5, "silence")])
        self.gallery.give([{"call": NAME, "told_at": "", **record} for record in told])


@pytest.fixture
def worker() -> Iterator[Worker]:
    made = Worker()
    yield made
    made.gallery.close()


def test_one_who_comes_between_two_looks_misses_nothing_though_nothing_more_is_said(worker: Worker) -> None:
    worker.sockets.held[ONE] = "1"
    worker.say("before")
    worker.turn()
    worker.sockets.held[TWO] = "2"  # now `watching` is told
    worker.say("meanwhile")
    worker.turn()
    assert worker.sockets.finals(TWO) == []
    worker.later()
    assert worker.sockets.finals(TWO) == ["before", "meanwhile"]
    worker.say("after")
    worker.later()
    assert worker.sockets.finals(ONE) == worker.sockets.finals(TWO) == ["before", "meanwhile", "after"]
    numbered = [r["number"] for r in worker.sockets.sent[TWO] if "number" in r]
    assert numbered == list(range(worker.sockets.sent[TWO][0]["next"]["0"], worker.track.numbered))


@example(["comes", "turn", "fails"])
@example(["comes", "turn", "lost"])
@example(["comes", "turn", "parts", "says", "turn"])
@settings(max_examples=60)
@given(st.lists(st.sampled_from(["says", "comes", "leaves", "turn", "later", "fails", "parts", "lost"]), max_size=30))
def test_at_any_moment_everything_is_told_once(course: list[str]) -> None:
    """Also where posts fail, events were too many to wait for, or another worker had the call meanwhile."""
    worker = Worker()
    for number, what in enumerate(course):
        match what:
            case "says":
                worker.say(f"{number}")
            case "comes":
                worker.sockets.held.setdefault(ONE, str(number))
                worker.sockets.sent.setdefault(ONE, [])
            case "leaves":
                worker.sockets.held.clear()
                worker.sockets.sent.clear()
            case "turn":
                worker.turn()
            case "later":
                worker.later()
            case "fails":
                worker.sockets.broken[ONE] = ClientError({"Error": {"Code": "Internal"}}, "PostToConnection")
                worker.say(f"{number}")
                worker.turn()
                worker.sockets.broken.clear()
            case "parts":
                worker.gallery.forget(NAME)
            case "lost":
                with worker.gallery._courier._changed:  # nothing is delivered meanwhile
                    worker.say(f"{number}")
                    worker.gallery.give([{"call": NAME, "type": "turn_end"}] * gallery.WAITING)
    worker.later()
    worker.gallery.close()
    if ONE in worker.sockets.held:
        assert worker.sockets.finals(ONE) == [final.text for final in worker.track.finals]


def test_who_leaves_and_comes_again_is_a_newcomer(worker: Worker) -> None:
    worker.sockets.held[ONE] = "1"
    worker.say("before")
    worker.turn()
    worker.later()
    kinds = [record["type"] for record in worker.sockets.sent[ONE]]
    assert kinds == ["so_far"]
    worker.sockets.held[ONE] = "another watch"
    worker.later()
    assert [record["type"] for record in worker.sockets.sent[ONE]] == ["so_far", "so_far"]


def test_one_who_has_hung_up_is_forgotten_and_the_others_are_not(worker: Worker) -> None:
    worker.sockets.held |= {ONE: "1", TWO: "2"}
    worker.turn()
    worker.sockets.broken[ONE] = Gone(ONE)
    worker.say("on")
    worker.later()
    assert worker.sockets.held == {TWO: "2"}
    assert worker.sockets.finals(TWO) == ["on"]


def test_the_end_reaches_also_those_who_have_just_come(worker: Worker) -> None:
    worker.turn()
    worker.sockets.held[ONE] = "1"
    worker.gallery.give([{"call": NAME, "type": "call_completed"}])
    worker.gallery.forget(NAME)
    worker.turn()
    assert worker.sockets.sent[ONE][0]["type"] == "call_completed"


def test_what_is_being_said_is_told_as_well(worker: Worker) -> None:
    word = {"text": "well", "start_s": 1.0, "end_s": 1.2, "confidence": 1.0}
    partial = {"type": "partial", "channel": 0, "segment": 0, "words": [word], "heard_s": 1.5}
    start = {"type": "reply_start", "reply": "1-1", "turn": 2, "turn_end_s": 0.5}
    sounds = [{"type": "reply_audio", "reply": "1-1", "sequence": n, "audio": "AAAA", "words": []} for n in range(2)]
    over = {"type": "reply_end", "reply": "1-0", "turn": 1}
    before = {"type": "reply_audio", "reply": "1-0", "sequence": 0, "audio": "AAAA", "words": []}
    worker.gallery.give([{"call": NAME, **event} for event in (before, over, sounds[0], start, sounds[1], partial)])
    worker.sockets.held[ONE] = "1"
    worker.turn()
    [frame] = worker.sockets.sent[ONE]
    silent = [{name: value for name, value in sound.items() if name != "audio"} for sound in sounds]
    assert frame["records"][1:] == [partial, silent[0], start, silent[1]]
    assert (frame["records"][0]["type"], frame["more"], frame["left_out"]) == ("call_started", False, 0)
    worker.say("well")
    worker.gallery.give([{"call": NAME, "type": "reply_end", "reply": "1-1"}])
    worker.sockets.held[TWO] = "2"
    worker.later()
    assert [record["type"] for record in worker.sockets.sent[TWO][0]["records"]] == ["call_started", "final"]


def test_a_long_call_is_told_in_frames_and_not_from_its_first_hour(worker: Worker) -> None:
    count = so_far.MOST_LINES + 50
    for number in range(count):
        worker.say(f"{number} {'é' * 150}")
    worker.sockets.held[ONE] = "1"
    worker.turn()
    frames = worker.sockets.sent[ONE]
    assert [frame["part"] for frame in frames] == list(range(len(frames)))
    assert [frame["more"] for frame in frames] == [True] * (len(frames) - 1) + [False]
    assert len(frames) > 10
    assert frames[-1]["left_out"] == 50
    assert worker.sockets.finals(ONE) == [final.text for final in worker.track.finals[50:]]


def test_what_was_said_stands_in_its_time_and_each_sides_in_its_order(worker: Worker) -> None:
    worker.say("first")
    worker.say("third")
    reply = {"type": "reply_end", "reply": "1-1", "turn": 2, "turn_end_s": 0.4, "text": "Second", "interrupted": True,
             "failed": "", "left_at_s": 1.7, "words": [["Second", 0.0, 0.2]]}  # fmt: skip
    worker.session.replies += [reply, reply | {"reply": "1-2", "turn_end_s": 1.5, "left_at_s": None, "words": []}]
    [frame] = taken(worker.session, Running(), 5.0).frames()
    started, *lines = frame["records"]
    assert (started["type"], started["streams"]) == ("call_started", ["stream"])
    assert [(line["type"], line["text"]) for line in lines] == [
        ("final", "first"), ("reply_end", "Second"), ("final", "third"), ("reply_end", "Second"),
    ]  # fmt: skip
    assert (lines[0]["start_at"], lines[0]["speaker"]) == ("1970-01-01T00:00:01.000Z", "customer")
    assert (lines[1]["start_s"], lines[1]["end_s"], "words" in lines[1]) == (0.7, 0.9, False)
