"""`python -m local call FILE --kill`: the transcript of a recording played live is that of the recording."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import soundfile

from local.__main__ import main
from tests.stack.calls import talk
from tests.tiny.build import FOLDER
from tests.tiny.sound import say


def test_a_call_whose_worker_is_killed_is_heard_whole(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    samples = say("cat dog 1.0 go tad 1.5 two oak 1.0 gag cat 1.0 dog", 8000, before_s=0.3, after_s=1.0)
    path = tmp_path / "talk.wav"
    soundfile.write(path, samples, 8000, "PCM_16")
    assert main(["call", str(path), "--kill", "--json", "--speed", "3", "--bundle", str(FOLDER)]) == 0
    told = json.loads(capfd.readouterr().out.splitlines()[-1])
    stream = talk.RECOGNIZER.stream(rate=8000)
    heard = soundfile.read(path, dtype="float32")[0]
    words = [w.text for e in stream.receive(heard) + stream.finish() if type(e).__name__ == "Final" for w in e.words]
    assert told["transcript"]["results"]["transcripts"][0]["transcript"].lower().replace(".", "").split() == words
    assert told["workers"] == 2
    assert len(told["final_latency_ms"]) >= 4


def test_a_file_that_is_no_recording_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no sound")
    assert main(["call", str(path)]) == 1
    assert "local: " in capsys.readouterr().err
