"""python -m speech transcribe: recordings, or live audio, to text."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from speech.asr.options import StreamOptions
from speech.asr.recognizer import Recognizer
from speech.asr.vocabulary import CustomVocabulary
from speech.audio.pcm import ENCODINGS
from speech.cli import bundles, live, output, recording
from speech.errors import BadVocabulary, SpeechError
from speech.text.word_filter import METHODS, WordFilter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="recordings of any format; - is raw PCM (with --live)")
    parser.add_argument("--format", choices=tuple(output.FORMATS), default="txt", help="of the output (txt)")
    parser.add_argument("--channels", action="store_true", help="recognise each channel by itself, labelled")
    parser.add_argument("--jsonl", action="store_true", help="one line of JSON for each file, with words and RTF")
    parser.add_argument("--live", action="store_true", help="print partials as they form")
    parser.add_argument("--rate", type=int, default=16000, help="of PCM on standard input, Hz (16000)")
    parser.add_argument("--encoding", choices=ENCODINGS, default="pcm_s16le", help="of PCM on standard input")
    parser.add_argument("--vocabulary", metavar="FILE", help="words to listen for, one a line, or JSON")
    parser.add_argument("--filter", metavar="FILE", help="words to hide, one a line")
    parser.add_argument("--filter-method", choices=METHODS, default="mask", help="what becomes of them (mask)")
    parser.add_argument("--alternatives", type=int, default=0, metavar="N", help="other ways of hearing, up to 10")
    parser.add_argument("--bundle", metavar="DIR", help="the model; as a rule the one in models/bundles")


def run(arguments: argparse.Namespace) -> int:
    """Transcribe every file; one that cannot be is reported by name, and the others still are."""
    if live.STDIN in arguments.files and not arguments.live:
        print("python -m speech transcribe: - (standard input) needs --live", file=sys.stderr)
        return 2
    try:
        options = _options(arguments)
        recognizer = Recognizer.load(bundles.find(arguments.bundle))
        recognizer.hearings.of(options)  # a phrase that cannot be pronounced is no matter of the first file
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return max([_one(recognizer, name, arguments, options) for name in arguments.files])


def _options(arguments: argparse.Namespace) -> StreamOptions:
    """Raises BadVocabulary or OSError naming the file."""
    vocabulary, hidden = CustomVocabulary(), None
    if arguments.vocabulary:
        vocabulary = CustomVocabulary.parse(_text(arguments.vocabulary))
    if arguments.filter:
        hidden = WordFilter.parse(_text(arguments.filter), arguments.filter_method)
    return StreamOptions(vocabulary, hidden, arguments.alternatives)


def _text(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise BadVocabulary(f"{name}: expected text in UTF-8: {error.reason} at byte {error.start}") from None


def _one(recognizer: Recognizer, name: str, arguments: argparse.Namespace, options: StreamOptions) -> int:
    try:
        if arguments.live:
            live.run(recognizer, name, arguments, options)
        else:
            _print(recognizer, name, arguments, options)
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"{name}: {error.strerror or error}", file=sys.stderr)
        return 1
    except SpeechError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    return 0


def _print(recognizer: Recognizer, name: str, arguments: argparse.Namespace, options: StreamOptions) -> None:
    path = Path(name)
    result = recording.transcribe(recognizer, path, arguments.channels, output.bar(path.name), options)
    for warning in result.transcript.warnings:
        print(f"{name}: {warning}", file=sys.stderr)
    if arguments.jsonl:
        sys.stdout.write(output.json_line(result, name))
    else:
        if len(arguments.files) > 1 and arguments.format == "txt":
            sys.stdout.write(f"{name}:\n")
        sys.stdout.write(output.FORMATS[arguments.format](result.transcript, path))
    sys.stdout.flush()
