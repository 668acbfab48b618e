"""Who speaks runs out of time, fails, dies or is overtaken: the next one goes on, and the sound is the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from cloud.sockets.context_table import context_item, context_of, said_item, said_of

from tests.functions.fake_live import item_bytes
from tests.functions.situations import Context
from tests.functions.socket.door import Door
from tests.functions.socket.talking import TEXT, audio, cancel, end, in_one_piece, opening, text, told, words

HOUR_S = 3600


def go_on(door: Door, remaining_s: float = 29) -> int:
    """Has the called processes speak, one after another; how many they were."""
    called, count = door.aws.functions.called, 0
    while called:
        assert door.app.handler(called.pop(0), Context(remaining_s)) == {"statusCode": 200}
        count += 1
    return count


def test_a_long_text_is_spoken_by_one_process_after_another(door: Door, cold_start: Callable[[str], Door]) -> None:
    """Each has so little time that it calls the next after its first chunk."""
    door.send(opening(timestamps=True, rate=22050), remaining_s=5)
    door.send(text(0, TEXT), remaining_s=5)
    door.send(end(1), remaining_s=5)
    processes = 0
    while door.aws.functions.called:
        event = door.aws.functions.called.pop(0)
        cold_start("socket").app.handler(event, Context(5))
        processes += 1
    assert processes > 20
    sound, shown = in_one_piece(door, TEXT, rate=22050)
    assert (audio(door.heard()), words(door.heard())) == (sound, shown)
    assert door.heard()[-1]["type"] == "done"


def test_a_cancel_between_two_processes_is_settled_at_once(door: Door) -> None:
    door.send(opening(text=TEXT, finish=True), remaining_s=5)
    (record,) = door.send(cancel())
    assert (record["type"], record["number"]) == ("cancelled", 2)
    assert go_on(door) == 1
    assert door.heard()[-1] == record


def test_a_call_that_comes_twice_says_nothing_twice(door: Door) -> None:
    door.send(opening(text=TEXT, finish=True), remaining_s=5)
    door.aws.functions.called *= 2
    go_on(door)
    assert audio(door.heard()) == in_one_piece(door, TEXT)[0]
    assert len(told(door.heard())) == len(door.heard())


@pytest.mark.parametrize("post", [2, 3, 9])
def test_after_a_failure_the_same_message_goes_on(door: Door, post: int) -> None:
    connections = door.aws.apigatewaymanagementapi
    connections.during[post] = lambda: setattr(connections, "down", 1)
    message = opening(text=TEXT, finish=True)
    with pytest.raises(Exception, match="InternalServerError"):
        door.send(message)
    assert door.heard()[-1]["code"] == "internal_error"
    door.send(message)
    assert audio(door.heard()) == in_one_piece(door, TEXT)[0]


def test_a_call_that_fails_is_told_and_the_next_message_goes_on(door: Door) -> None:
    door.aws.functions.down = 1
    door.send(opening())
    with pytest.raises(Exception, match="ServiceException"):
        door.send(text(0, TEXT), remaining_s=5)
    assert door.heard()[-1]["code"] == "internal_error"
    door.send(end(1))
    assert audio(door.heard()) == in_one_piece(door, TEXT)[0]


def test_after_a_speaker_died_the_same_message_goes_on_once_its_hold_is_over(door: Door) -> None:
    def die() -> None:
        raise SystemExit

    door.send(opening())
    door.aws.apigatewaymanagementapi.during[9] = die
    with pytest.raises(SystemExit):
        door.send(text(0, TEXT))
    now_s = door.opened_s() + 1
    before = len(door.heard())
    assert door.at(now_s, text(0, TEXT)) == []
    assert door.at(now_s + 11, text(0, TEXT))
    assert len(door.heard()) > before
    door.at(now_s + 12, end(1))
    assert audio(door.heard()) == in_one_piece(door, TEXT)[0]


def test_two_that_speak_at_once_say_the_same_under_the_same_numbers(
    door: Door, cold_start: Callable[[str], Door]
) -> None:
    """One was so slow that its hold ended; `told` holds what was said twice against each other."""
    other = cold_start("socket")

    def overtake() -> None:
        other.at(other.opened_s() + 60, end(1))

    door.send(opening(timestamps=True))
    door.aws.apigatewaymanagementapi.during[8] = overtake
    door.send(text(0, TEXT))
    assert audio(door.heard()) == in_one_piece(door, TEXT)[0]
    assert len(door.heard()) > len(told(door.heard()))


def test_written_by_another_while_the_speech_is_put_down(door: Door) -> None:
    """The last look finds nothing new, then text comes before the hold is given back."""
    door.send(opening())
    writes = door.aws.dynamodb.before_write
    writes += [lambda: None, lambda: None, lambda: door.send(text(1, " The dog is in the house. And "))]
    door.send(text(0, "The cat is here. And so on, "))
    assert writes == []
    door.send(end(2))
    whole = "The cat is here. And so on,  The dog is in the house. And "
    assert audio(door.heard()) == in_one_piece(door, whole)[0]


def test_a_context_of_another_model_is_lost_by_name(door: Door, cold_start: Callable[[str], Door]) -> None:
    door.send(opening())
    door.send(text(0, "The cat is here, and the dog is in the house. Hello "))
    for item in door.items("streams"):
        if "snapshot" in item:
            item["snapshot"]["B"] = item["snapshot"]["B"][:-1] + b"?"
    other = cold_start("socket")
    (lost,) = other.send(end(1))
    assert (lost["type"], lost["code"], lost["context"]) == ("error", "context_lost", "c")
    assert other.send(end(2))[0]["code"] == "context_ended"
    assert other.send(opening("d"))[0]["type"] == "opened"


def test_a_client_that_hangs_up_is_forgotten_and_no_longer_spoken_to(door: Door) -> None:
    connections = door.aws.apigatewaymanagementapi
    connections.during[6] = connections.active_s.clear
    door.send(opening(text=TEXT, finish=True))
    assert connections.posts == 6
    assert door.items("streams") == []


def test_a_connection_that_is_closed_while_it_is_spoken_to_leaves_nothing(door: Door) -> None:
    door.aws.apigatewaymanagementapi.during[6] = door.close
    door.send(opening(text=TEXT, finish=True))
    assert door.items("streams") == []


def test_nothing_is_left_of_a_closed_connection(door: Door) -> None:
    door.send(opening())
    door.send(text(0, TEXT))
    assert {item["stream"]["S"] for item in door.items("streams")} == {"context#c", "said#c"}
    items = [*door.items("streams"), *door.items("connections")]
    assert {int(item["expires_at"]["N"]) - int(door.opened_s()) for item in items} == {2 * HOUR_S + 600}
    door.close()
    assert door.items("streams") == []


def test_items_are_read_as_they_were_written_and_fit(door: Door) -> None:
    door.send(opening(voice="high", speed=0.9, text="é" * 5_000))
    door.send(text(0, "The cat is here, and the dog is in the house. " * 150))
    door.send(text(3, "later"))
    for item in door.items("streams"):
        if "snapshot" in item:
            assert said_item(said_of(item)) == item
            # what is left of an item beside the largest snapshot and the words of the longest text
            assert item_bytes(item) - len(item["snapshot"]["B"]) < 90_000
        else:
            assert context_item(context_of(item)) == item
            assert item_bytes(item) < 60_000
