"""Durations: from what the model predicts to units of 25 ms, and where each unit stands within its symbol."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

UNIT_S = 0.025  # seconds of a unit
FRAMES = 2  # mel frames of a unit


def whole_units(log_units: NDArray[np.float32], rates: NDArray[np.float32]) -> NDArray[np.int64]:
    """Units of each symbol (L,), at least 1, from logs of durations at rate 1 and the rate of each symbol.

    Ends are rounded, not durations: what rounding takes from one symbol the next one gets, so that speech does not
    drift. Of what a symbol takes beyond its due the next ones give back half a unit at most, so that none is swallowed.
    """
    units = np.empty(len(log_units), np.int64)
    carried = 0.0
    for i, duration in enumerate((np.exp(np.asarray(log_units, np.float64)) / rates).tolist()):
        units[i] = max(1, round(duration + carried))
        carried = max(-0.5, duration + carried - float(units[i]))
    return units


def places(units: NDArray[np.int64]) -> NDArray[np.float32]:
    """(sum, 4) for durations (L,): how far into its symbol each unit is, 0 to 1; units since and before; log length."""
    total = np.repeat(units, units)
    since = np.arange(len(total)) - np.repeat(np.cumsum(units) - units, units)
    left = total - 1 - since
    columns = [(since + 0.5) / total, np.minimum(since, 8) / 8, np.minimum(left, 8) / 8, np.log(total) / 2]
    return np.stack(columns, axis=1).astype(np.float32)
