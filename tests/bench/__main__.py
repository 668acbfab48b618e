"""The measurements of `python -m speech bench` and, in the same run, those of live calls and of faster-whisper.

    .venv/bin/python -m tests.bench [options of `python -m speech bench`]

Whisper runs in .venv-bench (`make bench` sets it up) and is left out with a word where that is not there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from speech.cli import bench

from tests.bench import api, calls, media, socket_overhead

ROOT = Path(__file__).resolve().parents[2]
PEER_PYTHON = ROOT / ".venv-bench" / "bin" / "python"
PEER = ROOT / "tests" / "bench" / "whisper_peer.py"
TIMES_FASTER = 4


def peers(files: list[Path], own_rtf: float | None) -> Iterator[bench.Row]:
    """RTF of whisper tiny and base, and how many times faster than tiny we are."""
    command = "python -m tests.bench"
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    names = [str(path) for path in files]
    done = subprocess.run([PEER_PYTHON, PEER, *names], env=environment, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    for name, numbers in found.items():
        yield bench.Row(f"{name}_rtf", numbers["rtf"], "x", "", command)
    if own_rtf:
        faster = found["whisper_tiny"]["rtf"] / own_rtf
        yield bench.Row("times_faster_than_tiny", faster, "x", f"{TIMES_FASTER} or more", command)


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
        live = calls.measure(calls.CALLS, calls.SECONDS)
        for row in chain(media.measure(media.SECONDS), live, socket_overhead.measure(), api.measure()):
            print(bench.line(row), flush=True)
            rows.append(row)
    own = next((row.value for row in rows if row.name == "rtf"), None)
    if PEER_PYTHON.is_file():
        for row in peers(bench.recordings(arguments.audio), own):
            print(bench.line(row), flush=True)
            rows.append(row)
    else:
        print(f"no {PEER_PYTHON.relative_to(ROOT)}: whisper is not measured (python3 -m local.setup bench)")
    bench.write(rows, Path(arguments.json))
    return 0


if __name__ == "__main__":
    sys.exit(main())
