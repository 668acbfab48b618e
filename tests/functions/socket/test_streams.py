"""Streams through the WebSocket door: in order, shuffled, twice, by two processes at once, and side by side."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cloud import engines
from speech.events import Final

from tests.functions.socket.door import RATE, Door, audio, end, spoken, start, transcript
from tests.tiny.sound import say

SPEECH = say("cat dog 1.6 twenty two oak", RATE, before_s=0.3, after_s=0.4)
OTHER = say("go gag 1.6 tad", RATE, before_s=0.1, after_s=0.2)


def in_order(door: Door, samples: np.ndarray, connection: str, **values: Any) -> list[dict[str, Any]]:
    door.open(connection)
    for message in spoken(samples, **values):
        door.send(message, connection)
    return transcript(door.heard(connection))


def words(records: list[dict[str, Any]], channel: int = 0) -> list[str]:
    finals = [r for r in records if r["type"] == "final" and r["channel"] == channel]
    return [word["text"] for final in finals for word in final["words"]]


def test_a_stream_gives_what_the_recogniser_gives_in_one_piece(door: Door) -> None:
    stream = engines.recognizer(door.app.settings.models_dir, "tones").stream(rate=RATE)
    whole = [e for e in [*stream.receive(SPEECH), *stream.finish()] if isinstance(e, Final)]
    told = in_order(door, SPEECH, "whole")
    assert [r["type"] for r in told] == ["final", "turn_end", "final", "turn_end", "done"]
    assert [(r["text"], r["start_s"], r["end_s"]) for r in told if r["type"] == "final"] == [
        (f.text, round(f.start_s, 3), round(f.end_s, 3)) for f in whole
    ]
    assert told[-1] == {"type": "done", "audio_s": round(len(SPEECH) / RATE, 3), "sequence": 24, "stream": "a"}


@pytest.mark.parametrize("seed", range(5))
def test_shuffled_and_repeated_messages_give_the_same_transcript(door: Door, seed: int) -> None:
    first, *rest = spoken(SPEECH)
    chance = random.Random(seed)
    deliveries = [(at + chance.uniform(0, 7), message) for at, message in enumerate(rest) for _ in range(2)]
    door.send(first)
    for _, message in sorted(deliveries, key=lambda delivery: delivery[0]):
        door.send(message)
    assert transcript(door.heard()) == in_order(door, SPEECH, "ordered")


def test_two_writers_at_once_lose_nothing(door: Door) -> None:
    """Before each message is written another process handles the next one: every second write is refused."""
    first, *rest = spoken(SPEECH)
    door.send(first)
    for one, other in zip(rest[::2], [*rest[1::2], rest[-1]], strict=False):
        door.aws.dynamodb.before_write.append(lambda other=other: door.send(other))  # type: ignore[misc]
        door.send(one)
    assert transcript(door.heard()) == in_order(door, SPEECH, "ordered")


def test_warm_processes_that_take_turns_do_not_trust_what_they_remember(
    door: Door, cold_start: Callable[[str], Door]
) -> None:
    doors, chance = [door, cold_start("socket"), cold_start("socket")], random.Random(1)
    first, *rest = spoken(SPEECH)
    door.send(first)
    for message in [*rest[:20], rest[4], *rest[18:]]:
        chance.choice(doors).send(message)
    assert transcript(door.heard()) == in_order(door, SPEECH, "ordered")


def test_records_are_numbered_and_say_what_was_received(door: Door) -> None:
    for message in spoken(SPEECH):
        door.send(message)
    heard = door.heard()
    assert [r["number"] for r in heard] == list(range(len(heard)))
    received = [r["received"] for r in heard]
    assert received == sorted(received)
    assert received[-1] == 25


def test_partials_grow_into_the_final_and_turns_come_in_pairs(door: Door) -> None:
    for message in spoken(SPEECH):
        door.send(message)
    partials: list[dict[str, Any]] = []
    for record in door.heard():
        if record["type"] == "partial":
            partials.append(record)
        elif record["type"] == "final":
            said = [word["text"] for word in record["words"]]
            assert partials
            assert all([w["text"] for w in p["words"][: p["stable"]]] == said[: p["stable"]] for p in partials)
            partials.clear()
    turns = [r["type"] for r in door.heard() if r["type"].startswith("turn")]
    assert turns == ["turn_start", "turn_end"] * 2


def test_a_repeat_of_the_last_message_is_told_again_as_a_repeat_and_changes_nothing(door: Door) -> None:
    messages = list(spoken(SPEECH))
    for message in messages:
        told = door.send(message)
    before = door.items("streams")
    assert door.send(messages[-1]) == [{**record, "repeat": True} for record in told]
    assert door.send(messages[1]) == []
    assert door.items("streams") == before


def test_what_was_written_but_not_told_is_told_when_the_message_comes_again(door: Door) -> None:
    *messages, last = spoken(SPEECH)
    for message in messages:
        door.send(message)
    door.aws.apigatewaymanagementapi.down = 1
    with pytest.raises(Exception, match="InternalServerError"):
        door.send(last)
    told = door.send(last)
    assert [record["type"] for record in told] == ["final", "turn_end", "done"]
    assert all(record["repeat"] for record in told)


def test_finalize_makes_final_what_was_heard_and_the_stream_goes_on(door: Door) -> None:
    half = say("cat dog", RATE, before_s=0.2)
    door.send(start())
    door.send(audio(0, half))
    told = door.send(end(1, kind="finalize"))
    assert [r["type"] for r in told] == ["final", "turn_end", "finalized"]
    assert words(told) == ["cat", "dog"]
    door.send(audio(2, say("oak", RATE, before_s=0.2)))
    told = door.send(end(3))
    (final,) = [r for r in told if r["type"] == "final"]
    assert (words(told), final["segment"]) == (["oak"], 1)
    assert final["start_s"] == pytest.approx(len(half) / RATE + 0.2, abs=0.15)


@pytest.mark.parametrize("encoding", ["pcm_s16le", "pcm_f32le", "pcm_mulaw", "pcm_alaw"])
def test_every_encoding_is_heard(door: Door, encoding: str) -> None:
    told = in_order(door, SPEECH, "encoded", encoding=encoding)
    assert words(told) == ["cat", "dog", "twenty", "two", "oak"]


def test_two_channels_are_told_apart(door: Door) -> None:
    length = max(len(SPEECH), len(OTHER))
    both = np.zeros((length, 2), np.float32)
    both[: len(SPEECH), 0], both[: len(OTHER), 1] = SPEECH, OTHER
    told = in_order(door, both, "stereo", channels=2)
    assert words(told, 0) == ["cat", "dog", "twenty", "two", "oak"]
    assert words(told, 1) == ["go", "gag", "tad"]


def test_streams_side_by_side_do_not_hear_each_other(door: Door) -> None:
    door.open("two")
    sources = [("one", "a", SPEECH), ("one", "b", OTHER), ("two", "a", OTHER)]
    queues = [(connection, list(spoken(samples, stream))) for connection, stream, samples in sources]
    for at in range(max(len(messages) for _, messages in queues)):
        for connection, messages in queues:
            if at < len(messages):
                door.send(messages[at], connection)
    heard = {(c, s): [r for r in door.heard(c) if r["stream"] == s] for c, s, _ in sources}
    assert words(transcript(heard["one", "a"])) == ["cat", "dog", "twenty", "two", "oak"]
    assert words(transcript(heard["one", "b"])) == ["go", "gag", "tad"]
    assert words(transcript(heard["two", "a"])) == ["go", "gag", "tad"]


def test_silence_is_told_as_nothing(door: Door) -> None:
    told = in_order(door, np.zeros(3 * RATE, np.float32), "quiet")
    assert [r["type"] for r in door.heard("quiet")] == ["started", "done"]
    assert told[-1]["audio_s"] == 3.0
