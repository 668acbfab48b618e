"""The measurements of `python -m speech bench` and, in the same run, of live calls, of the API and of others.

    .venv/bin/python -m tests.bench [options of `python -m speech bench`]

Whisper, Piper and Kokoro run in .venv-bench (`make bench` sets it up) and are left out, with a word, without it.
"""

from __future__ import annotations

import argparse
import sys
from itertools import chain
from pathlib import Path

from speech.cli import bench

from tests.bench import api, barge_in, calls, media, peers, replies, socket_overhead, socket_speech, steps

ROOT = Path(__file__).resolve().parents[2]
LEXICON = ROOT / "models" / "bundles" / "lexicon-en-v1"


def main() -> int:
    """Measure everything, print the table, write it as JSON."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    bench.add_arguments(parser)
    arguments = parser.parse_args()
    print(bench.machine())
    rows = []
    for row in bench.measure(arguments):
        print(bench.line(row), flush=True)
        rows.append(row)
    if not arguments.only:
        heard = chain(calls.measure(calls.CALLS, calls.SECONDS), steps.measure())
        live = chain(heard, replies.measure(), barge_in.measure())
        sockets = chain(socket_overhead.measure(), socket_speech.measure())
        for row in chain(media.measure(media.SECONDS), live, sockets, api.measure()):
            print(bench.line(row), flush=True)
            rows.append(row)
    own = {row.name: row.value for row in rows}
    if peers.PYTHON.is_file():
        heard = peers.whisper(bench.recordings(arguments.audio), own.get("rtf"))
        for row in chain(heard, peers.voices(LEXICON, own.get("say_rtf"))):
            print(bench.line(row), flush=True)
            rows.append(row)
    else:
        print(f"no {peers.PYTHON.relative_to(ROOT)}: others are not measured (python3 -m local.setup bench)")
    bench.write(rows, Path(arguments.json))
    return 0


if __name__ == "__main__":
    sys.exit(main())
