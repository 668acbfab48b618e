"""Calibration of confidences: what is fitted is what was true, and the error is what the definition says."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import soundfile
from speech.asr.hypothesis import Calibration

from models.asr.reliability import Bin, Words, bins, expected_error, fit, hear, plot, sets
from tests.tiny.build import FOLDER
from tests.tiny.sound import say

TRUTH = Calibration(bias=1.0, sound=0.8, margin=0.4, length=-0.5)


def words(seed: int, n: int, truth: Calibration = TRUTH) -> Words:
    rng = np.random.default_rng(seed)
    columns = np.ones(n), -rng.exponential(1.0, n), rng.uniform(0, 8, n), np.log(rng.integers(2, 20, n))
    evidence = np.stack(columns, axis=1)
    p = Words(evidence, np.zeros(n), np.ones(n, bool)).confidence(truth)
    return Words(evidence, (rng.random(n) < p).astype(float), np.ones(n, bool))


def test_the_weights_that_made_the_words_are_found_again() -> None:
    found = fit([words(0, 20_000), words(1, 2_000)])
    for name in ("bias", "sound", "margin", "length"):
        assert getattr(found, name) == pytest.approx(getattr(TRUTH, name), abs=0.15)
    fresh = words(2, 20_000)
    assert expected_error(bins(fresh.confidence(found), fresh.right)) < 0.03


def test_weights_of_other_words_show_as_an_error() -> None:
    fresh = words(3, 20_000)
    sure = Calibration(bias=4.0, sound=0.8, margin=0.4, length=-0.5)
    assert expected_error(bins(fresh.confidence(sure), fresh.right)) > 0.1


def test_the_error_is_the_mean_distance_weighted_by_words() -> None:
    confidence = np.array([0.05, 0.15, 0.95, 0.95, 1.0])
    found = bins(confidence, np.array([0.0, 1.0, 1.0, 1.0, 0.0]))
    assert [(b.words, round(b.right, 2)) for b in found] == [(1, 0.0), (1, 1.0), (3, 0.67)]
    assert expected_error(found) == pytest.approx((0.05 + 0.85 + 3 * abs(2.9 / 3 - 2 / 3)) / 5)


def test_the_plot_is_an_image_with_a_dot_for_each_bin() -> None:
    image = ElementTree.fromstring(plot({"a": [Bin(0.1, 0.2, 5), Bin(0.9, 0.8, 50)], "b": [Bin(0.5, 0.5, 9)]}))
    assert len(image.findall("{http://www.w3.org/2000/svg}circle")) == 3
    assert len(image.findall("{http://www.w3.org/2000/svg}polyline")) == 2


def test_words_are_heard_through_the_product(tmp_path: Path) -> None:
    for name, text in (("a", "cat dog"), ("b", "go tad")):
        soundfile.write(tmp_path / f"{name}.wav", say(text, before_s=0.3, after_s=0.3), 16000)
    rows = ["a.wav\t2\tx\tcat dog", "b.wav\t2\tx\tgo oak"]
    (tmp_path / "set.tsv").write_text("\n".join([*rows, rows[0]]) + "\n")
    [(name, chosen, base)] = sets([f"tiny={tmp_path / 'set.tsv'}:-2"])
    assert (name, len(chosen), base) == ("tiny", 2, tmp_path)
    heard = hear(FOLDER, [row.split("\t") for row in rows], base)
    assert heard.right.tolist() == [1.0, 1.0, 1.0, 0.0]
    assert heard.kept.all()
    assert (heard.evidence[:, 1] <= 0).all()
    assert (heard.evidence[:, 2] > 0).all()
