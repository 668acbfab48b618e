"""Words become phonemes: from the lexicon, by their neighbours, by their endings, or letter by letter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from speech.errors import BadBundle, BadText
from speech.pronunciation.joint import LONGEST, STEP, JointModel
from speech.pronunciation.lexicon import Lexicon
from speech.pronunciation.phonemes import SYMBOLS, from_ipa
from speech.tts.normalise import normalise
from speech.tts.script import line

from models.tts.alignment import Aligner
from tests.unit.tts.tiny import ENTRIES, letters, lexicon_bytes, pronouncer


def said(text: str) -> str:
    own = pronouncer()
    return line(own.pronounce(normalise(text, own.known)))[0]


def test_every_entry_is_found_and_nothing_else() -> None:
    lexicon = Lexicon(lexicon_bytes())
    for word, entry in ENTRIES.items():
        usual, *others = entry.split("\t")
        found = lexicon.find(word)
        assert found == {"DEFAULT": usual} | dict(other.split("=") for other in others)
    for word in ("", "aa", "appl", "apples", "zzz", "\t", "A", "read\t"):
        assert lexicon.find(word) is None
        assert word not in lexicon


@pytest.mark.parametrize("data", [b"", b"word", b"word phonemes\n"])
def test_a_file_that_is_no_lexicon_is_refused(data: bytes) -> None:
    with pytest.raises(BadBundle, match="no pronunciation lexicon"):
        Lexicon(data)


@pytest.mark.parametrize(
    ("text", "phonemes"),
    [
        ("Hello, world.", "həlˈO, wˈɜɹld."),
        ("the apple, the dog", "ði ˈæpᵊl, ðə dˈɔɡ"),
        ("to the door", "tə ðə dˈɔɹ"),
        ("a book of it and", "ɐ bˈʊk əv ɪt ænd"),
        ("I can.", "ˈI kˈæn."),
        ("I can read it.", "ˈI kæn ɹˈid ɪt."),
        ("FBI TVs", "ˌɛf bˌi ˈI tˌi vˈiz"),
        ("NASA", "nˈæsə"),
        ("polish it. The Polish cat.", "pˈɑlɪʃ ɪt. ðə pˈOlɪʃ kˈæt."),
        ("cats dogs watches", "kˈæts dˈɔɡz wˈɑʧᵻz"),
        ("stopped wanted closed", "stˈɑpt wˈɑntᵻd klˈOst"),
        ("the cat's London's", "ðə kˈæts lˈʌndənz"),
        ("smartwatch", "smˈɑɹtwˌɑʧ"),
        ("hmm", "hˈʌm"),
        ("bft", "bˌiˌɛftˈi"),
    ],
)
def test_words_are_pronounced(text: str, phonemes: str) -> None:
    assert said(text) == phonemes


@pytest.mark.parametrize(
    ("text", "word", "phonemes"),
    [
        ("I read it yesterday", "read", "ɹˈɛd"),
        ("I have read it", "read", "ɹˈɛd"),
        ("I have never read it", "read", "ɹˈɛd"),
        ("I want to read it", "read", "ɹˈid"),
        ("I will read it", "read", "ɹˈid"),
        ("he read the book", "read", "ɹˈɛd"),
        ("did he read the book", "read", "ɹˈɛd"),
        ("we live here", "live", "lˈɪv"),
        ("it is live", "live", "lˈIv"),
        ("a live record", "live", "lˈIv"),
        ("people live in London", "live", "lˈɪv"),
        ("the record", "record", "ɹˈɛkəɹd"),
        ("record it", "record", "ɹəkˈɔɹd"),
        ("we can record that", "record", "ɹəkˈɔɹd"),
        ("I object to that", "object", "əbʤˈɛkt"),
        ("the object", "object", "ˈɑbʤəkt"),
        ("close the door", "close", "klˈOz"),
        ("it is close to me", "close", "klˈOs"),
        ("very close", "close", "klˈOs"),
        ("lead the way", "lead", None),
        ("a lead pipe", "lead", "lˈɛd"),
        ("we use it", "use", "jˈuz"),
        ("the use of it", "use", "jˈus"),
        ("I used to", "used", "jˈust"),
        ("it is used to stop", "used", "jˈuzd"),
        ("the wind", "wind", "wˈɪnd"),
        ("wind it up", "wind", "wˈɪnd"),
        ("to wind up", "wind", "wˈInd"),
        ("tear it up", "tear", "tˈɛɹ"),
        ("a tear", "tear", "tˈɪɹ"),
        ("a minute", "minute", "mˈɪnət"),
        ("in minute detail", "minute", "mInˈut"),
        ("the content", "content", "kˈɑntɛnt"),
        ("he is content", "content", "kəntˈɛnt"),
    ],
)
def test_homographs_follow_their_neighbours(text: str, word: str, phonemes: str | None) -> None:
    own = pronouncer()
    found = {p.word.text: p.phonemes for p in own.pronounce(normalise(text, own.known))}
    assert phonemes is None or found[word] == phonemes


def test_every_word_is_said_and_in_known_symbols() -> None:
    own = pronouncer()
    words = normalise("Xqz blorft hmm 123 zzyzx's " + "q" * 200 + " rhythm 'em")
    out = own.pronounce(words)
    assert [p.word for p in out] == list(words)
    assert all(p.phonemes and set(p.phonemes) <= SYMBOLS for p in out)


def test_a_callers_phonemes_come_first() -> None:
    own = pronouncer()
    assert own.pronounce(normalise("cat"), {"cat": "dˈɔɡ"})[0].phonemes == "dˈɔɡ"


def test_the_line_gives_the_place_of_each_word() -> None:
    own = pronouncer()
    text, places = line(own.pronounce(normalise("Hello, world.")))
    assert [text[p.start : p.stop] for p in places] == ["həlˈO", "wˈɜɹld"]


def test_unseen_words_are_read_by_their_letters() -> None:
    assert letters().pronounce("dat") == "dˈæt"
    assert letters().pronounce("bot") == "bˈɑt"


def test_letters_without_sound_say_nothing() -> None:
    assert letters().pronounce("") == ""
    assert letters().pronounce("'-é") == ""


def test_a_very_long_word_is_read_in_pieces() -> None:
    word = "bat" * 100
    pieces = [word[i : i + LONGEST] for i in range(0, len(word), LONGEST)]
    assert letters().pronounce(word) == "".join(map(letters().pronounce, pieces))


def test_probabilities_after_any_history_add_up_to_one() -> None:
    model = letters()
    pairs = np.arange(1, len(model.letters))  # all but the one before the first letter
    histories = np.random.default_rng(0).integers(0, len(pairs), (50, len(model.levels) - 1))
    total = np.exp(-model.costs(histories, pairs)).sum(1)
    assert total == pytest.approx(np.ones(50), abs=2 * STEP)


def test_a_model_is_the_same_after_saving(tmp_path: Path) -> None:
    letters().save(tmp_path / "letters.npz")
    again = JointModel.load(tmp_path / "letters.npz")
    assert [again.pronounce(word) for word in ENTRIES] == [letters().pronounce(word) for word in ENTRIES]


def test_a_damaged_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letters.npz").write_bytes(b"nothing")
    with pytest.raises(BadBundle, match="no letter-to-sound model"):
        JointModel.load(tmp_path / "letters.npz")


def test_alignments_spell_both_the_word_and_its_phonemes() -> None:
    entries = [(w, p.split("\t")[0]) for w, p in ENTRIES.items() if w.islower()]
    aligner = Aligner(entries)
    aligner.fit(3)
    rows = {("".join(a for a, _ in row), "".join(b for _, b in row)) for row in aligner.aligned()}
    assert rows <= set(entries)
    assert len(rows) >= len(entries) - 2


@pytest.mark.parametrize(
    ("ipa", "symbols"), [("təˈmeɪtoʊ", "təˈmAtO"), ("dʒʌdʒ", "ʤʌʤ"), ("kˈæt", "kˈæt"), ("ɡoʊ  həˈloʊ", "ɡO həˈlO")]
)
def test_ipa_is_taken_in_the_voices_symbols(ipa: str, symbols: str) -> None:
    assert from_ipa(ipa) == symbols


@pytest.mark.parametrize(("ipa", "message"), [("k7t", "'7' at position 1"), ("ˈ", "no sound"), ("", "no sound")])
def test_what_is_no_phoneme_is_refused(ipa: str, message: str) -> None:
    with pytest.raises(BadText, match=message):
        from_ipa(ipa)
