"""What is done to speech before it is measured: the levels and bands that it says."""

from __future__ import annotations

import numpy as np

from models.asr.damage import DIRECT_DB, beside, in_a_room, telephone

RATE = 16000


def test_noise_lies_as_far_below_the_speech_as_asked() -> None:
    rng = np.random.default_rng(1)
    speech = rng.standard_normal(RATE).astype(np.float32)
    noise = rng.standard_normal(RATE // 3).astype(np.float32) * 7
    added = beside(speech, noise, 10.0, rng) - speech
    assert abs(10 * np.log10(np.mean(speech**2) / np.mean(added**2)) - 10.0) < 0.01


def test_a_room_adds_a_tail_that_is_as_loud_as_it_says_and_dies_away() -> None:
    click = np.zeros(RATE, np.float32)
    click[100] = 1.0
    heard = in_a_room(click, RATE, np.random.default_rng(2))
    assert abs(heard[100] - 1.0) < 1e-3
    assert np.abs(heard[:100]).max() < 1e-3
    tail = heard[101:]
    assert abs(10 * np.log10(1.0 / np.sum(tail**2)) - DIRECT_DB) < 0.1
    early, late = np.sum(tail[: RATE // 10] ** 2), np.sum(tail[RATE * 3 // 10 : RATE * 4 // 10] ** 2)
    assert early > 1e3 * late


def test_a_telephone_passes_its_band_and_nothing_else() -> None:
    at = np.arange(RATE) / RATE
    for hz, passes in ((100, False), (1000, True), (3900, False), (6000, False)):
        tone = (0.5 * np.sin(2 * np.pi * hz * at)).astype(np.float32)
        heard, rate = telephone(tone, RATE, 0)
        assert rate == 8000
        assert (np.sqrt(np.mean(heard**2)) > 0.3) == passes
