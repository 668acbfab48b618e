"""The load test's client says again what was missed, as a client of the WebSocket should."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from websockets.sync.client import ClientConnection

from tests.bench.speaker import Speaker
from tests.stack.door.wire import Wire

LATER = 1e12  # a monotonic time that does not come


class Socket:
    """Gives what a test has put in, and keeps what is sent."""

    def __init__(self, *heard: Any) -> None:
        self.heard = [one if isinstance(one, str) else json.dumps(one) for one in heard]
        self.sent = list[int]()

    def send(self, text: str) -> None:
        self.sent.append(json.loads(text)["sequence"])

    def recv(self, timeout: float) -> str:
        if not self.heard:
            raise TimeoutError
        text = self.heard.pop(0)
        if text == "silence":
            raise TimeoutError
        return text


DONE = {"type": "done", "sequence": 3, "number": 1, "received": 4}


def spoken(*heard: Any) -> tuple[Socket, Speaker]:
    socket = Socket(*heard)
    speaker = Speaker(Wire(cast("ClientConnection", socket)))
    for _ in range(4):
        speaker.say({"type": "audio"})
    speaker.until("done", LATER)
    return socket, speaker


def error(code: str, **values: Any) -> dict[str, Any]:
    return {"type": "error", "code": code, "stream": "a"} | values


@pytest.mark.parametrize("code", ["missing_message", "too_many_waiting", "sequence_gap"])
def test_it_goes_back_once_to_what_is_missing(code: str) -> None:
    socket, speaker = spoken(error(code, expected=2), error(code, expected=2), DONE)
    assert socket.sent == [0, 1, 2, 3, 2, 3]
    assert (speaker.troubles, speaker.received, speaker.line.heard) == ({code: 2}, 4, [DONE])


@pytest.mark.parametrize("trouble", ["Read timeout on endpoint", {"message": "Internal server error"}])
def test_it_goes_back_to_what_is_not_acknowledged_when_a_message_found_no_process(trouble: Any) -> None:
    partial = {"type": "partial", "number": 0, "received": 1}
    socket, speaker = spoken(partial, trouble, DONE)
    assert socket.sent == [0, 1, 2, 3, 1, 2, 3]
    assert speaker.line.heard == [partial, DONE]


def test_it_asks_for_the_end_again_when_nothing_comes() -> None:
    socket, _ = spoken("silence", DONE | {"sequence": 1}, DONE)
    assert socket.sent == [0, 1, 2, 3, 3]


def test_a_refusal_stays_in_what_was_heard() -> None:
    refusal = error("bad_audio", sequence=1)
    assert spoken(refusal, DONE)[1].line.heard == [refusal, DONE]
