"""Converse of Amazon Bedrock: the real boto3 against a server that speaks its event stream."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from cloud.replies.bedrock import Bedrock
from cloud.replies.conversation import Turn
from cloud.replies.responder import Question, Refused, Unavailable

from tests.stack.replies import event_stream as stream
from tests.stack.replies.cancelled import cancelled_after_a_piece
from tests.stack.replies.model_server import Act, ModelServer, refuses

MODEL = "amazon.nova-micro-v1:0"
QUESTION = Question(
    "call-7",
    (
        Turn("reply", "How can I help?"),
        Turn("caller", "I would like"),
        Turn("caller", "a table."),
        Turn("reply", "For how", interrupted=True),
        Turn("caller", "For two."),
    ),
)


@pytest.fixture
def ask(point: Callable[[str], None]) -> Callable[[ModelServer], list[str]]:
    def read(server: ModelServer) -> list[str]:
        point(server.url)
        return list(Bedrock(MODEL, "You are a waiter.", 99).answer(QUESTION))

    return read


def test_the_text_comes_in_pieces_and_the_conversation_goes_there(ask: Callable[[ModelServer], list[str]]) -> None:
    with ModelServer(stream.converse("A table ", "for two.")) as server:
        assert ask(server) == ["A table ", "for two."]
    [request] = server.requests
    assert server.paths == ["/model/amazon.nova-micro-v1%3A0/converse-stream"]
    assert request["system"] == [{"text": "You are a waiter."}]
    assert request["inferenceConfig"] == {"maxTokens": 99}
    # The service wants the user first, and then turns.
    assert [(m["role"], m["content"][0]["text"]) for m in request["messages"]] == [
        ("user", "I would like a table."),
        ("assistant", "For how ..."),
        ("user", "For two."),
    ]


@pytest.mark.parametrize(
    ("act", "kind", "text"),
    [
        (
            refuses(429, '{"__type": "ThrottlingException", "message": "slowly"}'),
            Unavailable,
            "ThrottlingException: slowly",
        ),
        (
            refuses(403, '{"__type": "AccessDeniedException", "message": "no"}'),
            Refused,
            "InvokeModelWithResponseStream",
        ),
        (refuses(400, '{"__type": "ValidationException", "message": "odd"}'), Refused, "odd"),
        (stream.sends(stream.text("A"), stream.exception("throttlingException", "slowly")), Unavailable, "slowly"),
        (stream.sends(stream.text("A"), stream.exception("modelStreamErrorException", "oh")), Unavailable, "oh"),
        (stream.sends(stream.text("A")), Unavailable, "broke off"),
        (stream.sends(b"\0" * 40), Unavailable, "hecksum"),
    ],
)
def test_what_goes_wrong_is_said(
    ask: Callable[[ModelServer], list[str]], act: Act, kind: type[Exception], text: str
) -> None:
    with ModelServer(act) as server, pytest.raises(kind, match=text):
        ask(server)


def test_a_cancelled_answer_ends_while_it_waits(point: Callable[[str], None]) -> None:
    with ModelServer(stream.sends(stream.text("One. "), hangs=True)) as server:
        point(server.url)
        found = cancelled_after_a_piece(Bedrock(MODEL).answer(QUESTION))
    assert found == ["One. "]
