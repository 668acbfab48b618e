"""Transcripts in the formats of the command line, and the progress bar."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from speech.cli.recording import Result
from speech.text import subtitles
from speech.text.transcript import Transcript, channel_label, to_json_line, to_text, to_transcribe_json

BAR_FROM_S = 60.0  # shorter recordings are done before a bar is of use
_BAR_WIDTH = 30


def json_document(transcript: Transcript, path: Path) -> str:
    """Amazon Transcribe's job JSON."""
    return json.dumps(to_transcribe_json(transcript, path.stem), ensure_ascii=False, indent=1) + "\n"


def srt(transcript: Transcript, path: Path) -> str:
    """SubRip subtitles."""
    return subtitles.to_srt(_captions(transcript))


def vtt(transcript: Transcript, path: Path) -> str:
    """WebVTT subtitles."""
    return subtitles.to_vtt(_captions(transcript))


def text(transcript: Transcript, path: Path) -> str:
    """Plain text, paragraphs at pauses."""
    return to_text(transcript)


FORMATS: dict[str, Callable[[Transcript, Path], str]] = {"txt": text, "json": json_document, "srt": srt, "vtt": vtt}


def json_line(result: Result, path: str) -> str:
    """One line of JSON for one file."""
    return json.dumps(to_json_line(result.transcript, path, result.rtf), ensure_ascii=False) + "\n"


def bar(name: str) -> Callable[[float, float | None], None]:
    """A progress bar on standard error, if that is a terminal and the recording is long."""

    def show(done_s: float, total_s: float | None) -> None:
        if not sys.stderr.isatty() or (total_s or done_s) < BAR_FROM_S:
            return
        share = min(1.0, done_s / total_s) if total_s else 0.0
        filled = "#" * round(share * _BAR_WIDTH)
        line = f"\r{name} [{filled:<{_BAR_WIDTH}}] {clock(done_s)}" + (f" of {clock(total_s)}" if total_s else "")
        sys.stderr.write("\r\x1b[K" if share >= 1.0 else line)
        sys.stderr.flush()

    return show


def clock(seconds: float) -> str:
    """1:02:03"""
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def _captions(transcript: Transcript) -> list[subtitles.Caption]:
    single = len(transcript.channels) == 1
    channels = []
    for number, finals in enumerate(transcript.channels):
        tokens = [token for final in finals for token in final.tokens]
        channels.append(subtitles.captions(tokens, "" if single else channel_label(number)))
    return subtitles.merge(channels)
