"""The released voices: what no hand-made bundle can show."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from speech.tts.synthesizer import Synthesizer

from tests.contract.house import ROOT

TEXT = "Your table for four is booked, and we look forward to seeing you. Shall I send a confirmation by mail?"


@pytest.fixture(scope="module")
def synth() -> Synthesizer:
    return Synthesizer.load(ROOT / "models" / "bundles" / "tts-en-v1")


def sounds(synth: Synthesizer, pieces: list[str], voice: str) -> list[np.ndarray]:
    stream = synth.stream(voice, encoding="pcm_f32le")
    chunks = [chunk for piece in pieces for chunk in stream.receive(piece)]
    return [np.frombuffer(c.audio, "<f4") for c in [*chunks, *stream.finish()] if c.audio]


def test_no_click_where_chunks_meet(synth: Synthesizer) -> None:
    """Token by token it is the same sound as in one piece, and no step at a seam is larger than steps within chunks."""
    voice = synth.voices[0]
    chunks = sounds(synth, [token + " " for token in TEXT.split()], voice)
    whole = np.concatenate(sounds(synth, [TEXT + " "], voice))
    np.testing.assert_array_equal(np.concatenate(chunks), whole)
    seams = np.cumsum([len(chunk) for chunk in chunks])[:-1] - 1
    steps = np.abs(np.diff(whole))
    within = np.delete(steps, seams)
    assert len(seams) > 20
    assert steps[seams].max() <= within.max()
    assert np.median(steps[seams]) < 3 * np.median(within[within > 0])


def test_every_voice_speaks_at_its_own_level_and_pitch(synth: Synthesizer) -> None:
    """No two voices give the same sound, none is silent and none clips."""
    spoken = {voice: np.concatenate(sounds(synth, ["How are you today?"], voice)) for voice in synth.voices}
    for voice, sound in spoken.items():
        assert 0.02 < np.sqrt(np.mean(sound**2)) < 0.5, voice
        assert np.abs(sound).max() <= 1.0, voice
    assert all(not np.array_equal(a, b) for a, b in itertools.combinations(spoken.values(), 2))
