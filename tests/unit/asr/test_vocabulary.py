"""Custom vocabularies as callers write them: what is taken, what is refused and how the refusal reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from speech.asr.graph import NO_WORD, Graph
from speech.asr.known import KnownWords
from speech.asr.options import StreamOptions
from speech.asr.pronounced import Pronouncing
from speech.asr.vocabulary import CustomVocabulary, Phrase
from speech.errors import BadVocabulary
from speech.pronunciation.guesser import Guesser

from tests.unit.asr.tiny import LEXICON, PHONES, tiny_graph

BUNDLES = Path(__file__).resolve().parents[3] / "models" / "bundles"


@pytest.mark.parametrize(
    ("text", "words", "parts"),
    [
        ("Zyntrix", ("zyntrix",), (("Zyntrix", 1),)),
        ("  Amber   Falcon ", ("amber", "falcon"), (("Amber", 1), ("Falcon", 1))),
        ("Coca-Cola Light", ("coca", "cola", "light"), (("Coca-Cola", 2), ("Light", 1))),
        ("A.W.S.", ("a", "w", "s"), (("A.W.S.", 3),)),
        ("Café Ñandú", ("cafe", "nandu"), (("Café", 1), ("Ñandú", 1))),
        ("O’Brien & Sons", ("o'brien", "and", "sons"), (("O’Brien", 1), ("&", 1), ("Sons", 1))),
    ],
)
def test_a_phrase_is_the_words_that_are_said(text: str, words: tuple[str, ...], parts: tuple[tuple[str, int]]) -> None:
    [phrase] = CustomVocabulary.read([text]).phrases
    assert (phrase.form.words, phrase.form.parts) == (words, parts)


def test_a_written_form_may_have_other_words() -> None:
    [phrase] = CustomVocabulary.read([{"phrase": "c plus plus", "written": "C++"}]).phrases
    assert phrase.form.parts == (("C++", 3),)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("Zyntrix", "vocabulary: expected a list of phrases, got str"),
        ([""], "vocabulary entry 0: phrase: expected text, got ''"),
        ([7], "vocabulary entry 0: expected a phrase, or an object with one, got '7'"),
        (["fine", {"sounds": "x"}], "vocabulary entry 1: expected a phrase, or an object with one"),
        (
            [{"phrase": "a", "ipa": "x"}],
            r"entry 0: unknown keys \['ipa'\]; known are \['phrase', 'pronunciations', 'wri",
        ),
        (["Zyntrix 3000"], "'3000': digits are written out, as they are said: 'three', not '3'"),
        (["smile :)"], r"entry 0: phrase ':\)': ':' cannot be said; expected letters, apostrophes and hyphens"),
        (["-"], "'-' has no letters"),
        (["x" * 101], "entry 0: phrase has 101 characters, at most 100 are allowed"),
        (["a b c d e f g h i"], "has 9 words, at most 8 are allowed"),
        (["Zyntrix", "zyntrix"], "the vocabulary has 'zyntrix' twice: as 'Zyntrix' before"),
        ([f"x{'a' * i}" for i in range(501)], "the vocabulary has 501 phrases, at most 500 are allowed"),
        ([f"{'ab' * 45} {chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(150)], "characters, at most 10000"),
        ([{"phrase": "x", "pronunciations": "ɛks"}], "'x': pronunciations: expected a list, got str"),
        ([{"phrase": "x", "pronunciations": ["ɛks"] * 6}], "'x': 6 pronunciations, at most 5 are allowed"),
        ([{"phrase": "a b", "pronunciations": ["A"]}], "pronunciation 'A' has 1 words, 2 were expected, separated by"),
    ],
)
def test_what_is_wrong_is_named(values: object, message: str) -> None:
    with pytest.raises(BadVocabulary, match=message):
        CustomVocabulary.read(values)


def test_a_file_has_a_phrase_a_line_with_pronunciations_after_tabs() -> None:
    text = "# products\nZyntrix\tzˈɪntɹɪks\tzˈIntɹɪks\n\nAmber Falcon\n"
    expected = (Phrase("Zyntrix", ("zˈɪntɹɪks", "zˈIntɹɪks")), Phrase("Amber Falcon"))
    assert CustomVocabulary.parse(text).phrases == expected


def test_a_file_may_be_json() -> None:
    vocabulary = CustomVocabulary.parse('["Zyntrix", {"phrase": "see plus", "written": "C+"}]')
    assert vocabulary.phrases == (Phrase("Zyntrix"), Phrase("see plus", (), "C+"))
    with pytest.raises(BadVocabulary, match="vocabulary: not JSON"):
        CustomVocabulary.parse("[oops")


def test_options_survive_their_values() -> None:
    options = StreamOptions.read(
        {
            "vocabulary": ["Zyntrix", {"phrase": "a b", "pronunciations": ["A bi"]}],
            "vocabulary_filter": ["Damn"],
            "vocabulary_filter_method": "tag",
            "alternatives": 3,
        }
    )
    assert StreamOptions.read(options.values()) == options
    assert StreamOptions.read(StreamOptions().values()) == StreamOptions()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"words": []}, r"unknown options \['words'\]; known are vocabulary, vocabulary_filter"),
        ({"alternatives": 11}, "alternatives: expected a whole number from 0 to 10, got '11'"),
        ({"alternatives": True}, "alternatives: expected a whole number"),
        ({"vocabulary_filter_method": "mask"}, "vocabulary_filter_method needs the words"),
        (
            {"vocabulary_filter": ["a"], "vocabulary_filter_method": "hide"},
            "'hide' is not known; expected mask, remove",
        ),
    ],
)
def test_impossible_options_are_named(values: dict[str, object], message: str) -> None:
    with pytest.raises(BadVocabulary, match=message):
        StreamOptions.read(values)


def test_vocabularies_join_without_doubles() -> None:
    both = CustomVocabulary.read(["Zyntrix", "Falcon"]).and_also(CustomVocabulary.read(["falcon", "Otter"]))
    assert [phrase.text for phrase in both.phrases] == ["Zyntrix", "Falcon", "Otter"]


def test_the_graph_says_how_its_words_sound() -> None:
    known = KnownWords(tiny_graph())
    found = known.find({known.numbers[word] for word in LEXICON})
    expected = {w: tuple("".join(PHONES[p] for p in way) for way in ways) for w, ways in LEXICON.items()}
    assert {word: found[known.numbers[word]].ways for word in LEXICON} == expected


@pytest.fixture(scope="module")
def pronouncing() -> Pronouncing:
    graph = Graph.load(BUNDLES / "asr-en-v1" / "graph.bin")
    return Pronouncing(graph, lambda: Guesser.load(BUNDLES / "lexicon-en-v1", verify=False))


@pytest.mark.parametrize(
    ("phrase", "ways"),
    [
        ("seven weeks", {("sɛvən", "wiks")}),  # both in the graph
        ("Zyntrix", {("zɪntɹɪks",)}),  # from its letters
        ("GPU", {("ʤipiju",)}),  # letter by letter
    ],
)
def test_words_are_pronounced_from_the_graph_their_letters_or_letter_by_letter(
    pronouncing: Pronouncing, phrase: str, ways: set[tuple[str, ...]]
) -> None:
    [found] = pronouncing.pronounce(CustomVocabulary.read([phrase]))
    assert set(found.ways) & ways
    assert 1 <= len(found.ways) <= 8


def test_a_callers_pronunciation_is_the_only_one(pronouncing: Pronouncing) -> None:
    vocabulary = CustomVocabulary.read([{"phrase": "Nguyen Bank", "pronunciations": ["wɪn bæŋk", "nəˈwɪn bæŋk"]}])
    [found] = pronouncing.pronounce(vocabulary)
    assert found.ways == (("wɪn", "bæŋk"), ("nəwɪn", "bæŋk"))
    assert found.numbers[1] != NO_WORD


def test_sounds_that_are_none_are_refused(pronouncing: Pronouncing) -> None:
    with pytest.raises(BadVocabulary, match=r"'Zyntrix': '9' at position 1 of 'z9' is no phoneme"):
        pronouncing.pronounce(CustomVocabulary.read([{"phrase": "Zyntrix", "pronunciations": ["z9"]}]))


def test_without_a_lexicon_an_unknown_word_needs_a_pronunciation() -> None:
    with pytest.raises(BadVocabulary, match="does not know 'zyntrix' and reads no letters: give a pronunciation"):
        Pronouncing(tiny_graph(), None).pronounce(CustomVocabulary.read(["Zyntrix"]))
