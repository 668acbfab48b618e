"""Partials as they form: from a file, or from raw samples on standard input as they arrive."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

import numpy as np

from speech.asr.options import StreamOptions
from speech.asr.recognizer import Recognizer, RecognizerStream
from speech.audio.files import open_audio
from speech.audio.pcm import PcmDecoder
from speech.events import Event, Final, Partial

CHUNK_MS = 160
STDIN = "-"


def run(recognizer: Recognizer, name: str, arguments: argparse.Namespace, options: StreamOptions | None = None) -> None:
    """Print the events of one source. Raises BadAudio or OSError."""
    if name == STDIN:
        stream = recognizer.stream(arguments.rate, options=options)
        _feed(stream, _pcm(sys.stdin.buffer, arguments.rate, arguments.encoding))
        return
    with Path(name).open("rb") as file, open_audio(file) as audio:
        blocks = audio.blocks(audio.rate * CHUNK_MS // 1000)
        _feed(recognizer.stream(audio.rate, options=options), (block.mean(axis=1) for block in blocks))


def _feed(stream: RecognizerStream, chunks: Iterable[np.ndarray]) -> None:
    screen = Screen(sys.stdout)
    for chunk in chunks:
        screen.show(stream.receive(chunk))
    screen.show(stream.finish())


class Screen:
    """On a terminal a partial is overwritten by the next; elsewhere each has a line of its own, marked "~"."""

    def __init__(self, out: TextIO) -> None:
        self._out, self._tty = out, out.isatty()

    def show(self, events: list[Event]) -> None:
        """Print what the events say; the end of a turn leaves no mark."""
        for event in events:
            if isinstance(event, Partial):
                words = " ".join(word.text for word in event.words)
                self._out.write(f"\r\x1b[K{words[-100:]}" if self._tty else f"~ {words}\n")
            elif isinstance(event, Final):
                line = f"[{event.start_s:8.2f} - {event.end_s:8.2f}] {event.text}\n"
                self._out.write("\r\x1b[K" + line if self._tty else line)
        if events:
            self._out.flush()


def _pcm(source: BinaryIO, rate: int, encoding: str) -> Iterator[np.ndarray]:
    decoder = PcmDecoder(encoding)
    # Of a pipe, what is there: waiting for a whole chunk would hold back the end of a sentence.
    read = getattr(source, "read1", source.read)
    while data := read(rate * CHUNK_MS // 1000):
        yield decoder.receive(data)[:, 0]
