"""Snapshots of a stream: put down anywhere, taken up in another process, the same events to the last bit."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.asr.recognizer import Recognizer
from speech.errors import BadSnapshot
from speech.model.bundle import Bundle, write_manifest

from tests.tiny.build import FOLDER
from tests.tiny.sound import say

RECOGNIZER = Recognizer.load(FOLDER)
DIALOGUE = say("cat dog go 1.2 tad two 0.3 oak", 8000, before_s=0.7, after_s=0.4)

OTHER_PROCESS = """
import pickle, sys
from speech.asr.recognizer import Recognizer
blob, samples = pickle.load(sys.stdin.buffer)
stream = Recognizer.load(sys.argv[1]).resume(blob)
pickle.dump((stream.receive(samples), stream.snapshot(), stream.finish()), sys.stdout.buffer)
"""


@settings(max_examples=10, deadline=None)
@given(cuts=st.lists(st.integers(0, len(DIALOGUE)), max_size=12), live=st.booleans())
def test_put_down_and_taken_up_at_any_points_gives_the_same_events(cuts: list[int], live: bool) -> None:
    whole = RECOGNIZER.stream(8000, live)
    expected = whole.receive(DIALOGUE) + whole.finish()
    stream, events = RECOGNIZER.stream(8000, live), []
    for part in np.split(DIALOGUE, sorted(cuts)):
        events += stream.receive(part)
        stream = RECOGNIZER.resume(stream.snapshot())
    assert events + stream.finish() == expected


def test_another_process_goes_on_to_the_same_bytes() -> None:
    stream = RECOGNIZER.stream(8000)
    stream.receive(DIALOGUE[:9001])
    blob, rest = stream.snapshot(), DIALOGUE[9001:]
    done = subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS, str(FOLDER)],
        input=pickle.dumps((blob, rest)),
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=True,
    )
    assert pickle.loads(done.stdout) == (stream.receive(rest), stream.snapshot(), stream.finish())


def test_a_snapshot_is_the_same_however_the_audio_was_cut() -> None:
    one, other = RECOGNIZER.stream(8000), RECOGNIZER.stream(8000)
    one.receive(DIALOGUE[:20000])
    for part in np.split(DIALOGUE[:20000], range(77, 20000, 777)):
        other.receive(part)
    assert one.snapshot() == other.snapshot()


def test_taking_a_snapshot_changes_nothing() -> None:
    stream = RECOGNIZER.stream(8000)
    stream.receive(DIALOGUE[:20000])
    assert stream.snapshot() == stream.snapshot() == RECOGNIZER.resume(stream.snapshot()).snapshot()


def test_a_damaged_snapshot_is_refused() -> None:
    blob = bytearray(RECOGNIZER.stream().snapshot())
    blob[len(blob) // 2] ^= 1
    with pytest.raises(BadSnapshot, match="damaged"):
        RECOGNIZER.resume(bytes(blob))


def test_a_snapshot_of_other_weights_is_refused_even_under_the_same_id(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "tones")
    graph = tmp_path / "tones" / "graph.bin"
    graph.write_bytes(graph.read_bytes() + b"\0")
    write_manifest(tmp_path / "tones", Bundle.load(FOLDER).manifest)
    with pytest.raises(BadSnapshot, match=r"belongs to bundle 'tones:[0-9a-f]{12}', expected 'tones:[0-9a-f]{12}'"):
        Recognizer.load(tmp_path / "tones").resume(RECOGNIZER.stream().snapshot())


def test_a_finished_stream_has_nothing_to_save() -> None:
    stream = RECOGNIZER.stream()
    stream.finish()
    with pytest.raises(ValueError, match="nothing to resume"):
        stream.snapshot()
