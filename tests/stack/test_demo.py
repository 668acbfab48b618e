"""What `make run` prints, and what it takes for a failure."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from local import demo
from local.calls import command
from local.calls.heard import Heard
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


@pytest.mark.parametrize(("text", "good"), [("The number.", True), ("", False)])
def test_a_call_that_nobody_answered_is_a_complaint(
    text: str, good: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    heard = Heard(1.0, replies_wanted=True)
    heard.replies["1-1"] = {"text": text, "first_audio_ms": 950}
    monkeypatch.setattr(command, "call", lambda asked: (heard, 1))
    assert demo.call(tmp_path) == good
    said = capsys.readouterr().out
    assert ("not answered" in said) != good
    assert f"the replies right: {tmp_path / 'call.wav'}" in said
    assert "0.95 s (median)" in said
