"""The caller's ear: what is said in reply, out of its video stream, and both sides of the call as a WAV file."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import soundfile
from cloud.video.consumer import Consumer, Patience
from cloud.video.getmedia import Start
from speech.audio import pcm
from speech.audio.resample import Resampler
from speech.media.call_events import Audio, AudioTrack
from speech.media.formats import AudioFormat

from local.calls.caller import Samples


class Listener:
    """Hears a stream from its first to its last block. Use as a context manager; then `write`."""

    def __init__(self, stream: str) -> None:
        self._consumer = Consumer(stream, Start("EARLIEST"), patience=Patience(idle_s=3600.0, retry_s=0.1))
        self._thread = threading.Thread(target=self._hear, name="listener", daemon=True)
        self._blocks: list[tuple[int, bytes]] = []  # (ms since 1970, sound)
        self._format = AudioFormat("pcm_mulaw", 8000)

    def __enter__(self) -> Listener:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._consumer.stop()
        self._thread.join(10.0)

    @property
    def heard(self) -> bool:
        """Whether there was anything."""
        return bool(self._blocks)

    def write(self, path: Path, caller: Samples, rate: int, began_s: float) -> None:
        """Stereo: the caller's first channel left, the replies right, each where it was in the call."""
        blocks = [(at_ms / 1000 - began_s, pcm.decode(data, self._format.encoding)) for at_ms, data in self._blocks]
        last_s = max((at_s + len(sound) / self._format.rate for at_s, sound in blocks), default=0.0)
        right = np.zeros(round(max(0.0, last_s) * self._format.rate) + 1, np.float32)
        for at_s, sound in blocks:
            start = max(0, round(at_s * self._format.rate))
            fits = sound[: len(right) - start]
            right[start : start + len(fits)] = fits
        resampler = Resampler(self._format.rate, rate)
        right = np.concatenate([resampler.receive(right), resampler.finish()])
        both = np.zeros((max(len(caller), len(right)), 2), np.float32)
        both[: len(caller), 0] = caller[:, 0]
        both[: len(right), 1] = right
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, both, rate, "PCM_16")

    def _hear(self) -> None:
        for event in self._consumer.events():
            if isinstance(event, AudioTrack) and event.format:
                self._format = event.format
            elif isinstance(event, Audio):
                self._blocks.append((event.at_ms, event.data))
