"""Where nobody speaks, the released recogniser writes nothing: silence, noise, tones, music, barks, sneezes, a baby."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from speech.asr.recognizer import Recognizer
from speech.audio.files import open_audio
from speech.events import Event, Final, Partial

BUNDLE = Path(__file__).resolve().parents[3] / "models" / "bundles" / "asr-en-v1"
RECORDED = sorted((Path(__file__).parent / "no_speech").glob("*.flac"))  # each was once taken for words
RATE, SECONDS = 8000, 6
T = np.arange(RATE * SECONDS) / RATE
Samples = NDArray[np.float64]


def tone(*hz: float) -> Samples:
    return np.sum([np.sin(2 * np.pi * f * T) for f in hz], axis=0) / len(hz)


def noise(colour: float) -> Samples:
    """White (0), pink (1) or brown (2) noise."""
    spectrum = np.fft.rfft(np.random.default_rng(11).standard_normal(len(T)))
    spectrum[1:] /= np.arange(1, len(spectrum)) ** (colour / 2)
    spectrum[0] = 0
    wave = np.fft.irfft(spectrum, len(T))
    return wave / np.abs(wave).max()


def on_and_off(wave: Samples, on_s: float, off_s: float) -> Samples:
    return wave * ((T % (on_s + off_s)) < on_s)


def melody() -> Samples:
    """Plucked chords over a beat."""
    chords = [(220, 277, 330), (196, 247, 294), (175, 220, 262), (196, 247, 294)]
    wave = np.zeros(len(T))
    for beat in range(SECONDS * 2):
        since = T - beat / 2
        ring = np.where(since >= 0, np.exp(-4 * np.maximum(since, 0)), 0.0)
        wave += 0.3 * ring * tone(*chords[beat % 4])
    return wave


SOUNDS: dict[str, Callable[[], Samples]] = {
    "digital silence": lambda: 0 * T,
    "white noise": lambda: 0.3 * noise(0),
    "faint white noise": lambda: 0.003 * noise(0),
    "pink noise": lambda: 0.5 * noise(1),
    "brown noise": lambda: 0.5 * noise(2),
    "breathing": lambda: 0.1 * noise(1) * np.maximum(np.sin(2 * np.pi * 0.3 * T), 0) ** 2,
    "mains hum": lambda: 0.1 * tone(50, 100, 150, 250),
    "tone": lambda: 0.5 * tone(1000),
    "rising tone": lambda: 0.5 * np.sin(2 * np.pi * (200 + 250 * T) * T),
    "dial tone": lambda: 0.3 * tone(350, 440),
    "ringing": lambda: on_and_off(0.3 * tone(440, 480), 2.0, 4.0),
    "busy": lambda: on_and_off(0.3 * tone(480, 620), 0.5, 0.5),
    "keys": lambda: on_and_off(0.4 * tone(770, 1336), 0.1, 0.15),
    "clicks": lambda: on_and_off(0.8 * noise(0), 0.002, 0.4),
    "music": melody,
}


@pytest.fixture(scope="module")
def recognizer() -> Recognizer:
    return Recognizer.load(BUNDLE)


def events_of(recognizer: Recognizer, samples: NDArray[np.float32], rate: int) -> list[Event]:
    stream, events, chunk = recognizer.stream(rate), list[Event](), rate * 160 // 1000
    for start in range(0, len(samples), chunk):
        events += stream.receive(samples[start : start + chunk])
    return events + stream.finish()


@pytest.mark.parametrize("sound", SOUNDS)
def test_no_words(recognizer: Recognizer, sound: str) -> None:
    events = events_of(recognizer, SOUNDS[sound]().astype(np.float32), RATE)
    finals = [event for event in events if isinstance(event, Final)]
    assert [final.text for final in finals] == []
    partials = [event.words for event in events if isinstance(event, Partial)]
    assert not any(partials), partials


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_no_words_in_recorded_sounds(recognizer: Recognizer, path: Path) -> None:
    with path.open("rb") as file, open_audio(file, allow_av=False) as audio:
        samples = np.concatenate(list(audio.blocks(8000)))[:, 0]
        rate = audio.rate
    assert [event.text for event in events_of(recognizer, samples, rate) if isinstance(event, Final)] == []


def test_there_are_recordings() -> None:
    assert len(RECORDED) == 4
