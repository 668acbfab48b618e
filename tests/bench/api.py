"""What the REST API adds: a clip of ten seconds sent as a form, until its text is back, on a warm local stack.

.venv/bin/python -m tests.bench.api
"""

from __future__ import annotations

import io
import os
import statistics
import sys
import tempfile
import time
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import requests
from speech.audio.files import open_audio
from speech.cli import bench

from local import stack as stacks
from tests.bench.socket_overhead import ticks

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "events" / "audio" / "read-speech.flac"
CLIP_S = 10
ROUNDS, WARM = 15, 3
COMMAND = "python -m tests.bench.api"


def clip() -> bytes:
    """Ten seconds of read speech, as 16-bit WAV."""
    with SAMPLE.open("rb") as file, open_audio(file) as audio:
        samples, rate = audio.read(CLIP_S * audio.rate).mean(axis=1), audio.rate
    assert len(samples) == CLIP_S * rate
    out = io.BytesIO()
    with wave.open(out, "wb") as written:
        written.setparams((1, 2, rate, 0, "NONE", "not compressed"))
        written.writeframes(np.round(samples * 32767).astype("<i2").tobytes())
    return out.getvalue()


def seconds(session: requests.Session, url: str, body: bytes | None = None) -> float:
    """How long one request takes: a transcription of a clip, or with none a request that asks for nothing."""
    began = time.perf_counter()
    if body is None:
        answer = session.get(f"{url}/models", timeout=60)
    else:
        form = {"model": "whisper-1", "response_format": "verbose_json"}
        answer = session.post(f"{url}/audio/transcriptions", data=form, files={"file": ("clip.wav", body)}, timeout=60)
        assert len(answer.json()["text"]) > CLIP_S, answer.text
    assert answer.ok, answer.text
    return time.perf_counter() - began


def measure() -> Iterator[bench.Row]:
    """The rows, from a stack of its own with the model that ships."""
    body = clip()
    with tempfile.TemporaryDirectory() as folder, requests.Session() as session:
        running = stacks.up(Path(folder), 0, {}, lambda note: None)
        try:
            url = running.api_url
            session.headers["Authorization"] = f"Bearer {running.api_key}"
            for _ in range(WARM):
                seconds(session, url, body)
            before = ticks(running.state.pid)
            heard = [seconds(session, url, body) for _ in range(ROUNDS)]
            worked_s = (ticks(running.state.pid) - before) / os.sysconf("SC_CLK_TCK") / ROUNDS
            empty = [seconds(session, url) for _ in range(ROUNDS + WARM)][WARM:]
        finally:
            running.stop()
    yield bench.Row("api_10_s_clip_p50", statistics.median(heard), "s", "under 0.7", COMMAND)
    yield bench.Row("api_10_s_clip_p95", float(np.percentile(heard, 95)), "s", "", COMMAND)
    yield bench.Row("api_10_s_clip_processor", worked_s, "s", "", COMMAND)
    yield bench.Row("api_nothing_asked_p50", 1000 * statistics.median(empty), "ms", "", COMMAND)


def main() -> int:
    """Prints the table."""
    print(bench.machine())
    for row in measure():
        print(bench.line(row), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
