"""Contexts through the WebSocket door: cut, shuffled, sent twice, each message by another process: the same sound."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.functions.socket.door import Door
from tests.functions.socket.talking import TEXT, audio, end, in_one_piece, opening, text, tokens, told, words


def test_a_context_gives_what_the_synthesiser_gives_in_one_piece(door: Door) -> None:
    assert door.send(opening(voice="high", timestamps=True, speed=1.2)) == [
        {"type": "opened", "context": "c", "number": 0, "received": 0, "voice": "high", "encoding": "pcm_s16le"}
        | {"rate": 24000}
    ]
    door.send(text(0, TEXT))
    door.send(end(1))
    sound, shown = in_one_piece(door, TEXT, voice="high", speed=1.2)
    assert audio(door.heard()) == sound
    assert words(door.heard()) == shown
    assert told(door.heard())[-1] == {"type": "done", "context": "c", "number": len(told(door.heard())) - 1} | {
        "sequence": 1,
        "audio_s": round(len(sound) / 48_000, 3),
    }


@pytest.mark.parametrize("seed", range(4))
def test_a_process_for_each_message_shuffled_and_repeated_gives_the_same_sound(
    door: Door, cold_start: Callable[[str], Door], seed: int
) -> None:
    door.send(opening(timestamps=True, rate=8000, encoding="pcm_mulaw"))
    chance = random.Random(seed)
    sent = tokens(TEXT, 7)
    deliveries = [(at + chance.uniform(0, 7), message) for at, message in enumerate(sent) for _ in range(2)]
    for _, message in sorted(deliveries, key=lambda delivery: delivery[0]):
        cold_start("socket").send(message)
    sound, shown = in_one_piece(door, TEXT, rate=8000, encoding="pcm_mulaw")
    assert audio(door.heard()) == sound
    assert words(door.heard()) == shown
    # A finish that overtakes the text before it reports what is missing, which may come early.
    assert {record["code"] for record in door.heard() if record["type"] == "error"} <= {"missing_message"}


def test_warm_processes_that_take_turns_do_not_trust_what_they_remember(
    door: Door, cold_start: Callable[[str], Door]
) -> None:
    doors, chance = [door, cold_start("socket"), cold_start("socket")], random.Random(1)
    door.send(opening())
    for message in tokens(TEXT):
        chance.choice(doors).send(message)
    assert audio(door.heard()) == in_one_piece(door, TEXT)[0]


def test_everything_at_once(door: Door) -> None:
    heard = door.send(opening(text=TEXT, finish=True, timestamps=True))
    assert [record["type"] for record in heard[:3]] == ["opened", "timestamps", "chunk"]
    assert audio(heard) == in_one_piece(door, TEXT)[0]
    assert (heard[-1]["type"], heard[-1]["sequence"]) == ("done", None)
    assert door.send(opening("d", finish=True))[-1]["audio_s"] == 0


def test_a_clause_is_spoken_once_it_is_complete(door: Door) -> None:
    door.send(opening())
    assert door.send(text(0, "The cat is here, and the ")) == []
    assert door.send(text(1, "dog ")) == []
    assert [record["type"] for record in door.send(text(2, "is in the house. Hello "))][:1] == ["chunk"]


def test_flush_speaks_what_is_there_and_the_context_goes_on(door: Door) -> None:
    door.send(opening())
    assert door.send(text(0, "hello world")) == []
    flushed = door.send(end(1, kind="flush"))
    assert (flushed[-1]["type"], flushed[-1]["sequence"]) == ("flushed", 1)
    assert audio([*door.heard()]) == in_one_piece(door, "hello world")[0]
    door.send(text(2, "Stop."))
    assert door.send(end(3))[-1]["audio_s"] > flushed[-1]["audio_s"]


def test_chunks_say_where_they_are(door: Door) -> None:
    heard = door.send(opening(text=TEXT, finish=True, encoding="pcm_f32le", rate=48000))
    at_s = 0.0
    for chunk in (record for record in told(heard) if record["type"] == "chunk"):
        assert chunk["at_s"] == pytest.approx(at_s, abs=1e-4)
        at_s += chunk["duration_s"]
    assert heard[-1]["audio_s"] == pytest.approx(at_s, abs=0.01)


@pytest.mark.parametrize("encoding", ["pcm_s16le", "pcm_f32le", "pcm_mulaw", "pcm_alaw"])
@pytest.mark.parametrize("rate", [8000, 44100, 48000])
def test_every_record_fits_a_frame(door: Door, encoding: str, rate: int) -> None:
    """The connections in memory refuse larger ones; the pause of a paragraph is the longest chunk."""
    said = "Cat.\n\nDog. " + "1234567890" * 12 + "."
    heard = door.send(opening(text=said, finish=True, encoding=encoding, rate=rate, timestamps=True))
    assert audio(heard) == in_one_piece(door, said, encoding=encoding, rate=rate)[0]


def test_contexts_side_by_side_do_not_hear_each_other(door: Door) -> None:
    door.open("two")
    door.send(opening("a"))
    door.send(opening("b", voice="high"))
    door.send(opening("a", voice="high"), "two")
    for number, piece in enumerate(["The cat is here. ", "The dog is in the house, and ", "it stops."]):
        for context, connection in (("a", "one"), ("b", "one"), ("a", "two")):
            door.send(text(number, piece, context), connection)
    for context, connection, voice in (("a", "one", "low"), ("b", "one", "high"), ("a", "two", "high")):
        door.send(end(3, context), connection)
        whole = in_one_piece(door, "The cat is here. The dog is in the house, and it stops.", voice=voice)[0]
        assert audio(door.heard(connection), context) == whole


def test_a_stream_and_a_context_may_have_the_same_name(door: Door) -> None:
    door.send({"type": "start", "stream": "c", "rate": 8000})
    door.send(opening(text="Hello.", finish=True))
    assert door.send({"type": "stop", "stream": "c", "sequence": 0})[-1]["type"] == "done"


def test_what_others_bring_while_one_speaks_is_taken_up_by_who_speaks(door: Door) -> None:
    sent = [text(0, TEXT), text(1, " The cat is here. "), text(2, "And the dog."), end(3)]
    connections = door.aws.apigatewaymanagementapi
    for at, message in ((4, sent[2]), (9, sent[1]), (20, sent[3])):
        connections.during[at] = lambda message=message: door.send(message)  # type: ignore[misc]
    door.send(opening())
    door.send(sent[0])
    assert connections.during == {}
    assert audio(door.heard()) == in_one_piece(door, TEXT + " The cat is here. And the dog.")[0]
    assert len(door.heard()) == len(told(door.heard())), "nothing was said twice"
    assert door.heard()[-1]["type"] == "done"


def test_a_repeat_changes_nothing_and_the_end_is_told_again(door: Door) -> None:
    sent = [opening(), *tokens("The cat is here. Hello world!", 9)]
    for message in sent:
        last = door.send(message)[-1:]
    before = door.items("streams")
    assert door.send(sent[-1]) == [{**last[0], "repeat": True}]
    assert door.send(sent[1]) == []
    assert door.items("streams") == before


@pytest.mark.parametrize(
    ("said", "type_of_second"), [("", "done"), (" \n", "done"), ("😀 🎉!", "done"), ("\x00\x07\ud83d", "done")]
)
def test_nothing_to_say_is_done_at_once(door: Door, said: str, type_of_second: str) -> None:
    door.send(opening())
    door.send(text(0, said))
    done = door.send(end(1))
    assert [(record["type"], record["audio_s"]) for record in done] == [(type_of_second, 0.0)]


def test_places_are_those_of_the_text_that_was_sent(door: Door) -> None:
    said = "Ünd “the” 😀 cat, \x07and $25 dogs… Hello!"
    door.send(opening(timestamps=True))
    for message in tokens(said, 3):
        door.send(message)
    assert all(said[word["start"] : word["end"]] == word["text"] for word in words(door.heard()))
    assert {"the", "cat", "$25"} <= {word["text"].strip("“”,") for word in words(door.heard())}
