"""python -m speech say: text, or text that arrives on standard input, to speech in a file or on standard output."""

from __future__ import annotations

import argparse
import codecs
import io
import json
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

import numpy as np

from speech.audio.encoder import RATES, SPEECH_ENCODINGS
from speech.audio.files_write import WholeFile
from speech.cli import bundles
from speech.errors import BadInput
from speech.tts.marks import TimedSpan, speech_marks
from speech.tts.stream import Chunk, SpeechStream
from speech.tts.synthesizer import Synthesizer

BY_SUFFIX = {".wav": "wav", ".flac": "flac", ".mp3": "mp3", ".ogg": "ogg_opus", ".opus": "ogg_opus"}
OUT = "speech.wav"
STDOUT = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("text", nargs="?", help="what to say; without it, standard input as it arrives")
    parser.add_argument("-o", "--out", metavar="FILE", help=f"where the audio goes ({OUT}); - is standard output")
    parser.add_argument("--voice", help="one of the bundle's; an unknown name lists them")
    parser.add_argument("--rate", type=int, choices=RATES, default=24000, help="Hz (24000)")
    parser.add_argument("--encoding", choices=SPEECH_ENCODINGS, help="as a rule what the name of the file says")
    parser.add_argument("--speed", type=float, default=1.0, help="0.5 to 2 (1)")
    parser.add_argument("--pitch", type=float, default=0.0, help="semitones, -12 to 12 (0)")
    parser.add_argument("--volume", type=float, default=1.0, help="factor of amplitude, 0.1 to 10 (1)")
    parser.add_argument("--ssml", action="store_true", help="the text is SSML")
    parser.add_argument("--marks", metavar="FILE", help="write speech marks, a line of JSON each; - is standard error")
    parser.add_argument("--json", action="store_true", help="report times on standard error, as one line of JSON")
    parser.add_argument("--bundle", metavar="DIR", help="the model; as a rule the one in models/bundles")


def run(arguments: argparse.Namespace) -> int:
    """Speak; to standard output and without a container, the audio is written while it is made."""
    out = arguments.out or OUT
    encoding = arguments.encoding or _encoding(out)
    # A file's header tells its length, which is known at the end: players stop early at one that was sent off before.
    whole = WholeFile(encoding, arguments.rate) if out != STDOUT and not encoding.startswith("pcm_") else None
    synthesizer = Synthesizer.load(bundles.find(arguments.bundle, bundles.SYNTHESIS))
    stream = synthesizer.stream(
        arguments.voice, arguments.rate, "pcm_f32le" if whole else encoding, arguments.speed, arguments.pitch,
        arguments.volume,
    )  # fmt: skip
    source = _Source(arguments)
    report = _Report()
    try:
        with _opened(out) as file:
            for chunk in _spoken(stream, source, report, arguments.ssml):
                if whole:
                    whole.receive(np.frombuffer(chunk.audio, np.float32))
                else:
                    file.write(chunk.audio)
                    file.flush()
            if whole:
                file.write(whole.finish())
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise BadInput(f"{out}: {error.strerror or error}") from error
    if arguments.marks:
        _write_marks(arguments.marks, speech_marks(source.text, report.spans))
    if arguments.json:
        print(json.dumps(report.numbers(stream.duration_s, out)), file=sys.stderr)
    elif out != STDOUT:
        print(f"{out}: {stream.duration_s:.2f} s", file=sys.stderr)
    return 0


class _Source:
    """The text in the pieces in which it comes, and all of it so far."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.text = ""
        self._given: str | None = arguments.text

    def pieces(self) -> Iterator[str]:
        for piece in [self._given] if self._given is not None else _arriving(sys.stdin):
            self.text += piece
            yield piece


def _arriving(source: TextIO) -> Iterator[str]:
    """What is there, as soon as it is there: a line would hold back the end of a sentence."""
    binary = getattr(source, "buffer", None)
    if binary is None:
        yield from iter(lambda: source.read(4096), "")
        return
    decoder = io.IncrementalNewlineDecoder(_utf8(), translate=True)
    while data := binary.read1(4096):
        yield decoder.decode(data)
    yield decoder.decode(b"", final=True)


def _utf8() -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder("utf-8")(errors="replace")


class _Report:
    """Times by the clock: when text came, when sound came."""

    def __init__(self) -> None:
        self.spans: list[TimedSpan] = []
        self._text_at: float | None = None
        self._first: float | None = None
        self._worked = 0.0

    def text(self) -> None:
        """The first text is here."""
        self._text_at = time.perf_counter() if self._text_at is None else self._text_at

    def timed(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """The chunks, with the time that making them takes."""
        while True:
            began = time.perf_counter()
            chunk = next(chunks, None)
            now = time.perf_counter()
            self._worked += now - began
            if chunk is None:
                return
            if self._first is None and chunk.audio:
                self._first = now - (self._text_at or began)
            self.spans += chunk.spans
            yield chunk

    def numbers(self, seconds: float, out: str) -> dict[str, object]:
        """What --json prints."""
        words = [span for span in self.spans if span.type == "word"]
        return {
            "file": out,
            "seconds": round(seconds, 3),
            "first_audio_ms": None if self._first is None else round(1000 * self._first, 1),
            "rtf": round(self._worked / seconds, 4) if seconds else None,
            "words": [[span.start, span.end, round(span.start_s, 3), round(span.end_s or 0.0, 3)] for span in words],
        }


def _spoken(stream: SpeechStream, source: _Source, report: _Report, ssml: bool) -> Iterator[Chunk]:
    pieces: Iterable[str] = ["".join(source.pieces())] if ssml else source.pieces()
    for piece in pieces:
        report.text()
        yield from report.timed(stream.receive_markup(piece) if ssml else stream.receive(piece))
    yield from report.timed(stream.finish())


def _encoding(out: str) -> str:
    if out == STDOUT:
        return "wav"
    suffix = Path(out).suffix.lower()
    if suffix not in BY_SUFFIX:
        raise BadInput(f"{out}: the name does not say an encoding; expected {', '.join(BY_SUFFIX)}, or give --encoding")
    return BY_SUFFIX[suffix]


def _opened(out: str) -> BinaryIO:
    if out == STDOUT:
        return open(sys.stdout.fileno(), "wb", closefd=False)
    return Path(out).open("wb")


def _write_marks(name: str, lines: list[str]) -> None:
    text = "".join(line + "\n" for line in lines)
    if name == STDOUT:
        sys.stderr.write(text)
    else:
        Path(name).write_text(text, encoding="utf-8")
