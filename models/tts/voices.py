"""The teacher's voices, as weights: every sentence of a corpus is spoken by one of them or by a blend."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NAMES = (
    "af_alloy", "af_aoede", "af_bella", "af_heart", "af_jessica", "af_kore", "af_nicole", "af_nova", "af_river",
    "af_sarah", "af_sky", "am_adam", "am_echo", "am_eric", "am_fenrir", "am_liam", "am_michael", "am_onyx", "am_puck",
    "am_santa", "bf_alice", "bf_emma", "bf_isabella", "bf_lily", "bm_daniel", "bm_fable", "bm_george", "bm_lewis",
)  # fmt: skip


def blend(text: str) -> NDArray[np.float32]:
    """Weights (voices,) of `af_heart`, or of `af_heart:0.60+af_sarah:0.40`."""
    weights = np.zeros(len(NAMES), np.float32)
    for part in text.split("+"):
        name, _, weight = part.partition(":")
        weights[NAMES.index(name)] += float(weight or 1.0)
    return weights
