"""An OpenAI-compatible endpoint, well-behaved and in every way not: a real server, real HTTP."""

from __future__ import annotations

import threading

import pytest
from cloud.replies.chat import Chat
from cloud.replies.conversation import Turn
from cloud.replies.responder import Question, Refused, Unavailable
from cloud.replies.sse import SseParser
from hypothesis import given
from hypothesis import strategies as st

from tests.stack.replies import model_server as model
from tests.stack.replies.model_server import Act, ModelServer

TURNS = (
    Turn("caller", "I would like"),
    Turn("caller", "to move my delivery."),
    Turn("reply", "Of course. Which", interrupted=True),
    Turn("caller", "On Thursday."),
)
QUESTION = Question("call-7", TURNS)


def said(server: ModelServer, **changed: object) -> list[str]:
    return list(Chat(f"{server.url}/v1", "small", **changed).answer(QUESTION))  # type: ignore[arg-type]


def test_the_text_comes_in_the_pieces_that_were_sent() -> None:
    with ModelServer(model.answers("Thurs", "day, ", "then.")) as server:
        assert said(server) == ["Thurs", "day, ", "then."]
    assert server.paths == ["/v1/chat/completions"]


def test_the_model_is_told_who_said_what_in_turns() -> None:
    with ModelServer(model.answers("Yes.")) as server:
        said(server, system="You are a florist.", key=lambda: "sk-1", more={"temperature": 0, "model": "of no effect"})
    [request], [headers] = server.requests, server.headers
    assert request["messages"] == [
        {"role": "system", "content": "You are a florist."},
        {"role": "user", "content": "I would like to move my delivery."},
        {"role": "assistant", "content": "Of course. Which ..."},
        {"role": "user", "content": "On Thursday."},
    ]
    assert (request["model"], request["stream"], request["temperature"]) == ("small", True, 0)
    assert headers["authorization"] == "Bearer sk-1"


def test_without_a_key_no_header_is_sent() -> None:
    with ModelServer(model.answers("Yes.")) as server:
        said(server)
    assert "authorization" not in server.headers[0]


@pytest.mark.parametrize(
    "act",
    [
        model.answers("A. ", "B.", done=False),
        model.raw(
            ": ping\r\n\r\nevent: message\r\nid: 3\r\ndata:"
            + model.delta("A. B.", finish_reason="stop")[5:-2]
            + "\r\n\r\n"
        ),
        model.raw('{"choices": [{"message": {"content": "A. B."}}]}', kind="application/json"),
    ],
    ids=["no [DONE]", "carriage returns, comments, names", "not streamed"],
)
def test_other_servers_ways_are_understood(act: Act) -> None:
    with ModelServer(act) as server:
        assert "".join(said(server)) == "A. B."


@pytest.mark.parametrize(
    ("act", "kind", "text"),
    [
        (model.refuses(429), Unavailable, "status 429"),
        (model.refuses(500, "<html>oh</html>"), Unavailable, "<html>oh"),
        (model.refuses(503), Unavailable, "status 503"),
        (model.refuses(401), Refused, "status 401"),
        (model.refuses(404, '{"error": "model \'small\' not found"}'), Refused, "not found"),
        (model.breaks_off(), Unavailable, "127.0.0.1"),
        (model.raw(""), Unavailable, "broke off"),
        (model.raw("data: {not JSON}\n\n"), Refused, "expected JSON"),
        (model.raw("data: [1]\n\n"), Refused, "JSON object"),
        (model.raw('data: {"error": {"message": "overloaded"}}\n\n'), Unavailable, "overloaded"),
        (model.raw("data: " + "x" * (1 << 20), "x" * 100), Refused, "more than"),
        (model.raw("<html>", kind="application/json"), Refused, "expected JSON"),
    ],
)
def test_what_goes_wrong_is_said_and_whether_to_ask_again(act: Act, kind: type[Exception], text: str) -> None:
    with ModelServer(act) as server, pytest.raises(kind, match=".*" + text.replace("[", r"\[")):
        said(server)


def test_an_answer_that_breaks_off_gives_what_came() -> None:
    with ModelServer(model.breaks_off("One. ", "Two")) as server:
        pieces = iter(Chat(server.url, "small").answer(QUESTION))
        assert [next(pieces), next(pieces)] == ["One. ", "Two"]
        with pytest.raises(Unavailable):
            next(pieces)


def test_nobody_there() -> None:
    with ModelServer(model.answers("A.")) as server:
        url = server.url
    with pytest.raises(Unavailable, match="refused"):
        list(Chat(url, "small").answer(QUESTION))


def test_silence_has_an_end() -> None:
    with ModelServer(model.stalls("One.")) as server, pytest.raises(Unavailable, match="timed out"):
        said(server, silence_s=0.1)


@pytest.mark.parametrize("pieces", [(), ("One.",)])
def test_a_cancelled_answer_ends_while_it_waits(pieces: tuple[str, ...]) -> None:
    with ModelServer(model.stalls(*pieces)) as server:
        answer, found = Chat(server.url, "small").answer(QUESTION), list[str]()
        reader = threading.Thread(target=lambda: found.extend(answer))
        reader.start()
        server.asked.wait()
        answer.cancel()
        reader.join()
        answer.cancel()
    assert found in ([], [*pieces])


def test_cancelled_before_it_was_read_it_says_nothing() -> None:
    with ModelServer(model.stalls()) as server:
        answer = Chat(server.url, "small").answer(QUESTION)
        answer.cancel()
        assert list(answer) == []


def test_the_connection_is_used_again() -> None:
    with ModelServer(model.answers("A.")) as server:
        chat = Chat(server.url, "small")
        for _ in range(3):
            assert list(chat.answer(QUESTION)) == ["A."]
            for thread in threading.enumerate():
                if thread.name == "give back":
                    thread.join()
    assert len(server.peers) == 1


@given(
    st.lists(st.sampled_from(["data: a\n\n", "data:b\r\n\r\n", ": c\n", "data: d\ndata: e\n\n", "x: y\n\n"])), st.data()
)
def test_events_do_not_depend_on_the_cuts(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts).encode()
    whole = SseParser().receive(text)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    parser = SseParser()
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert [event for piece in pieces for event in parser.receive(piece)] == whole
    expected = {"data: a\n\n": "a", "data:b\r\n\r\n": "b", "data: d\ndata: e\n\n": "d\ne"}
    assert whole == [expected[part] for part in parts if part in expected]
