"""Lost messages, full lines, too many streams or connections, and connections that nobody ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from botocore.exceptions import ClientError

from tests.functions.fake_live import item_bytes
from tests.functions.situations import Context, load_event
from tests.functions.socket.door import Door, audio, end, spoken, start, transcript
from tests.functions.socket.test_streams import SPEECH, in_order

QUIET = np.zeros(1600, np.float32)
HOUR_S = 3600


def later(door: Door, message: Any, after_s: float) -> list[dict[str, Any]]:
    """Sends a message some seconds after the connection was opened."""
    return door.at(door.opened_s() + after_s, message)


def test_a_lost_message_is_reported_once_and_its_return_loses_nothing(door: Door) -> None:
    first, *rest = spoken(SPEECH)
    door.send(first)
    lost = rest.pop(3)
    told = [record for message in rest[:-1] for record in door.send(message)]
    errors = [(record["code"], record["expected"]) for record in told if record["type"] == "error"]
    assert errors == [("missing_message", 3), *[("too_many_waiting", 3)] * 4]
    assert door.send(lost)
    for message in rest:  # the client sends again what may have been refused
        door.send(message)
    assert transcript(door.heard()) == in_order(door, SPEECH, "ordered")


def test_a_missing_message_is_reported_when_others_wait_for_it_for_long(door: Door) -> None:
    door.send(start())
    assert later(door, audio(1, QUIET), 1) == []
    assert later(door, audio(2, QUIET), 2.9) == []
    (error,) = later(door, audio(3, QUIET), 3.1)
    assert (error["code"], error["expected"]) == ("missing_message", 0)
    assert later(door, audio(4, QUIET), 9) == []


def test_an_early_message_that_comes_twice_waits_once(door: Door) -> None:
    door.send(start())
    door.send(audio(1, QUIET))
    before = door.items("streams")
    assert door.send(audio(1, QUIET)) == []
    assert door.items("streams") == before


def test_an_end_that_comes_early_reports_what_is_missing_at_once(door: Door) -> None:
    door.send(start())
    (error,) = door.send(end(1))
    assert (error["code"], error["expected"]) == ("missing_message", 0)
    assert [record["type"] for record in door.send(audio(0, QUIET))] == ["done"]


def test_the_line_is_bounded_in_messages_and_in_bytes(door: Door) -> None:
    door.send(start())
    told = [record for number in range(1, 20) for record in door.send(audio(number, QUIET))]
    assert [record["code"] for record in told] == ["missing_message", *["too_many_waiting"] * 3]
    assert told[-1]["expected"] == 0
    door.send(start("b"))
    large = [door.send(audio(number, np.zeros(12_000, np.float32), "b")) for number in range(1, 7)]
    codes = [[record["code"] for record in told] for told in large]
    assert codes == [*[[]] * 4, ["too_many_waiting"], ["too_many_waiting"]]
    assert door.aws.dynamodb.largest < 110_000


def test_streams_of_a_connection_are_limited_and_an_ended_one_makes_room(door: Door) -> None:
    door.send(start("a"))
    door.send(start("b"))
    (error,) = door.send(start("c"))
    assert (error["code"], error["stream"]) == ("too_many_streams", "c")
    door.send(end(0, "a"))
    assert door.send(start("c"))[0]["type"] == "started"


def test_connections_of_a_subject_are_limited_and_a_closed_one_makes_room(door: Door) -> None:
    assert [door.open(name) for name in ("two", "three", "four")] == [200, 200, 429]
    assert door.open("four", subject="bob") == 200
    door.close("two")
    assert door.open("five") == 200


def test_a_connection_whose_end_was_never_told_makes_room(door: Door) -> None:
    door.open("two")
    door.open("three")
    del door.aws.apigatewaymanagementapi.active_s["two"]
    assert door.open("four") == 429  # it is so young that API Gateway may not know it yet
    for item in door.items("connections"):
        if item["id"]["S"] == "two":
            item["opened_s"]["N"] = str(float(item["opened_s"]["N"]) - 61)
    assert door.open("four") == 200


def test_nothing_is_left_of_a_closed_connection(door: Door) -> None:
    for message in list(spoken(SPEECH))[:9]:
        door.send(message)
    door.send(start("b"))
    door.close()
    assert door.items("streams") == []
    assert door.items("connections") == [
        {"id": {"S": "subject#alice"}, "expires_at": door.items("connections")[0]["expires_at"]}
    ]


def test_a_client_that_hung_up_before_its_answer_is_forgotten(door: Door) -> None:
    del door.aws.apigatewaymanagementapi.active_s["one"]
    assert door.send(start()) == []
    assert door.items("streams") == []
    door.aws.apigatewaymanagementapi.active_s["one"] = 0.0
    assert door.send(start())[0]["code"] == "not_connected"


def test_a_connection_lasts_two_hours(door: Door) -> None:
    door.send(start())
    assert later(door, audio(0, QUIET), 2 * HOUR_S - 1) == []
    (error,) = later(door, audio(1, QUIET), 2 * HOUR_S)
    assert error["code"] == "connection_expired"


@pytest.mark.parametrize(
    ("age_s", "idle_s", "code"),
    [(300, 299, None), (900, 599, None), (900, 600, "idle"), (7200, 1, "connection_expired")],
)
def test_idle_and_old_connections_are_told_so_and_ended(door: Door, age_s: int, idle_s: int, code: str | None) -> None:
    door.send(start())
    now_s = door.opened_s() + age_s
    door.aws.apigatewaymanagementapi.active_s["one"] = now_s - idle_s
    assert door.app.sweep(door.app.desk, now_s) == (code is not None)
    assert door.aws.apigatewaymanagementapi.hung_up == (["one"] if code else [])
    assert [record.get("code") for record in door.heard()[1:]] == ([code] if code else [])
    assert bool(door.items("streams")) == (code is None)


def test_where_it_is_not_told_when_a_client_was_active_it_is_not_idle(door: Door) -> None:
    opened_s = door.opened_s()
    door.aws.apigatewaymanagementapi.active_s["one"] = None
    assert door.app.sweep(door.app.desk, opened_s + 7199) == 0
    assert door.app.sweep(door.app.desk, opened_s + 7200) == 1
    assert [record["code"] for record in door.heard()] == ["connection_expired"]


def test_trouble_with_one_connection_holds_up_no_other_and_is_raised(door: Door) -> None:
    for name in ("two", "three"):
        door.open(name, subject=name)
    now_s, connections = door.opened_s("three") + 61, door.aws.apigatewaymanagementapi
    connections.active_s |= {"one": now_s - 600, "two": now_s - 600}
    del connections.active_s["three"]
    connections.down = 1  # the first that is told
    with pytest.raises(ClientError, match="InternalServerError"):
        door.app.sweep(door.app.desk, now_s)
    assert {item["id"]["S"] for item in door.items("connections") if "opened_s" in item} == {"one"}
    assert door.app.sweep(door.app.desk, now_s) == 1


def test_a_connection_that_is_gone_is_forgotten_but_not_a_young_one(door: Door) -> None:
    now_s = door.opened_s()
    del door.aws.apigatewaymanagementapi.active_s["one"]
    assert door.app.sweep(door.app.desk, now_s + 59) == 0
    assert door.app.sweep(door.app.desk, now_s + 61) == 1
    assert [item["id"]["S"] for item in door.items("connections")] == ["subject#alice"]


def test_the_schedule_looks_after_connections(door: Door) -> None:
    assert door.app.handler(load_event("sweep", "socket"), Context()) == {"ended": 0}


def test_everything_is_dropped_by_the_table_itself_in_the_end(door: Door) -> None:
    door.send(start())
    items = door.items("streams") + door.items("connections")
    assert {int(item["expires_at"]["N"]) - int(door.opened_s()) for item in items} == {2 * HOUR_S + 600}


def test_a_stream_of_another_model_is_lost_by_name(door: Door, cold_start: Callable[[str], Door]) -> None:
    for message in list(spoken(SPEECH))[:5]:
        door.send(message)
    (item,) = door.items("streams")
    item["session"]["B"] = item["session"]["B"][:-1] + b"?"
    door = cold_start("socket")
    (error,) = door.send(audio(4, QUIET))
    assert (error["type"], error["code"], error["stream"]) == ("error", "stream_lost", "a")
    assert door.send(audio(5, QUIET))[0]["code"] == "stream_ended"


def test_trouble_below_is_told_without_a_word_too_much_and_raised(door: Door) -> None:
    door.send(start())
    door.aws.dynamodb.down = 1
    with pytest.raises(Exception, match="InternalServerError"):
        door.send(audio(0, QUIET))
    error = door.heard()[-1]
    assert error == {"type": "error", "code": "internal_error", "message": "the message may be sent again"} | {
        "request": Context.aws_request_id
    }
    assert door.send(audio(0, QUIET)) == []


def test_a_full_line_and_the_largest_snapshot_fit_an_item(door: Door) -> None:
    door.send(start())
    for number in range(1, 17):
        door.send(audio(number, np.zeros(3_000, np.float32)))
    (item,) = door.items("streams")
    assert len(item["waiting"]["M"]) == 16
    item["session"]["B"] = bytes(256 * 1024)
    item["told"]["S"] = "x" * 24 * 1024
    assert item_bytes(item) < 400 * 1024


SITUATIONS = ["start", "audio", "finalize", "stop", "not_json", "unknown_type"]
SITUATIONS += ["open", "one_shot", "text", "flush", "finish", "cancel", "speak"]


@pytest.mark.parametrize("name", SITUATIONS)
def test_every_situation_is_answered(door: Door, name: str) -> None:
    door.send(start())
    event = load_event(name, "socket")
    if "requestContext" in event:
        event["requestContext"]["connectionId"] = "one"
    assert door.app.handler(event, Context()) == {"statusCode": 200}
