"""The shipped English bundle punctuates plain sentences, and its manifest says how well."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from speech.events import join_tokens
from speech.model.bundle import Bundle
from speech.text.formatter import Formatter

from tests.unit.text.conftest import spoken

FOLDER = Path(__file__).parents[3] / "models" / "bundles" / "text-en-v1"


@pytest.fixture(scope="module")
def english() -> Formatter:
    return Formatter.load(FOLDER)


@pytest.mark.parametrize(
    ("words", "written"),
    [
        (
            "thank you for calling amazon how can i help you today",
            "Thank you for calling Amazon. How can I help you today?",
        ),
        ("our revenue was one point eight billion dollars", "Our revenue was $1.8 billion."),
        (
            "what kind of food would you like i would prefer italian or mexican",
            "What kind of food would you like? I would prefer Italian or Mexican.",
        ),
        ("my name is john smith and i live in london", "My name is John Smith and I live in London."),
        ("i have a problem with my iphone", "I have a problem with my iPhone."),
    ],
)
def test_a_plain_sentence_is_written_as_one_would(english: Formatter, words: str, written: str) -> None:
    assert join_tokens(english.format(spoken(words))) == written


def test_a_segment_longer_than_a_window_is_formatted_whole(english: Formatter) -> None:
    words = "we had a very good year and i would like to thank all of you for it " * 30
    tokens = english.format(spoken(words))
    assert " ".join(word for token in tokens for word in token.spoken) == words.strip()


@pytest.mark.parametrize("group", ["earnings calls", "dialogue"])
def test_the_manifest_holds_the_measured_accuracy(group: str) -> None:
    measured = cast(dict[str, dict[str, Any]], Bundle.load(FOLDER, "text").manifest.measured)
    assert measured[f"{group}, whole"]["punctuation_f1"] >= 0.70
    assert measured[f"{group}, whole"]["casing_accuracy"] >= 0.90


def test_the_bundle_is_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 6e6
