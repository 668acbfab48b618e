"""What a context has said: the speech as it was put down, and of every word when it began."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

WORD = np.dtype([("start_ms", "<u4"), ("end", "<u4")])  # when it began to be heard; the place in the text after it
SHOWN = 4000  # characters of text that a `cancelled` quotes


@dataclass(frozen=True, slots=True)
class Said:
    """One context's progress as the table holds it; only who holds the context writes it."""

    connection: str
    name: str
    opened_s: float  # when its connection was opened, seconds since 1970
    entries: int = 0  # that the speech has taken in
    number: int = 1  # of the next record; 0 was `opened`
    frames: int = 0  # samples sent, at the context's rate
    text: str = ""  # all that was taken in
    words: bytes = b""  # of WORD, of all words that have begun
    owing: tuple[str, int | None] | None = None  # the flush or finish that is being worked on, and its number
    snapshot: bytes = b""  # of the speech; empty before the first text and after the end
    revision: int = 0

    def cancelled(self, rate: int, received: int, played_s: float | None) -> dict[str, Any]:
        """The last record of a context that was cancelled when the listener had heard `played_s`, None: everything."""
        audio_s = self.frames / rate
        heard_s = audio_s if played_s is None else min(played_s, audio_s)
        words: NDArray[Any] = np.frombuffer(self.words, WORD)
        begun = words[words["start_ms"] < round(1000 * heard_s)]
        end = int(begun["end"].max(initial=0))
        return {
            "type": "cancelled",
            "context": self.name,
            "number": self.number,
            "received": received,
            "audio_s": round(audio_s, 3),
            "played_s": round(heard_s, 3),
            "end": end,
            "text": self.text[max(0, end - SHOWN) : end],
        }
