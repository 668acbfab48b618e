"""A Lambda function that answers: in the embedded AWS, and streaming from a server that does what Lambda's does."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator

import pytest
from cloud.clients import client
from cloud.replies.conversation import Turn
from cloud.replies.function import Function
from cloud.replies.responder import Question, Refused, Unavailable

from tests.stack.replies import event_stream as stream
from tests.stack.replies.cancelled import cancelled_after_a_piece
from tests.stack.replies.model_server import Act, ModelServer, refuses

QUESTION = Question(
    "call-7", (Turn("caller", "Hello?"), Turn("reply", "Good", interrupted=True), Turn("caller", "A table."))
)
CODE = """
def handler(event, context):
    last = event["turns"][-1]["text"]
    if last == "fail":
        raise ValueError("out of tables")
    said = f"{event['call']}: {last} {event['turns'][-2]}"
    return {"number": 7} if last == "number" else said if last == "plain" else {"text": said}
"""


@pytest.fixture
def function(embedded: str, point: Callable[[str], None]) -> Iterator[str]:
    """Name of a deployed function."""
    point(embedded)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("app.py", CODE)
    made = {"Runtime": "python3.13", "Handler": "app.handler", "Role": "arn:aws:iam::000000000000:role/any"}
    client("lambda").create_function(FunctionName="waiter", Code={"ZipFile": packed.getvalue()}, **made)
    yield "waiter"
    client("lambda").delete_function(FunctionName="waiter")


def ask(name: str, text: str) -> str:
    turns = (*QUESTION.turns[:-1], Turn("caller", text))
    return "".join(Function(name).answer(Question("call-7", turns)))


@pytest.mark.parametrize("text", ["plain", "a table"])
def test_what_a_function_returns_is_said(function: str, text: str) -> None:
    assert ask(function, text) == f"call-7: {text} {{'who': 'reply', 'text': 'Good', 'interrupted': True}}"


def test_a_function_that_fails_or_is_not_there(function: str) -> None:
    with pytest.raises(Unavailable, match=r"out of tables|Unhandled"):
        ask(function, "fail")
    with pytest.raises(Refused, match="expected a string or an object"):
        ask(function, "number")
    with pytest.raises(Refused, match="ResourceNotFound"):
        ask("nobody", "hello")


def chunk(data: bytes) -> bytes:
    return stream.event("PayloadChunk", data)


COMPLETE = stream.event("InvokeComplete", {})


def read(server: ModelServer, point: Callable[[str], None]) -> list[str]:
    point(server.url)
    return list(Function("waiter").answer(QUESTION))


@pytest.mark.parametrize(
    ("act", "pieces"),
    [
        (
            stream.sends(chunk(b"A tab"), chunk("l\u00e9 ".encode()[:2]), chunk("\u00e9 ".encode()[1:]), COMPLETE),
            ["A tab", "l", "\u00e9 "],
        ),
        (stream.sends(chunk(b'{"text": "A ta'), chunk(b'ble."}'), COMPLETE), ["A table."]),
        (stream.sends(chunk(b'"A table."'), COMPLETE), ["A table."]),
        (stream.sends(chunk(b'"Sure", he said.'), COMPLETE), ['"Sure", he said.']),
        (stream.sends(COMPLETE), []),
    ],
    ids=["text with a character cut in two", "object", "string", "a quotation", "nothing"],
)
def test_text_is_said_as_it_comes_and_json_when_it_is_whole(
    point: Callable[[str], None], act: Act, pieces: list[str]
) -> None:
    with ModelServer(act) as server:
        assert read(server, point) == pieces
    assert server.requests[0]["turns"][-1] == {"who": "caller", "text": "A table.", "interrupted": False}


@pytest.mark.parametrize(
    ("act", "kind", "text"),
    [
        (stream.sends(chunk(b"A tab")), Unavailable, "broke off"),
        (
            stream.sends(chunk(b"A"), stream.event("InvokeComplete", {"ErrorCode": "Timeout", "ErrorDetails": "3 s"})),
            Unavailable,
            "3 s",
        ),
        (refuses(429, '{"__type": "TooManyRequestsException", "Message": "slowly"}'), Unavailable, "TooMany"),
        (refuses(403, '{"__type": "AccessDeniedException", "Message": "no"}'), Refused, "lambda:InvokeFunction"),
    ],
)
def test_what_goes_wrong_is_said(point: Callable[[str], None], act: Act, kind: type[Exception], text: str) -> None:
    with ModelServer(act) as server, pytest.raises(kind, match=text):
        read(server, point)


def test_a_cancelled_answer_ends_while_it_waits(point: Callable[[str], None]) -> None:
    with ModelServer(stream.sends(chunk(b"One. "), hangs=True)) as server:
        point(server.url)
        found = cancelled_after_a_piece(Function("waiter").answer(QUESTION))
    assert found == ["One. "]
