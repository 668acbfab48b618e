"""Pronunciations from dictionaries, endings, other spellings and, for the rest, letter-to-sound."""

from __future__ import annotations

import pytest

from models.asr.letters import LetterToSound
from models.asr.lexicon import Pronouncer, words_of
from models.asr.phones import from_arpabet, to_phones

MISAKI = [
    {
        "cat": "kˈæt", "wait": "wˈAt", "honor": "ˈɑnəɹ", "read": {"DEFAULT": "ɹˈid", "VBD": "ɹˈɛd"}, "bus": "bˈʌs",
        "NFL": "ˌɛnˌɛfˈɛl", "carry": "kˈæɹi", "run": "ɹˈʌn", "make": "mˈAk", "polish": "pˈɑlɪʃ", "Polish": "pˈOlɪʃ",
        "mat": "mˈæt", "tack": "tˈæk", "mack": "mˈæk", "can": "kˈæn", "tan": "tˈæn", "man": "mˈæn", "tam": "tˈæm",
    }
]  # fmt: skip
CMUDICT = {"quilter": [["K", "W", "IH1", "L", "T", "ER0"]], "later": [["L", "EY1", "T", "ER0"]]}


@pytest.fixture(scope="module")
def pronouncer() -> Pronouncer:
    return Pronouncer(MISAKI, CMUDICT)


@pytest.mark.parametrize(
    ("word", "phones"),
    [
        ("cat", ["kæt"]),
        ("read", ["ɹid", "ɹɛd"]),
        ("polish", ["pɑlɪʃ", "pOlɪʃ"]),
        ("nfl", ["ɛnɛfɛl"]),
        ("cats", ["kæts"]),
        ("buses", ["bʌsɪz"]),
        ("cat's", ["kæts"]),
        ("waited", ["wAɾɪd"]),
        ("carried", ["kæɹid"]),
        ("running", ["ɹʌnɪŋ"]),
        ("making", ["mAkɪŋ"]),
        ("honour", ["ɑnəɹ"]),
        ("honoured", ["ɑnəɹd"]),
        ("quilter", ["kwɪltəɹ"]),
        ("quilter's", ["kwɪltəɹz"]),
        ("the", ["ðə", "ði"]),
        ("q", ["kju"]),
        ("xyz", ["ɛkswIzi"]),
    ],
)
def test_a_word_is_pronounced(pronouncer: Pronouncer, word: str, phones: list[str]) -> None:
    assert pronouncer.pronounce(word) == phones


def test_arpabet_is_written_with_a_flap_where_misaki_has_one() -> None:
    assert from_arpabet(CMUDICT["later"][0]) == "lAɾəɹ"
    assert from_arpabet(["B", "AH1", "T", "AH0", "N"]) == "bʌtən"


def test_stress_goes_and_rare_symbols_become_near_ones() -> None:
    assert to_phones("ðə bˈʌʔn ɹˈOzᵻz, ɐ lˈɪɾᵊl") == "ðəbʌtnɹOzɪzəlɪɾəl"


def test_letter_to_sound_reads_a_word_it_has_not_seen() -> None:
    known = [(w, w) for w in ["bad", "dab", "bed", "deb", "dad", "ebb", "add", "bead"]]
    assert LetterToSound(known).pronounce("bedab") == "bedab"


def test_transcripts_fall_apart_into_plain_words() -> None:
    assert words_of("It’s a CAFÉ, 42 o'clock!") == ["it's", "a", "cafe", "o'clock"]
