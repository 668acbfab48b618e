"""python -m speech transcribe: recordings, or live audio, to text."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from speech.asr.recognizer import Recognizer
from speech.audio.pcm import ENCODINGS
from speech.cli import bundles, live, output, recording
from speech.errors import SpeechError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="recordings of any format; - is raw PCM (with --live)")
    parser.add_argument("--format", choices=tuple(output.FORMATS), default="txt", help="of the output (txt)")
    parser.add_argument("--channels", action="store_true", help="recognise each channel by itself, labelled")
    parser.add_argument("--jsonl", action="store_true", help="one line of JSON for each file, with words and RTF")
    parser.add_argument("--live", action="store_true", help="print partials as they form")
    parser.add_argument("--rate", type=int, default=16000, help="of PCM on standard input, Hz (16000)")
    parser.add_argument("--encoding", choices=ENCODINGS, default="pcm_s16le", help="of PCM on standard input")
    parser.add_argument("--bundle", metavar="DIR", help="the model; as a rule the one in models/bundles")


def run(arguments: argparse.Namespace) -> int:
    """Transcribe every file; one that cannot be is reported by name, and the others still are."""
    if live.STDIN in arguments.files and not arguments.live:
        print("python -m speech transcribe: - (standard input) needs --live", file=sys.stderr)
        return 2
    recognizer = Recognizer.load(bundles.find(arguments.bundle))
    return max([_one(recognizer, name, arguments) for name in arguments.files])


def _one(recognizer: Recognizer, name: str, arguments: argparse.Namespace) -> int:
    try:
        if arguments.live:
            live.run(recognizer, name, arguments)
        else:
            _print(recognizer, name, arguments)
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"{name}: {error.strerror or error}", file=sys.stderr)
        return 1
    except SpeechError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    return 0


def _print(recognizer: Recognizer, name: str, arguments: argparse.Namespace) -> None:
    path = Path(name)
    result = recording.transcribe(recognizer, path, arguments.channels, output.bar(path.name))
    for warning in result.transcript.warnings:
        print(f"{name}: {warning}", file=sys.stderr)
    if arguments.jsonl:
        sys.stdout.write(output.json_line(result, name))
    else:
        if len(arguments.files) > 1 and arguments.format == "txt":
            sys.stdout.write(f"{name}:\n")
        sys.stdout.write(output.FORMATS[arguments.format](result.transcript, path))
    sys.stdout.flush()
