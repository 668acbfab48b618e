"""What tests of speaking share: a real synthesiser with a tiny voice, and an upload that remembers."""

from __future__ import annotations

import threading
import time
from functools import cache

from cloud.video.reply import Reply
from speech.errors import Transient
from speech.media.acks import Ack
from speech.media.events import Block
from speech.media.parser import Parser
from speech.media.writer import mulaw_track
from speech.tts.stream import SpeechStream
from speech.tts.synthesizer import Synthesizer

from tests.tiny.voice import FOLDER

TRACK = mulaw_track(1)


@cache
def synthesizer() -> Synthesizer:
    return Synthesizer.load(FOLDER)


def voice() -> SpeechStream:
    return synthesizer().stream(rate=8000, encoding="pcm_mulaw")


def spoken(text: str) -> bytes:
    """The sound of a text."""
    stream = voice()
    return b"".join(chunk.audio for chunk in [*stream.receive(text), *stream.finish()])


class Upload:
    """Where a reply goes: every block, with the time at which it came; may be told to fail."""

    def __init__(self, opened: Uploads, start_s: float) -> None:
        self._opened, self.over, self.start_s, self._parser = opened, False, start_s, Parser()
        self.blocks: list[tuple[float, Block]] = []

    def send(self, data: bytes) -> list[Ack]:
        if data and self._opened.broken > 0:
            self._opened.broken -= 1
            raise Transient("broke off")
        found = [event for event in self._parser.receive(data) if isinstance(event, Block)]
        self.blocks += [(time.time(), block) for block in found]
        self._opened.sent += len(found)
        if self._opened.sent >= self._opened.enough:
            self._opened.reached.set()
        return []

    def finish(self, data: bytes = b"", wait_s: float = 5.0) -> list[Ack]:
        self.over = True
        self._opened.closed.set()
        return self.send(data)


class Uploads:
    """Opens them; `after(n)` waits until so many frames have left."""

    def __init__(self) -> None:
        self.all: list[Upload] = []
        self.broken = 0  # so many attempts to send will fail
        self.sent, self.enough = 0, 1 << 30
        self.reached, self.closed = threading.Event(), threading.Event()

    def open(self, stream: str, start_s: float) -> Upload:
        self.all.append(Upload(self, start_s))
        return self.all[-1]

    def reply(self) -> Reply:
        return Reply("replies", TRACK, open=self.open)

    def after(self, frames: int) -> None:
        self.reached.clear()
        self.enough = frames
        if self.sent < frames:
            self.reached.wait()

    @property
    def audio(self) -> bytes:
        return b"".join(block.data for upload in self.all for _, block in upload.blocks)
