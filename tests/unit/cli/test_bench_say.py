"""The measurements of the synthesiser run, and their sentences are what they say they are."""

from __future__ import annotations

from pathlib import Path

from speech.cli import measures_say

from tests.contract.house import ROOT
from tests.tiny import voice


def test_sentences_have_3_to_40_words() -> None:
    counts = [len(text.split()) for text in measures_say.sentences()]
    assert (len(counts), min(counts), max(counts)) == (100, 3, 40)
    assert len(set(measures_say.sentences())) > 90


def test_the_numbers_make_sense(tmp_path: Path) -> None:
    folder = voice.build(tmp_path / "hum", str(ROOT / "models" / "bundles" / "lexicon-en-v1"))
    found = measures_say.measure(folder, measures_say.sentences()[::33])
    assert 0 < found["first_p50"] <= found["first_p95"]
    assert 0 < found["rtf"] < 1
    assert found["streams"] >= 1
    assert found["long_over_short"] > 0
    assert found["streamed_p95"] > 0
