"""python -m speech transcribe | say | bench: recognition and synthesis on this machine, without any cloud part."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from speech.cli import bench, say, transcribe
from speech.errors import SpeechError


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = argparse.ArgumentParser(
        prog="python -m speech", description="Streaming speech recognition and synthesis on one CPU core."
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    transcribe.add_arguments(commands.add_parser("transcribe", help="recordings or live audio to text"))
    say.add_arguments(commands.add_parser("say", help="text to speech, as the text arrives"))
    bench.add_arguments(commands.add_parser("bench", help="measure speed, memory and latency on this machine"))
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit code is 0 when everything asked for was done, 1 otherwise."""
    arguments = parser().parse_args(argv)
    try:
        return {"transcribe": transcribe.run, "say": say.run, "bench": bench.run}[arguments.command](arguments)
    except SpeechError as error:
        print(f"python -m speech {arguments.command}: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print(file=sys.stderr)
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
    return 1


if __name__ == "__main__":
    sys.exit(main())
