"""python -m speech transcribe with a vocabulary, a filter and alternatives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import soundfile
from speech.__main__ import main

from tests.tiny.build import FOLDER
from tests.tiny.sound import say


@pytest.fixture
def mono(tmp_path: Path) -> str:
    path = tmp_path / "mono.wav"
    soundfile.write(path, say("cat dakot 1.2 go dog", before_s=0.3, after_s=0.3), 16000)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["transcribe", *arguments, "--bundle", str(FOLDER)])
    told = capsys.readouterr()
    return code, told.out, told.err


def written(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_a_vocabulary_a_filter_and_alternatives(capsys: pytest.CaptureFixture[str], mono: str, tmp_path: Path) -> None:
    words = written(tmp_path, "words.txt", "# ours\nDakot\tdakot\n")
    hidden = written(tmp_path, "hidden.txt", "cat\n")
    assert run(capsys, mono, "--vocabulary", words) == (0, "Cat Dakot. Go dog.\n", "")
    assert run(capsys, mono, "--vocabulary", words, "--filter", hidden)[1] == "*** Dakot. Go dog.\n"
    removed = run(capsys, mono, "--vocabulary", words, "--filter", hidden, "--filter-method", "remove")
    assert removed[1] == "Dakot. Go dog.\n"
    live = run(capsys, mono, "--vocabulary", words, "--filter", hidden, "--live")[1]
    assert "*** Dakot." in live
    assert "cat" not in live.lower()
    both = written(tmp_path, "both.txt", "Dakot\tdakot\nDackott\tdakot\n")  # sound alike
    document = json.loads(run(capsys, mono, "--vocabulary", both, "--alternatives", "2", "--format", "json")[1])
    ways = [way["transcript"] for way in document["results"]["segments"][0]["alternatives"]]
    assert sorted(ways) == ["Cat Dackott.", "Cat Dakot."]


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("--vocabulary", "Zyntrix\n", "this model does not know 'zyntrix' and reads no letters: give a pronunciation"),
        ("--vocabulary", "Zyntrix 3000\n", "vocabulary entry 0: phrase '3000': digits are written out"),
        ("--filter", "two words\n", "filter entry 0 'two words' has 2 words; a filter holds single words"),
    ],
)
def test_a_file_that_is_wrong_is_named_before_any_work(
    capsys: pytest.CaptureFixture[str], mono: str, tmp_path: Path, option: str, text: str, message: str
) -> None:
    code, out, err = run(capsys, mono, option, written(tmp_path, "list.txt", text))
    assert (code, out) == (1, "")
    assert message in err


def test_a_file_that_is_not_there_or_no_text_is_named(
    capsys: pytest.CaptureFixture[str], mono: str, tmp_path: Path
) -> None:
    missing = str(tmp_path / "none.txt")
    assert run(capsys, mono, "--vocabulary", missing) == (1, "", f"{missing}: No such file or directory\n")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    assert "expected text in UTF-8" in run(capsys, mono, "--filter", str(tmp_path / "latin.txt"))[2]
    assert (
        "alternatives: expected a whole number from 0 to 10, got '11'" in run(capsys, mono, "--alternatives", "11")[2]
    )
