"""Speech on the WebSocket of the running stack: fresh processes, hand-over to the next one, and what is left behind."""

from __future__ import annotations

import random
from typing import Any

import pytest
from speech.tts.synthesizer import Synthesizer

from tests.functions.socket.talking import TEXT, audio, cancel, opening, text, tokens, told, words
from tests.stack.door.conftest import TINY
from tests.stack.door.door import Door
from tests.stack.door.test_socket_on_the_stack import event, in_a_process, items, process_environment
from tests.stack.door.wire import PATIENCE_S, wire


def in_one_piece(said: str, **options: Any) -> bytes:
    speech = Synthesizer.load(TINY / "hum").stream(**options)
    return b"".join(chunk.audio for chunk in [*speech.receive(said), *speech.finish()])


def test_a_text_as_a_model_writes_it_is_spoken(door: Door) -> None:
    with wire(door.stack) as line:
        line.send(opening("spoken", timestamps=True, rate=16000), *tokens(TEXT, 9, "spoken"))
        line.until("done")
    assert audio(line.heard, "spoken") == in_one_piece(TEXT, rate=16000)
    assert [word["text"] for word in words(line.heard, "spoken")] == [word.strip(".,!?") for word in TEXT.split()]


def test_shuffled_and_repeated_messages_in_a_process_each_give_the_same_sound(door: Door) -> None:
    said = "The cat is here, and the dog is in the house. Hello world!"
    sent = tokens(said, 12, "fresh-words")
    chance = random.Random(2)
    deliveries = chance.sample([*sent, *sent[1:3]], len(sent) + 2)
    with wire(door.stack) as line:
        line.send(opening("fresh-words"))
        line.until("opened")
        held = (item for item in items(door.stack, "StreamTable") if item["stream"]["S"] == "context#fresh-words")
        connection = next(held)["connection"]["S"]
        environment = process_environment(door)
        for at in range(0, len(deliveries), 2):
            running = [(in_a_process(environment), event(connection, one)) for one in deliveries[at : at + 2]]
            for process, given in running:
                out, errors = process.communicate(given, timeout=PATIENCE_S)
                assert process.returncode == 0, out + errors
        line.until("done")
    assert audio(line.heard, "fresh-words") == in_one_piece(said)


def test_a_long_text_is_handed_from_process_to_process_and_a_cancel_gets_through(door: Door) -> None:
    """After a second the message's own invocation calls the next, and the connection is free for the cancel.

    The emulator takes the messages of a connection in turn, so that without this all of it would be spoken first.
    """
    said = "The cat is here, and the dog is in the house. " * 500
    with wire(door.stack) as line:
        line.send(opening("long", text=said, finish=True))
        line.until("chunk")
        line.send(cancel("long"))
        last = line.until("cancelled")
        line.send("?")
        line.until("error")
    assert told(line.heard, "long")[-1]["number"] == last["number"]
    sound = audio(line.heard, "long")
    assert len(sound) / 48_000 == pytest.approx(last["audio_s"], abs=0.001)
    assert last["end"] < len(said) / 2


def test_nothing_is_left_when_a_connection_ends(door: Door) -> None:
    def left() -> list[str]:
        names = [item["stream"]["S"] for item in items(door.stack, "StreamTable")]
        return [name for name in names if name.endswith("#leaving")]

    with wire(door.stack) as line:
        line.send(opening("leaving"), text(0, "The cat is here, and the dog stops. And ", "leaving"))
        line.until("chunk")
        door.wait(lambda: len(left()) == 2, "both items to be written")
    door.wait(lambda: not left(), "the context to be forgotten")
