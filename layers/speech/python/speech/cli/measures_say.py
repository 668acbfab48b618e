"""Measurements of the synthesiser inside this process, on one thread: time to first audio, RTF, streams per core."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from speech.tts.synthesizer import Synthesizer

RATE = 24_000
TOKENS_PER_S = 20.0  # of a language model
SENTENCES, SHORTEST, LONGEST = 100, 3, 40  # how many, and their words
AUDIBLE = 0.01  # of full scale: where sound begins
TEXT = (
    "the train to the coast leaves every morning and stops in eleven small towns where people sell coffee fruit and "
    "news to anyone who is awake enough to look out of the window before the next tunnel takes the view away"
)


@dataclass(frozen=True)
class Spoken:
    """One sentence as it was measured."""

    words: int
    first_s: float  # from the text to the first sound, its leading silence counted
    work_s: float
    slowest: float  # chunk: work over sound, the 95th percentile
    seconds: float  # of sound


def sentences() -> list[str]:
    """Sentences of 3 to 40 words."""
    lengths = [SHORTEST + round(n * (LONGEST - SHORTEST) / (SENTENCES - 1)) for n in range(SENTENCES)]
    words = TEXT.split()
    starts = [n * 7 % len(words) for n in range(SENTENCES)]
    return [" ".join((words * 2)[a : a + n]).capitalize() + "." for a, n in zip(starts, lengths, strict=True)]


def speak(synthesizer: Synthesizer, text: str) -> Spoken:
    """Speak one sentence and look at the clock."""
    stream = synthesizer.stream(encoding="pcm_f32le")
    first: float | None = None
    ratios, work, seconds = [], 0.0, 0.0
    for source in (stream.receive, None):
        chunks = iter(source(text) if source else stream.finish())
        while True:
            began = time.perf_counter()
            chunk = next(chunks, None)
            taken = time.perf_counter() - began
            work += taken
            if chunk is None:
                break
            samples = np.frombuffer(chunk.audio, "<f4")
            loud = np.flatnonzero(np.abs(samples) > AUDIBLE)
            if first is None and len(loud):
                first = work + chunk.start_s + float(loud[0]) / RATE
            seconds += len(samples) / RATE
            if len(samples):
                ratios.append(taken * RATE / len(samples))
    return Spoken(len(text.split()), first or 0.0, work, float(np.percentile(ratios, 95)), seconds)


def streamed(synthesizer: Synthesizer, text: str) -> float:
    """Seconds from the end of the first clause to the first sound, tokens coming at TOKENS_PER_S on a clock of our own.

    A clause has ended when nothing that may follow changes that: with a comma at once, with a full stop at the token
    after it, since "example." may go on with "com". Waiting for that token is not counted; work and silence are.
    """
    stream = synthesizer.stream(encoding="pcm_f32le")
    free = ended = 0.0  # when the synthesiser is done with what it was given; when the first clause was there
    for number, token in enumerate(re.findall(r"\S+\s*|\s+", text)):
        arrived = number / TOKENS_PER_S
        free, chunks = max(free, arrived), stream.receive(token)
        while True:
            began = time.perf_counter()
            chunk = next(chunks, None)
            free += time.perf_counter() - began
            if chunk is None:
                break
            ended = ended or arrived
            loud = np.flatnonzero(np.abs(np.frombuffer(chunk.audio, "<f4")) > AUDIBLE)
            if len(loud):
                return free + chunk.start_s + float(loud[0]) / RATE - ended
    raise ValueError(f"no clause ends within {text!r}")


def measure(bundle: Path, texts: list[str] | None = None) -> dict[str, float]:
    """Milliseconds to the first sound (median, 95th percentile, and of long sentences over short), RTF, streams."""
    synthesizer, texts = Synthesizer.load(bundle), texts or sentences()
    speak(synthesizer, texts[0])  # the first run of a graph plans its memory
    spoken = [speak(synthesizer, text) for text in texts]
    first = 1000 * np.array([one.first_s for one in spoken])
    waits = [1000 * streamed(synthesizer, f"{text[:-1]}, {text} And so on.") for text in texts[::4]]
    middle = float(np.median([one.words for one in spoken]))
    long = np.array([one.words > middle for one in spoken])
    return {
        "first_p50": float(np.percentile(first, 50)),
        "first_p95": float(np.percentile(first, 95)),
        "streamed_p95": float(np.percentile(waits, 95)),
        "long_over_short": float(np.median(first[long]) / np.median(first[~long])),
        "rtf": sum(one.work_s for one in spoken) / sum(one.seconds for one in spoken),
        "streams": float(int(1 / np.median([one.slowest for one in spoken]))),
    }
