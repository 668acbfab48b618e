"""A vocabulary and a filter of a stream: given once, in force in whichever process, and refused by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.functions.socket.door import RATE, Door, spoken, start, transcript
from tests.tiny.sound import say

SPEECH = say("cat dakot dog 1.6 go dakot", RATE, before_s=0.3, after_s=0.4)
OWN = {"phrase": "Dakot", "pronunciations": ["dakot"]}


def texts(records: list[dict[str, Any]], kind: str = "final") -> list[str]:
    return [record["text"] for record in records if record["type"] == kind]


def begun(**wishes: Any) -> list[dict[str, Any]]:
    first, *rest = spoken(SPEECH)
    return [first | wishes, *rest]


def test_each_message_may_be_another_process(cold_start: Callable[[str], Door]) -> None:
    door = cold_start("socket")
    door.open()
    for message in begun(vocabulary=[OWN], vocabulary_filter=["go"]):
        cold_start("socket").send(message)
    assert texts(transcript(door.heard())) == ["Cat Dakot dog.", "*** Dakot."]
    assert "go" not in " ".join(texts(door.heard(), "partial")).split()


def test_after_a_finalize_the_words_are_still_known(door: Door) -> None:
    first, *rest = begun(vocabulary=[OWN], vocabulary_filter=["cat"], vocabulary_filter_method="tag")
    half = len(rest) // 2
    messages = [*rest[:half], {"type": "finalize", "stream": "a"}, *rest[half:]]
    for message in [first, *({**m, "sequence": n} for n, m in enumerate(messages))]:
        door.send(message)
    finals = [record for record in transcript(door.heard()) if record["type"] == "final"]
    assert [final["text"] for final in finals] == ["Cat Dakot dog.", "Go Dakot."]
    tagged = [w["text"] for final in finals for w in final["words"] if w.get("vocabulary_filter_match")]
    assert tagged == ["cat"]


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"vocabulary": "Zyntrix"}, "vocabulary: expected a list of phrases, got str"),
        ({"vocabulary": ["Zyntrix 3000"]}, "vocabulary entry 0: phrase '3000': digits are written out"),
        ({"vocabulary": ["Zyntrix"]}, "this model does not know 'zyntrix' and reads no letters: give a pronunciation"),
        ({"vocabulary": [OWN | {"ipa": "x"}]}, "vocabulary entry 0: unknown keys ['ipa']"),
        ({"vocabulary_filter": ["a b"]}, "filter entry 0 'a b' has 2 words; a filter holds single words"),
        ({"vocabulary_filter": ["a"], "vocabulary_filter_method": ["x"]}, "filter method \"['x']\" is not known"),
        ({"vocabulary_filter_method": "mask"}, "vocabulary_filter_method needs the words of vocabulary_filter"),
    ],
)
def test_what_is_wrong_is_named_and_opens_nothing(door: Door, wishes: dict[str, Any], message: str) -> None:
    [refusal] = door.send(start(**wishes))
    assert (refusal["type"], refusal["code"], refusal["stream"]) == ("error", "bad_vocabulary", "a")
    assert message in refusal["message"]
    assert door.send(start())[0]["type"] == "started"


def test_a_start_that_comes_twice_is_a_repeat_only_with_the_same_words(door: Door) -> None:
    wishes = {"vocabulary": [OWN], "vocabulary_filter": ["go"]}
    assert door.send(start(**wishes))[0]["type"] == "started"
    assert door.send(start(**wishes))[0]["repeat"] is True
    assert door.send(start(vocabulary=[OWN]))[0]["code"] == "stream_exists"
    assert json.dumps(door.send(start())[0]["code"]) == '"stream_exists"'
