"""Measurements inside this process, on one thread: real-time factor, latency, streams per core, flatness, snapshots."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import numpy as np

from speech.asr.recognizer import Recognizer
from speech.audio.files import open_audio
from speech.audio.resample import resample
from speech.cli.recording import transcribe

RATE = 16000
CHUNK = RATE * 160 // 1000
UTTERANCE_S = 6  # recordings are cut into pieces of about this length where utterances are needed
STEPS = 50  # of a batch of streams, for one p95
MINUTE = 60


def samples_of(files: list[Path]) -> np.ndarray:
    """All recordings as one channel (n,) at 16 kHz, one after the other, a second of silence behind each."""
    parts = []
    for path in files:
        with path.open("rb") as file, open_audio(file) as audio:
            whole = np.concatenate([block.mean(axis=1) for block in audio.blocks(audio.rate)])
            parts += [resample(whole, audio.rate, RATE), np.zeros(RATE, np.float32)]
    return np.concatenate(parts)


def chunks_of(samples: np.ndarray, size: int = CHUNK) -> Iterator[np.ndarray]:
    """Pieces of `size` samples, the last one shorter."""
    for start in range(0, len(samples), size):
        yield samples[start : start + size]


def file_rtf(bundle: Path, files: list[Path]) -> float:
    """Seconds of work per second of audio, whole path from file to words; the model is loaded and warm."""
    recognizer = Recognizer.load(bundle)
    transcribe(recognizer, files[0], False, lambda done, total: None)
    results = [transcribe(recognizer, path, False, lambda done, total: None) for path in files]
    return sum(r.work_s for r in results) / sum(r.transcript.duration_s for r in results)


def final_latency(bundle: Path, files: list[Path]) -> tuple[float, float]:
    """Milliseconds of work from the last chunk of an utterance to its final: median and 95th percentile."""
    recognizer = Recognizer.load(bundle)
    taken = []
    for piece in chunks_of(samples_of(files), UTTERANCE_S * RATE):
        stream = recognizer.stream(RATE)
        *before, last = chunks_of(piece)
        for chunk in before:
            stream.receive(chunk)
        started = time.perf_counter()
        stream.receive(last)
        stream.finish()
        taken.append((time.perf_counter() - started) * 1e3)
    return float(np.percentile(taken, 50)), float(np.percentile(taken, 95))


def streams_per_core(bundle: Path, files: list[Path], most: int = 512) -> float:
    """The largest number of live streams whose common 160 ms steps take under 160 ms at the 95th percentile."""
    recognizer, samples = Recognizer.load(bundle), samples_of(files)

    def fits(count: int) -> bool:
        return step_p95(recognizer, samples, count) < 0.160

    low = 1
    while low * 2 <= most and fits(low * 2):
        low *= 2
    step = low // 2
    while step >= max(1, low // 16):
        low, step = (low + step if fits(low + step) else low), step // 2
    return float(low)


def step_p95(recognizer: Recognizer, samples: np.ndarray, count: int) -> float:
    """Seconds for one chunk of each of `count` streams that hear different places of the audio, 95th percentile."""
    streams = [recognizer.stream(RATE) for _ in range(count)]
    offsets = np.linspace(0, len(samples) - 1, count).astype(int)
    taken = []
    for step in range(STEPS):
        chunks = [np.take(samples, np.arange(CHUNK) + offset + step * CHUNK, mode="wrap") for offset in offsets]
        started = time.perf_counter()
        Recognizer.step_many(streams, chunks)
        taken.append(time.perf_counter() - started)
    return float(np.percentile(taken, 95))


def flatness(bundle: Path, files: list[Path], hours: float) -> float:
    """Processor time of the last minutes of a stream against its first, the same minute of audio over and over.

    The median of five minutes at either end, so that what else the machine does cannot decide.
    """
    recognizer, samples = Recognizer.load(bundle), samples_of(files)
    minute = np.take(samples, np.arange(MINUTE * RATE), mode="wrap")
    warm, stream = recognizer.stream(RATE, live=False), recognizer.stream(RATE, live=False)
    warm.receive(minute)
    taken = []
    for _ in range(round(hours * 60)):
        started = time.process_time()
        stream.receive(minute)
        taken.append(time.process_time() - started)
    return median(taken[-5:]) / median(taken[:5])


def snapshots(bundle: Path, files: list[Path]) -> tuple[float, float]:
    """Largest snapshot in KiB over a live stream saved after every chunk, and the median ms to save and resume."""
    recognizer = Recognizer.load(bundle)
    stream, sizes, taken = recognizer.stream(RATE), [], []
    for chunk in chunks_of(samples_of(files)[: 2 * MINUTE * RATE]):
        stream.receive(chunk)
        started = time.perf_counter()
        blob = stream.snapshot()
        stream = recognizer.resume(blob)
        taken.append((time.perf_counter() - started) * 1e3)
        sizes.append(len(blob) / 1024)
    return max(sizes), median(taken)
