"""A long text on its way to speech: put down when time is up, taken up by the next invocation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from speech.errors import BadSnapshot
from speech.model import state

if TYPE_CHECKING:
    from speech.tts.stream import SpeechStream
    from speech.tts.synthesizer import Synthesizer

ENCODING = "pcm_s16le"  # of the parts, whatever the file will be
BYTES = 2  # of a sample
PIECE = 2000  # characters given to the voice at a time: what waits in it has to fit a snapshot
STAMP = "narration"


@dataclass
class Narration:
    """Between any two chunks. `parts` are the files of samples that are finished."""

    text: str
    stream: SpeechStream | None  # None: all has been said
    at: int = 0  # characters given to the voice
    parts: int = 0
    seconds: float = 0.0  # of speech, in all parts and the one that is being made
    spent_s: float = 0.0  # by the invocations before this one

    @classmethod
    def resume(cls, synthesizer: Synthesizer, text: str, blob: bytes) -> Narration:
        """Where it was put down. Raises BadSnapshot for a damaged one, or if another model began it."""
        values = state.unpack(blob, STAMP)
        try:
            snapshot = values["stream"]
            at, parts = int(np.asarray(values["at"])), int(np.asarray(values["parts"]))
            seconds, spent_s = float(np.asarray(values["seconds"])), float(np.asarray(values["spent_s"]))
        except KeyError as error:
            raise BadSnapshot(f"the narration lacks {error}") from error
        stream = synthesizer.resume(snapshot) if isinstance(snapshot, bytes) and snapshot else None
        return cls(text, stream, at, parts, seconds, spent_s)

    def to_bytes(self, spent_s: float) -> bytes:
        """All of it but the text; `spent_s`: seconds of work so far, all invocations together."""
        snapshot = self.stream.snapshot() if self.stream and not self.stream.closed else b""
        numbers = {"at": self.at, "parts": self.parts, "seconds": self.seconds, "spent_s": spent_s}
        return state.pack(STAMP, {"stream": snapshot, **numbers}, 2 * state.MAX_BYTES)

    @property
    def progress(self) -> float:
        """Of the text, 0 to 1."""
        return self.at / len(self.text)

    def run(self, write: Callable[[bytes], object], time_is_up: Callable[[], bool]) -> bool:
        """Speaks on, giving samples to `write`; True once all has been said, False where time was up before."""
        while self.stream is not None:
            for chunk in self.stream.remaining():
                write(chunk.audio)
                self.seconds = self.stream.duration_s
                if time_is_up():
                    return False
            if self.stream.closed:
                self.stream = None
            elif self.at < len(self.text):
                piece = self.text[self.at : self.at + PIECE]
                self.at += len(piece)
                self.stream.receive(piece)
            else:
                self.stream.finish()
        return True
