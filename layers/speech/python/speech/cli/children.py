"""Measurements that need a process of their own: the time to start, and the peak of memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import wave
from pathlib import Path
from statistics import median

import numpy as np

from speech.cli.measures import MINUTE, RATE, samples_of

_LOAD = """
import time
started = time.perf_counter()
from speech.asr.recognizer import Recognizer
Recognizer.load({bundle!r})
print(time.perf_counter() - started)
"""

_PEAK = """
import resource
from pathlib import Path
from speech.asr.recognizer import Recognizer
from speech.cli.recording import transcribe
transcribe(Recognizer.load({bundle!r}), Path({path!r}), False, lambda done, total: None)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def load_time(bundle: Path, tries: int = 5) -> float:
    """Seconds to import the recogniser and load a bundle in a fresh process: the median."""
    return median(_number(_LOAD.format(bundle=str(bundle))) for _ in range(tries))


def peak_rss(bundle: Path, files: list[Path], minutes: int) -> float:
    """Largest resident set, MB, of a process that transcribes a recording of so many minutes (made by repetition)."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.wav"
        write_repeated(path, samples_of(files), minutes)
        return _number(_PEAK.format(bundle=str(bundle), path=str(path)))


def write_repeated(path: Path, samples: np.ndarray, minutes: int) -> None:
    """A 16-bit WAV of the samples, repeated to the length, without holding it in memory."""
    minute = np.take(samples, np.arange(MINUTE * RATE), mode="wrap")
    data = (np.clip(minute, -1, 1) * 32767).astype("<i2").tobytes()
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        for _ in range(minutes):
            file.writeframes(data)


def _number(code: str) -> float:
    """What a child process prints, as a number; the child sees the same packages as this process."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout.splitlines()[-1]))
