"""A caller's own pronunciations are checked, found as whole words, and keep the places of the text."""

from __future__ import annotations

import pytest
from speech.errors import BadText
from speech.tts.script import Script
from speech.tts.sentences import Piece
from speech.tts.user_lexicon import UserLexicon

from tests.unit.tts.tiny import pronouncer

LEXICON = UserLexicon.read(
    [{"text": "W3C", "alias": "world wide web consortium"}, {"text": "nginx", "phonemes": "ˈɛnʤənˌɛks"}]
)


def words(text: str) -> list[tuple[str, str, str]]:
    clause = Script(pronouncer(), LEXICON).clause(Piece(text, 100, "sentence"))
    assert clause
    return [(p.word.text + p.word.after, text[p.word.start - 100 : p.word.end - 100], p.phonemes) for p in clause.words]


def test_an_alias_is_said_in_place_of_the_text() -> None:
    assert [(said, written) for said, written, _ in words("The W3C, hello.")] == [
        ("the", "The"),
        *[(word, "W3C") for word in ("world", "wide", "web")],
        ("consortium,", "W3C"),
        ("hello.", "hello"),
    ]


def test_phonemes_are_said_in_any_case_for_an_entry_in_small_letters() -> None:
    assert words("Nginx!")[0] == ("nginx!", "Nginx", "ˈɛnʤənˌɛks")


def test_capitals_of_an_entry_count_and_parts_of_words_do_not() -> None:
    assert [said for said, _, _ in words("w3c nginxes")] == ["w", "three", "c", "nginxes"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"text": "x"}, "entry 0: expected text and either alias or phonemes"),
        ({"alias": "x"}, "expected text and either alias or phonemes"),
        ({"text": "x", "alias": "y", "phonemes": "ɪ"}, "either alias or phonemes"),
        ({"text": "x", "ipa": "ɪ"}, r"unknown keys \['ipa'\]"),
        ({"text": "x", "phonemes": "7"}, "entry 0: phonemes: '7' at position 0"),
        ({"text": "", "alias": "y"}, "text: expected text, got ''"),
        ({"text": 5, "alias": "y"}, "text: expected text, got 5"),
        ({"text": "x" * 101, "alias": "y"}, "has 101 characters, at most 100"),
        ("x", "expected an object"),
    ],
)
def test_a_wrong_entry_is_refused_by_name(entry: object, message: str) -> None:
    with pytest.raises(BadText, match=message):
        UserLexicon.read([entry])  # type: ignore[list-item]


def test_doubles_and_too_many_are_refused() -> None:
    with pytest.raises(BadText, match="entry 1: 'x' is entry 0 already"):
        UserLexicon.read([{"text": "x", "alias": "y"}] * 2)
    with pytest.raises(BadText, match="1001 entries, at most 1000"):
        UserLexicon.read([{"text": f"x{i}", "alias": "y"} for i in range(1001)])
