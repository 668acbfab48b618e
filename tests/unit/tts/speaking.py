"""A synthesiser with the hand-made voice and the tiny lexicon, and the plain oracle of what it says."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
from speech.model.bundle import Bundle
from speech.tts import symbols
from speech.tts.marks import TimedSpan
from speech.tts.stream import Chunk
from speech.tts.synthesizer import Synthesizer

from tests.tiny import voice
from tests.unit.tts.tiny import pronouncer

HOP = 300


def synthesizer(folder: object) -> Synthesizer:
    return Synthesizer(Bundle.load(str(folder)), pronouncer())


def joined(chunks: Iterable[Chunk]) -> tuple[bytes, list[TimedSpan]]:
    parts = list(chunks)
    return b"".join(c.audio for c in parts), [span for c in parts for span in c.spans]


def spoken(synth: Synthesizer, pieces: Iterable[str], **options: object) -> tuple[bytes, list[TimedSpan]]:
    """Audio and spans of a text given in pieces."""
    stream = synth.stream(**{"encoding": "pcm_f32le", **options})  # type: ignore[arg-type]
    chunks = [chunk for piece in pieces for chunk in stream.receive(piece)]
    return joined([*chunks, *stream.finish()])


def samples(audio: bytes) -> np.ndarray:
    return np.frombuffer(audio, "<f4")


def oracle(
    sentences: list[str],
    pause_s: float,
    level: float = 0.0,
    rate: float = 1.0,
    semitones: float = 0.0,
    windows: Collection[int] = (),
) -> np.ndarray:
    """The sound of sentences given as lines of phonemes, worked out frame by frame in plain loops.

    `level`: the voice's own loudness; `windows`: the symbols with which windows of a long sentence begin.
    It shares no code with what it checks but the numbers of symbols and the noise.
    """
    amplitudes: list[float] = []
    pitches: list[float] = []
    for n, sentence in enumerate(sentences):
        if n:
            silent = round(pause_s * 80)
            amplitudes += [2e-5] * silent
            pitches += [0.0] * silent
        numbers = symbols.encode(sentence)
        owed = previous = 0.0
        for i, number in enumerate(numbers):
            owed = 0.0 if i in windows else owed
            owed += float(np.exp(voice.log_units()[number].astype(float))) / rate
            units = max(1, round(owed))
            owed = max(owed - units, -0.5)
            if i == 0:
                units = 1  # the pad in front
            row = voice.vectors()[number]
            for _ in range(units):
                loud = float(row[0]) + level
                amplitudes += [float(np.exp(loud + 0.5 * previous))] * 2
                previous = loud
                shift = 2 ** (semitones / 12)
                pitches += [120.0 * shift, 125.0 * shift] if row[1] > 0 else [0.0, 0.0]
    return _sounded(amplitudes, pitches)


def _sounded(amplitudes: list[float], pitches: list[float]) -> np.ndarray:
    out, phase = [], 0.0
    for frame, (amplitude, hz) in enumerate(zip(amplitudes, pitches, strict=True)):
        draw = np.random.Generator(np.random.Philox(key=20_260_911, counter=frame << 64)).random(HOP)
        block = 0.1 * (draw * 2 - 1) * np.sqrt(3)
        if hz:
            angles = phase + 2 * np.pi * hz * (np.arange(HOP) + 0.5) / 24000
            count = int(11_900 / hz)
            block = block + np.cos(np.outer(angles, np.arange(1, count + 1))).sum(1) * np.sqrt(2 / count)
            phase += 2 * np.pi * hz * HOP / 24000
        out.append(block * amplitude)
    return np.concatenate(out)
