"""Who replies, by a worker's settings; a key by its reference, out of the embedded AWS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest
from cloud.calls.call import Call
from cloud.clients import client
from cloud.replies import choose
from cloud.replies.bedrock import Bedrock
from cloud.replies.chat import Chat
from cloud.replies.desk import Desk
from cloud.replies.echo import Echo
from cloud.replies.function import Function
from cloud.replies.responder import Refused
from cloud.replies.secret import Secret
from cloud.settings import BadSettings, LiveWorkerSettings
from speech.errors import BadInput

from tests.tiny.voice import FOLDER

GIVEN: dict[str, Any] = {
    "responder": "echo",
    "responder_address": "none",
    "responder_model": "none",
    "responder_secret": "none",
    "responder_prompt": "Be brief.",
    "responder_options": '{"temperature": 0.2}',
    "reply_stream": "replies-{call}",
    "reply_encoding": "pcm_mulaw",
    "call_recording": "none",
    "reply_voice": "none",
    "reply_fallback": "none",
    "models_dir": str(FOLDER.parent),
    "tts_bundle": FOLDER.name,
    "formats": ("json",),
}


def settings(**changed: Any) -> LiveWorkerSettings:
    """What these tests do not look at is 1."""
    names = {field.name: 1 for field in fields(LiveWorkerSettings)}
    return LiveWorkerSettings(**(names | GIVEN | changed))


@pytest.mark.parametrize(
    ("responder", "address", "kind"),
    [
        ("echo", "none", Echo),
        ("chat", "https://example.com/v1", Chat),
        ("bedrock", "amazon.nova-micro-v1:0", Bedrock),
        ("function", "waiter", Function),
    ],
)
def test_each_responder_is_made_of_its_settings(responder: str, address: str, kind: type) -> None:
    made = choose.responder(settings(responder=responder, responder_address=address, responder_model="small"))
    assert isinstance(made, kind)
    if isinstance(made, Chat):
        assert (made.url, made.model, made.system, made.more) == (address, "small", "Be brief.", {"temperature": 0.2})
        assert made.key() == ""
    if isinstance(made, Bedrock):
        assert (made.model, made.system) == (address, "Be brief.")
    if isinstance(made, Function):
        assert made.name == address


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"responder": "parrot"}, "RESPONDER must be none, echo"),
        ({"responder": "chat"}, "RESPONDER_ADDRESS is none"),
        ({"responder": "chat", "responder_address": "https://a", "responder_options": "[]"}, "a JSON object"),
        ({"responder": "chat", "responder_address": "https://a", "responder_options": "{"}, "expected JSON"),
    ],
)
def test_settings_that_cannot_work_are_named(changed: dict[str, str], text: str) -> None:
    with pytest.raises(BadSettings, match=text):
        choose.responder(settings(**{"responder_address": "none"} | changed))


def test_without_a_responder_nobody_replies() -> None:
    assert choose.desk(settings(responder="none", tts_bundle="not there"), None, nobody) is None  # type: ignore[arg-type]


def nobody(call: Call, records: list[dict[str, Any]]) -> None: ...


def test_a_voice_that_is_not_there_is_found_out_at_once() -> None:
    assert isinstance(choose.desk(settings(), None, nobody), Desk)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="'tenor' is not known; expected one of low, high"):
        choose.desk(settings(reply_voice="tenor"), None, nobody)  # type: ignore[arg-type]


def test_a_key_is_read_where_its_reference_points(embedded: str, point: Callable[[str], None]) -> None:
    point(embedded)
    plain = client("secretsmanager").create_secret(Name="plain", SecretString="sk-1")["ARN"]
    client("secretsmanager").create_secret(Name="packed", SecretString='{"key": "sk-2", "owner": "me"}')
    client("ssm").put_parameter(Name="/chat/key", Value="sk-3", Type="SecureString")
    assert [Secret(name)() for name in (plain, "packed", "/chat/key", "")] == ["sk-1", "sk-2", "sk-3", ""]
    with pytest.raises(Refused, match="secretsmanager:GetSecretValue"):
        Secret("nowhere")()


def test_a_key_is_kept_for_a_while(embedded: str, point: Callable[[str], None]) -> None:
    point(embedded)
    client("secretsmanager").create_secret(Name="changing", SecretString="sk-1")
    secret = Secret("changing")
    assert secret() == "sk-1"
    client("secretsmanager").put_secret_value(SecretId="changing", SecretString="sk-2")
    assert (secret(), Secret("changing")()) == ("sk-1", "sk-2")
