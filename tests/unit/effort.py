"""Work of a function, measured without a clock: the Python function calls that it makes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def calls_of(function: Callable[[Any], Any], argument: Any) -> int:
    """Calls of Python and C functions while `function(argument)` runs."""
    calls = 0

    def count(frame: FrameType, event: str, called: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        function(argument)
    finally:
        sys.setprofile(None)
    return calls
