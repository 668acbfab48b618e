"""A telephone call in tones, which the tiny bundle understands: said piece by piece, as fast as it can be sent."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import boto3
import numpy as np
import pytest
import requests
from cloud.video.putmedia import PutMedia
from speech.audio import pcm
from speech.media.writer import PutMediaWriter, l16_track

from local.calls import live_worker
from local.kvs.background import Background
from local.kvs.settings import Settings
from local.stack import Stack
from tests.contract.house import ROOT
from tests.stack.calls.conftest import KEYS, forget
from tests.tiny.sound import say

RATE, BLOCK_MS = 8000, 64
BLOCK = RATE * BLOCK_MS // 1000
SPOKEN_BEFORE_S = 60.0  # that the call began before it is sent, so that nothing is told before it was said
TRACKS = (l16_track(1, "AUDIO_FROM_CUSTOMER"), l16_track(2, "AUDIO_TO_CUSTOMER"))
TINY = {"MODELS_DIR": str(ROOT / "tests" / "tiny"), "ASR_BUNDLE": "tones", "TTS_BUNDLE": "hum"}


@dataclass
class Phone:
    """Both sides of a call on a video stream of its own."""

    name: str
    upload: PutMedia = field(init=False)
    writer: PutMediaWriter = field(default_factory=lambda: PutMediaWriter(TRACKS))
    at_ms: int = 0

    def __post_init__(self) -> None:
        boto3.client("kinesisvideo").create_stream(StreamName=self.name, DataRetentionInHours=1)
        self.upload = PutMedia.open(self.name, start_s=time.time() - SPOKEN_BEFORE_S)

    @property
    def tags(self) -> dict[str, str]:
        """Of its fragments."""
        return {"ContactId": self.name, "MimeType": f"audio/L16;rate={RATE};channels=1;"}

    def say(self, caller: str = "", agent: str = "") -> None:
        """Words and pauses ("cat 1.5 dog") of both, at the same time."""
        spoken = [say(text, RATE) for text in (caller, agent)]
        length = -(-max(map(len, spoken)) // BLOCK) * BLOCK
        both = [np.pad(one, (0, length - len(one))) for one in spoken]
        for at in range(0, length, BLOCK):
            parts = zip(TRACKS, both, strict=True)
            self.upload.send(b"".join(self._block(track.number, one[at : at + BLOCK]) for track, one in parts))
            self.at_ms += BLOCK_MS

    def hang_up(self) -> None:
        """The stream goes on with another call."""
        last = self.writer.begin(self.at_ms, self.tags)
        last += b"".join(self._block(track.number, np.zeros(BLOCK, np.float32)) for track in TRACKS)
        self.upload.finish(last + self.writer.finish({"ContactId": "another"}))

    def _block(self, track: int, samples: np.ndarray) -> bytes:
        return self.writer.block(track, self.at_ms, pcm.encode(samples, "pcm_s16le"), self.tags)


def begin(running: Stack, name: str) -> None:
    """The stack hears of a call."""
    headers, request = {"x-api-key": running.api_key}, {"stream": name, "id": name, "start": "earliest"}
    begun = requests.post(f"{running.api_url}/calls", headers=headers, json=request, timeout=60)
    assert begun.status_code == 201, begun.text


@contextmanager
def exchange(running: Stack, folder: Path) -> Iterator[dict[str, str]]:
    """An endpoint of video streams, used by this process too; the variables of a worker that answers by an echo."""
    patient = Settings(calls_per_s=0, idle_s=600.0)
    with Background(folder / "kvs", patient) as kvs, pytest.MonkeyPatch.context() as changed:
        found = live_worker.services(running, kvs)
        for name, value in (KEYS | found).items():
            changed.setenv(name, value)
        changed.setattr(boto3, "DEFAULT_SESSION", None)
        forget()
        made = live_worker.environment(running, folder) | found | TINY
        yield made | {"RESPONDER": "echo", "CALL_IDLE_S": "600", "LEASE_S": "60"}
    forget()


@contextmanager
def worker(variables: dict[str, str]) -> Iterator[None]:
    """Hears calls meanwhile."""
    with subprocess.Popen([sys.executable, str(live_worker.APP)], env=os.environ | variables) as process:
        try:
            yield
        finally:
            process.kill()
