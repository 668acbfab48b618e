"""The language model's arithmetic on a few sentences: sums to one, prunes what costs least, survives its file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from models.asr.backoff import Backoff, mix, prune, read_arpa, write_arpa
from models.asr.lm import encode, group_text, split
from models.asr.ngram import BITS, START, KneserNey, count
from models.asr.spoken import spoken

TEXT = ["the cat sat", "the cat ran", "a dog ran", "the dog sat", "yes", "yes", "no", "a cat sat on the dog"] * 3
OTHER = ["the ship sank", "yes the dog ran", "a ship", "the cat sat on the ship"]
WORDS = ["<unk>", "<s>", "</s>", *sorted({w for line in TEXT + OTHER for w in line.split()})]
NUMBER = {w: i for i, w in enumerate(WORDS)}


def models() -> list[KneserNey]:
    return [KneserNey(encode(lines, NUMBER), len(WORDS)) for lines in (TEXT, OTHER)]


def mixed() -> Backoff:
    return mix(models(), [0.7, 0.3], WORDS, [(1, 1), (1, 1)])


def total(model: Backoff, *history: str) -> float:
    key = 0
    for word in history:
        key = key << BITS | NUMBER[word]
    keys = key << BITS | np.arange(len(WORDS))
    return float(np.exp(model.score(keys, len(history) + 1)[START + 1 :]).sum())


HISTORIES = [(), ("the",), ("on",), ("<s>",), ("<s>", "the"), ("the", "cat"), ("sank", "yes"), ("ship", "ship")]


@pytest.mark.parametrize("history", HISTORIES)
def test_the_words_after_any_history_have_probability_one_together(history: tuple[str, ...]) -> None:
    assert total(mixed(), *history) == pytest.approx(1.0, abs=1e-6)


def test_a_seen_trigram_is_likelier_than_an_unseen_one() -> None:
    model = mixed()
    seen, unseen = (NUMBER["the"] << 2 * BITS | NUMBER["cat"] << BITS | NUMBER[w] for w in ("sat", "no"))
    seen_p, unseen_p = model.score(np.array([seen, unseen]))
    assert seen_p > unseen_p + 1


@pytest.mark.parametrize("at_once", [1, 5, 17])
def test_text_counted_in_parts_has_the_same_counts(at_once: int) -> None:
    tokens = encode([*TEXT, "the zebra sat", "zebra", "the cat zebra"], NUMBER)
    for whole, parts in zip(count(tokens), count(tokens, at_once), strict=True):
        assert np.array_equal(whole.keys, parts.keys)
        assert np.array_equal(whole.counts, parts.counts)
    lines = [["<s>", *line.split(), "</s>"] for line in TEXT]
    said = Counter(tuple(NUMBER[w] for w in line[i : i + 3]) for line in lines for i in range(len(line) - 2))
    found = count(encode(TEXT, NUMBER), at_once)[2]
    assert found.keys.tolist() == [(a << 2 * BITS) | (b << BITS) | c for a, b, c in sorted(said)]
    assert found.counts.tolist() == [said[k] for k in sorted(said)]


def test_lines_held_out_are_not_learnt_from() -> None:
    lines, held = split(TEXT, 5)
    assert list(lines) == [line for n, line in enumerate(TEXT) if n % 5]
    assert held == TEXT[::5]
    assert list(split(TEXT, 0)[0]) == TEXT


def test_a_text_that_is_not_there_is_missed(tmp_path: Path) -> None:
    (tmp_path / "here.txt").write_text("yes\n")
    assert list(group_text({"text": [{"files": "h*.txt"}]}, tmp_path)) == ["yes"]
    with pytest.raises(FileNotFoundError, match=r"expected files gone\*\.txt, found none"):
        list(group_text({"text": [{"files": "gone*.txt"}]}, tmp_path))


def test_rare_pairs_are_not_listed_unless_a_listed_trigram_has_them() -> None:
    text = KneserNey(encode(TEXT, NUMBER), len(WORDS))
    often = mix([text], [1.0], WORDS, [(6, 6)])
    counts = dict(zip(text.bigrams.keys.tolist(), text.bigrams.counts.tolist(), strict=True))
    inside = {key >> BITS for key in often.three.tolist()} | {key & (1 << 2 * BITS) - 1 for key in often.three.tolist()}
    assert set(often.two.tolist()) == {key for key, n in counts.items() if n >= 6} | inside
    assert total(often, "the") == pytest.approx(1.0, abs=1e-6)


def test_pruning_keeps_the_sum_and_costs_little() -> None:
    model, text = mixed(), encode(TEXT, NUMBER)
    pruned = prune(model, models(), [0.7, 0.3], 2e-3, 1e-3)
    assert len(pruned.three) < len(model.three)
    assert len(pruned.two) < len(model.two)
    assert set(pruned.three >> BITS) <= set(pruned.two)
    assert total(pruned, "the", "cat") == pytest.approx(1.0, abs=1e-6)
    assert model.perplexity(text) < pruned.perplexity(text) < 1.3 * model.perplexity(text)


def test_a_model_survives_its_file(tmp_path: Path) -> None:
    model = mixed()
    write_arpa(model, tmp_path / "lm.arpa.gz")
    loaded = read_arpa(tmp_path / "lm.arpa.gz")
    assert loaded.words == model.words
    assert np.array_equal(loaded.three, model.three)
    keys = model.three[:5]
    assert loaded.score(keys) == pytest.approx(model.score(keys), abs=1e-3)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Mr. Smith paid $5.50 at 5:30 p.m.", "mister smith paid five dollars and fifty cents at five thirty p m"),
        ("In 1945, 1,250 people", "in nineteen forty five one thousand two hundred fifty people"),
        ("the 21st of May 2007", "the twenty first of may two thousand seven"),
        (
            "Call 555-0123; it's 20% off — OK?",
            "call five hundred fifty five zero one two three it's twenty percent off ok",
        ),
        ("well-known café “don’t”", "well known cafe don't"),
    ],
)
def test_text_is_turned_into_what_one_says(written: str, said: str) -> None:
    assert " ".join(spoken(written)) == said
