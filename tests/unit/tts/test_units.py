"""Durations become whole units without drifting, and units know their place."""

from __future__ import annotations

import numpy as np
import pytest
from speech.tts.units import places, whole_units


@pytest.mark.parametrize("rate", [0.5, 1.0, 1.3, 2.0])
def test_rounding_does_not_drift(rate: float) -> None:
    log_units = np.log(np.random.default_rng(1).uniform(2.0, 9.0, 500)).astype(np.float32)
    units = whole_units(log_units, np.full(500, rate, np.float32))
    ends = np.cumsum(np.exp(log_units.astype(np.float64)) / rate)
    assert np.abs(np.cumsum(units) - ends).max() <= 1.0


def test_nothing_is_skipped_however_fast() -> None:
    assert whole_units(np.full(9, -5.0, np.float32), np.full(9, 2.0, np.float32)).tolist() == [1] * 9


def test_what_short_symbols_took_does_not_swallow_the_next_long_one() -> None:
    log_units = np.log(np.array([0.1] * 30 + [10.0], np.float32))
    assert whole_units(log_units, np.ones(31, np.float32))[-1] >= 9


def test_places_of_units() -> None:
    found = places(np.array([1, 3]))
    np.testing.assert_allclose(found[:, 0], [0.5, 1 / 6, 0.5, 5 / 6])
    np.testing.assert_allclose(found[:, 1], [0, 0, 1 / 8, 2 / 8])
    np.testing.assert_allclose(found[:, 2], [0, 2 / 8, 1 / 8, 0])
    np.testing.assert_allclose(found[:, 3], np.log([1, 3, 3, 3]) / 2, rtol=1e-6)
