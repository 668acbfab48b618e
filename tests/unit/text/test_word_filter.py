"""Vocabulary filters: what each method leaves of words, text and punctuation."""

from __future__ import annotations

import pytest
from speech.errors import BadVocabulary
from speech.events import Alternative, Final, Partial, Token, Word
from speech.text.formatter import Formatter
from speech.text.forms import Form, Forms
from speech.text.word_filter import METHODS, WordFilter


def words(text: str) -> tuple[Word, ...]:
    return tuple(Word(word, float(i), i + 0.5, 0.9) for i, word in enumerate(text.split()))


def tokens(written: str) -> tuple[Token, ...]:
    """Tokens of "Well , damn .": signs stand alone; `$5|five|dollars` stands for two words."""
    found = []
    for i, piece in enumerate(written.split()):
        text, *spoken = piece.split("|")
        sign = text in ",.?!"
        kind = ("punctuation", ()) if sign else ("word", tuple(spoken) or (text.lower(),))
        found.append(Token(text, float(i), i + 0.5, 0.9, *kind))  # type: ignore[arg-type]
    return tuple(found)


def final(spoken: str, written: str) -> Final:
    return Final(3, words(spoken), tokens(written), 0.0, 9.0, (Alternative(words(spoken), tokens(written)),))


@pytest.mark.parametrize(
    ("written", "mask", "remove"),
    [
        ("Oh damn it .", "Oh *** it.", "Oh it."),
        ("Damn , that hurts .", "***, that hurts.", "that hurts."),
        ("That hurts , damn .", "That hurts, ***.", "That hurts."),
        ("Well , damn , no .", "Well, ***, no.", "Well, no."),
        ("No . Damn . Yes .", "No. ***. Yes.", "No. Yes."),
        ("Damn .", "***.", ""),
        ("It costs $5|five|dollars damn|damn .", "It costs $5 ***.", "It costs $5."),
        ("Damned if I care .", "Damned if I care.", "Damned if I care."),
    ],
)
def test_the_text_of_a_final(written: str, mask: str, remove: str) -> None:
    spoken = " ".join(word for token in tokens(written) for word in token.spoken)
    expected = {"mask": mask, "remove": remove}
    for method, text in expected.items():
        shown = WordFilter.read(["DAMN"], method).final(final(spoken, written))
        assert shown.text == shown.alternatives[0].text == text
        assert "damn" not in shown.raw_text.split()
    tagged = WordFilter.read(["damn"], "tag").final(final(spoken, written))
    assert tagged.text == final(spoken, written).text
    assert [w.text for w in tagged.words if w.filtered] == [w for w in spoken.split() if w == "damn"]
    assert [t.filtered for t in tagged.tokens] == ["damn" in t.spoken for t in tagged.tokens]


def test_a_number_that_stands_for_a_hidden_word_is_hidden() -> None:
    shown = WordFilter.read(["five"]).final(final("it costs five dollars", "It costs $5|five|dollars ."))
    assert shown.text == "It costs ***."


def test_a_partial_counts_the_settled_words_that_are_left() -> None:
    event = Partial(0, words("oh damn it damn"), 2)
    assert WordFilter.read(["damn"], "remove").partial(event) == Partial(0, (event.words[0], event.words[2]), 1)
    masked = WordFilter.read(["damn"], "mask").partial(event)
    assert ([w.text for w in masked.words], masked.stable) == (["oh", "***", "it", "***"], 2)
    assert [w.start_s for w in masked.words] == [w.start_s for w in event.words]


@pytest.mark.parametrize(
    ("entries", "method", "message"),
    [
        ("damn", "mask", "filter: expected a list of words, got str"),
        (["damn it"], "mask", "filter entry 0 'damn it' has 2 words; a filter holds single words"),
        (["ok", "c3po"], "mask", "filter entry 1 'c3po': digits are written out"),
        ([" "], "mask", "filter entry 0: expected a word, got ' '"),
        (["x" * 51], "mask", "filter entry 0 has 51 characters, at most 50"),
        ([f"a{'b' * (i % 40)}{'c' * (i // 40)}" for i in range(1001)], "mask", "has 1001 words, at most 1000"),
        (["damn"], "hide", "filter method 'hide' is not known; expected mask, remove, tag"),
    ],
)
def test_what_is_wrong_is_named(entries: object, method: str, message: str) -> None:
    with pytest.raises(BadVocabulary, match=message):
        WordFilter.read(entries, method)


def test_a_file_has_a_word_a_line() -> None:
    assert WordFilter.parse("# rude\nDamn\n\n  hell \n", "tag") == WordFilter(frozenset({"damn", "hell"}), "tag")
    assert METHODS == ("mask", "remove", "tag")


@pytest.mark.parametrize(
    ("spoken", "written"),
    [
        ("i love amber falcon", "I love Amber Falcon."),
        ("amber is a falcon", "Amber is a falcon."),
        ("coca cola is sweet", "Coca-Cola is sweet."),
        ("zyntrix five thousand is here", "Zyntrix 5,000 is here."),
        ("c plus plus and iphone", "C++ and iPhone."),
        ("iphone amber falcon", "iPhone Amber Falcon."),
        ("route sixty six leads to five dollars", "Route 66 leads to $5."),
    ],
)
def test_own_phrases_are_written_as_their_owner_writes_them(spoken: str, written: str) -> None:
    forms = Forms(
        [
            Form(("amber", "falcon"), (("Amber", 1), ("Falcon", 1))),
            Form(("coca", "cola"), (("Coca-Cola", 2),)),
            Form(("zyntrix",), (("Zyntrix", 1),)),
            Form(("c", "plus", "plus"), (("C++", 3),)),
            Form(("iphone",), (("iPhone", 1),)),
            Form(("route", "sixty", "six"), (("Route", 1), ("66", 2))),
            Form(("sweet",), (("sweet", 1),)),
        ]
    )
    found = Formatter.plain().format(words(spoken), True, forms)
    assert Final(0, (), found, 0, 0).text == written
    assert [word for token in found for word in token.spoken] == spoken.split()
