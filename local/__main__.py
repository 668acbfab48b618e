"""`python -m local up | status | drop FILE | produce FILE | watch | down | kvs | call FILE`: all on 127.0.0.1."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from local import commands, live
from local.calls import command as calls
from local.kvs import command as kvs
from local.state import DEFAULT_FOLDER, LocalError


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="python -m local", description=__doc__)
    top.add_argument("--state", type=Path, default=DEFAULT_FOLDER, help="folder of the stack's pid, port and log")
    words = top.add_subparsers(dest="word", required=True)

    up = words.add_parser("up", help="start the embedded AWS and deploy template.yaml into it; stays until Ctrl-C")
    up.add_argument("--detach", action="store_true", help="return once it is up; `down` ends it")
    up.add_argument("--port", type=int, help="on 127.0.0.1; 0 for any free one (default: 4566, else a free one)")
    up.add_argument(
        "--set",
        type=commands.assignment,
        action="append",
        default=[],
        metavar="Name=Value",
        help="a parameter of template.yaml; may be repeated",
    )
    up.add_argument("--demo", action="store_true", help="transcribe the recordings of events/audio")
    up.add_argument("--once", action="store_true", help="end after the demonstration")
    up.set_defaults(run=commands.up)

    status = words.add_parser("status", help="every endpoint, bucket, queue, table and function")
    status.add_argument("--json", action="store_true", help="for programs")
    status.set_defaults(run=commands.status)

    drop = words.add_parser("drop", help="put recordings into the input bucket and wait for their transcripts")
    drop.add_argument("files", type=Path, nargs="+", metavar="FILE")
    drop.add_argument("--timeout", type=float, default=900.0, metavar="SECONDS", help="without news (default: 900)")
    drop.set_defaults(run=commands.drop)

    words.add_parser("down", help="end the stack that `up` started").set_defaults(run=commands.down)
    live.add(words)
    kvs.add(words)
    calls.add(words)
    return top


def main(arguments: list[str] | None = None) -> int:
    """Run one command; errors that a person can act on come as one line."""
    options = parser().parse_args(arguments)
    options.state = options.state.resolve()
    try:
        return int(options.run(options))
    except LocalError as error:
        print(f"local: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
