"""Real speech by the model that ships: a process for each message changes no word, and its state stays small.

Ten minutes of it are measured by tests/bench/socket_overhead.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cloud.live.audio_format import AudioFormat
from cloud.live.session import Session
from cloud.sockets.envelope import Step
from cloud.sockets.stream import Stream, after
from cloud.sockets.stream_table import from_item, to_item
from speech.asr.recognizer import Recognizer
from speech.audio import pcm
from speech.audio.files import open_audio

from tests.functions.fake_live import item_bytes
from tests.functions.situations import ROOT

SECONDS = 16


@pytest.fixture(scope="module")
def recognizer() -> Recognizer:
    return Recognizer.load(ROOT / "models" / "bundles" / "asr-en-v1")


def recording(name: str) -> tuple[int, np.ndarray]:
    with (ROOT / "events" / "audio" / name).open("rb") as file, open_audio(file) as audio:
        whole = np.concatenate(list(audio.blocks(audio.rate)))
        return audio.rate, whole[: SECONDS * audio.rate].mean(axis=1)


@pytest.mark.parametrize(
    ("name", "encoding"), [("read-speech.flac", "pcm_s16le"), ("telephone-prompt-8k-mulaw.wav", "pcm_mulaw")]
)
def test_a_process_for_each_message_changes_nothing(recognizer: Recognizer, name: str, encoding: str) -> None:
    rate, samples = recording(name)
    audio_format = AudioFormat(encoding, rate, 1)
    pieces = [pcm.encode(samples[at : at + rate // 5], encoding) for at in range(0, len(samples), rate // 5)]
    stream, told, largest = Stream("connection", "a", audio_format, 0.0), list[dict[str, Any]](), 0
    for number, piece in enumerate(pieces):
        changed, records = after(stream, Step("a", number, "audio", piece), recognizer, 0.0)
        told += records
        largest = max(largest, len(changed.session))
        assert item_bytes(to_item(changed)) < 400 * 1024
        stream = from_item(to_item(changed))
    told += after(stream, Step("a", len(pieces), "stop"), recognizer, 0.0)[1]
    session = Session.begin(recognizer, audio_format)
    whole = [record for piece in pieces for record in session.receive(piece)] + session.finalize()
    assert [{k: v for k, v in r.items() if k not in ("stream", "number", "received")} for r in told[:-1]] == whole
    assert [record for record in whole if record["type"] == "final"]
    assert 50_000 < largest <= 256 * 1024
