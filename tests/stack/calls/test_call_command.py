"""`python -m local call FILE`: the transcript of a recording played live is that of the recording, and answered."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from local.__main__ import main
from local.calls import on_page
from local.calls.heard import Heard
from tests.stack.calls import talk
from tests.tiny import voice
from tests.tiny.build import FOLDER
from tests.tiny.sound import say

BUNDLES = ["--bundle", str(FOLDER), "--voice-bundle", str(voice.FOLDER)]


TOLD = {"told_at": "2026-01-31T12:00:00.250Z"}


def played(tmp_path: Path, capfd: pytest.CaptureFixture[str], text: str, *options: str) -> tuple[Path, dict[str, Any]]:
    """A recording of a text played as a call; what the command said of it."""
    path = tmp_path / "talk.wav"
    soundfile.write(path, say(text, 8000, before_s=0.3, after_s=1.0), 8000, "PCM_16")
    said = [str(path), "--json", "--wav", str(tmp_path / "both.wav"), *BUNDLES, *options]
    assert main(["call", *said]) == 0
    return path, json.loads(capfd.readouterr().out.splitlines()[-1])


def words(path: Path) -> list[str]:
    """What the recogniser hears in a recording."""
    stream, heard = talk.RECOGNIZER.stream(rate=8000), soundfile.read(path, dtype="float32")[0]
    return [w.text for e in stream.receive(heard) + stream.finish() if type(e).__name__ == "Final" for w in e.words]


def transcribed(told: dict[str, Any]) -> list[str]:
    """What the caller was heard to say; where somebody was answered, the replies are the second channel."""
    said = told["transcript"]["results"]["raw_words"]
    return [word["content"] for word in said if word.get("channel_label", "ch_0") == "ch_0"]


def test_a_call_whose_worker_is_killed_is_heard_whole(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = "cat dog 1.0 go tad 1.5 two oak 1.0 gag cat 1.0 dog"
    path, told = played(tmp_path, capfd, text, "--kill", "--speed", "3")
    assert transcribed(told) == words(path)
    assert told["workers"] == 2
    assert len(told["final_latency_ms"]) >= 4
    # Whoever was in the middle of an answer: the last turn was answered, and none was answered to its end twice.
    whole = [reply["turn"] for reply in told["replies"] if not reply["interrupted"]]
    assert whole
    assert len(whole) == len(set(whole))


def test_the_caller_is_answered_and_both_sides_can_be_heard(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path, told = played(tmp_path, capfd, "cat dog")
    [reply] = told["replies"]
    assert reply["text"].lower().rstrip(".").split() == words(path) == ["cat", "dog"]
    assert not reply["interrupted"]
    assert reply["first_audio_ms"] > 800  # the silence that ends a turn
    assert all(late_ms >= 0 for late_ms in told["partial_latency_ms"])
    both, rate = soundfile.read(told["wav"])
    spoken = np.flatnonzero(np.abs(both[:, 1]) > 0.002)
    ended = np.flatnonzero(np.abs(both[:, 0]) > 0.01)[-1]
    assert len(spoken) > 100
    assert spoken[0] > ended + 0.8 * rate  # in its place, behind what it answers


def test_nobody_needs_to_answer(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path, told = played(tmp_path, capfd, "cat dog", "--speed", "3", "--respond", "none")
    assert transcribed(told) == words(path)
    assert (told["replies"], told["wav"]) == ([], None)


def test_a_file_that_is_no_recording_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no sound")
    assert main(["call", str(path)]) == 1
    assert "local: " in capsys.readouterr().err


def test_an_answer_of_nobody_known_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "talk.wav"
    soundfile.write(path, say("cat", 8000), 8000)
    assert main(["call", str(path), "--respond", "somebody"]) == 1
    assert "expected echo, none or a URL" in capsys.readouterr().err


def test_an_endpoint_with_one_model_need_not_be_asked_for_it() -> None:
    """A worker starts with no variable that is empty."""
    options = Namespace(respond="http://127.0.0.1:9/v1", model="")
    assert all(on_page.responder(options).values())


def test_the_caller_stays_on_the_line_until_the_answer_is_over() -> None:
    heard = Heard(speed=1.0, replies_wanted=True)
    turn_end = {"type": "turn_end", "channel": 0, "number": 2, "speaker": "customer", "reason": "silence", "at_s": 3.0}
    list(heard.take(turn_end | TOLD))
    heard.heard_s = 9.0
    assert not heard.may_hang_up(9.0, 4.0)
    ended = {"type": "reply_end", "reply": "1-1", "turn": 2, "text": "", "interrupted": False, "failed": ""}
    list(heard.take(ended | TOLD | {"interrupted": True, "failed": "the worker that gave it is gone"}))
    assert not heard.may_hang_up(9.0, 4.0)
    list(heard.take(ended | TOLD))
    assert heard.may_hang_up(9.0, 4.0)
    assert not heard.may_hang_up(6.0, 4.0)  # before a last turn would have ended
    assert Heard(1.0, replies_wanted=False).may_hang_up(4.0, 4.0)
