"""What `make run` prints, and what it takes for a failure."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from local import demo, package, template
from local.progress import Bar
from local.recordings import Dropped, Result

DONE = {"status": "COMPLETED", "audio_seconds": 4.0, "processing_seconds": 0.1}


def result(folder: Path, text: str, **job: object) -> Result:
    return Result(Dropped(folder / "hello.wav", "hello.wav", 0.0), 0.75, DONE | job, text)


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    (tmp_path / "answers.json").write_text(json.dumps({"hello.wav": {"text": "hello"}, "quiet.wav": {"text": ""}}))
    return tmp_path


def test_a_result_says_length_latency_and_real_time_factor(tmp_path: Path) -> None:
    said = demo.described(result(tmp_path, "Hello there."))
    assert said.split("\n")[0].split() == [
        "hello.wav",
        "4.0",
        "s",
        "0.8",
        "s",
        "after",
        "the",
        "upload",
        "RTF",
        "0.025",
    ]
    assert said.endswith("\n    Hello there.")


def test_a_failure_says_why(tmp_path: Path) -> None:
    assert "failed: it is text" in demo.described(result(tmp_path, "", status="FAILED", reason="it is text"))


def test_speech_without_words_is_a_complaint_and_other_words_are_not(samples: Path) -> None:
    assert demo.complaint(result(samples, "")) == ["hello.wav: no words came"]
    assert demo.complaint(result(samples, "yellow")) == []
    assert demo.complaint(result(samples, "", status="FAILED", reason="it is text")) == ["hello.wav: it is text"]


def test_words_of_silence_are_a_complaint(samples: Path) -> None:
    quiet = Result(Dropped(samples / "quiet.wav", "quiet.wav", 0.0), 0.5, DONE, "the")
    assert demo.complaint(quiet) == ["quiet.wav: words came of silence: 'the'"]


def test_in_a_log_a_progress_bar_is_one_line_at_its_end() -> None:
    out = io.StringIO()
    with Bar("uploading", 2, out) as bar:
        bar.step("a.wav")
        bar.say("a line")
        bar.step("b.wav")
    assert out.getvalue() == f"a line\nuploading    [{'#' * 28}] 2/2 b.wav\n"


def test_the_same_files_make_the_same_zip() -> None:
    one = package.zipped({"b": b"2", "a": b"1"})
    assert one == package.zipped({"a": b"1", "b": b"2"})


def test_intrinsic_functions_are_written_out(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("A: !Ref x\nB: !GetAtt a.b.c\nC: !If [d, !Sub '${e}', 2012-10-17]\n")
    assert template.read(tmp_path / "t.yaml") == {
        "A": {"Ref": "x"},
        "B": {"Fn::GetAtt": ["a", "b.c"]},
        "C": {"Fn::If": ["d", {"Fn::Sub": "${e}"}, "2012-10-17"]},
    }


def test_only_what_ships_is_packed() -> None:
    packed = package.layer_contents(package.ROOT / "layers" / "speech")
    assert "python/speech/errors.py" in packed
    assert not [name for name in packed if "__pycache__" in name]
    assert package.layer_contents(package.ROOT / "layers" / "runtime") == package.PLACEHOLDER


def test_references_to_number_parameters_become_numbers() -> None:
    source = {
        "Parameters": {"N": {"Type": "Number", "Default": 5}, "S": {"Type": "String"}},
        "Resources": [{"Ref": "N"}],
    }
    assert template.with_numbers(source, {})["Resources"] == [5]
    assert template.with_numbers(source, {"N": "7"})["Resources"] == [7]
    for kept in ({"Ref": "S"}, {"Variables": {"COUNT": {"Ref": "N"}}}):
        assert template.with_numbers({**source, "Resources": kept}, {})["Resources"] == kept
