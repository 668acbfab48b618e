"""A recording through the product's own recogniser in live chunks, for measuring."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from speech.asr.recognizer import RecognizerStream
from speech.events import Final

CHUNK_MS = 160


def finals(stream: RecognizerStream, samples: NDArray[np.float32], rate: int) -> list[Final]:
    """All that a new stream at `rate` Hz makes of samples (n,)."""
    size, events = rate * CHUNK_MS // 1000, []
    for start in range(0, len(samples), size):
        events += stream.receive(samples[start : start + size])
    events += stream.finish()
    return [event for event in events if isinstance(event, Final)]
