"""Words become the same integers in every process."""

from __future__ import annotations

import pytest
from speech.errors import BadBundle
from speech.text.vocabulary import UNKNOWN, Vocabulary, hash_bucket

VOCABULARY = Vocabulary(("the", "iphone"), {"iphone": "iPhone", "o'brien": "O'Brien"}, buckets=64)


def test_known_words_have_rows_from_one_and_unknown_words_share_row_zero() -> None:
    assert VOCABULARY.encode(["the", "iphone", "xyzzy"])[:, 0].tolist() == [1, 2, UNKNOWN]


def test_words_with_the_same_ending_share_its_bucket() -> None:
    features = VOCABULARY.encode(["nation", "station"])
    assert features[0, 2] == features[1, 2]
    assert features[0, 1] != features[1, 1]


def test_buckets_are_the_same_on_every_machine() -> None:
    assert [hash_bucket(piece, 2048) for piece in ("^the", "ing$")] == [889, 14]


def test_no_words_give_no_rows() -> None:
    assert VOCABULARY.encode([]).shape == (0, 3)


def test_a_file_reads_back_as_written() -> None:
    assert Vocabulary.parse(VOCABULARY.lines(), 64) == VOCABULARY


def test_a_spelling_of_another_word_is_refused() -> None:
    with pytest.raises(BadBundle, match="iphone Android"):
        Vocabulary.parse(["iphone Android"], 64)
