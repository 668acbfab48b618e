"""Every test, in two lanes side by side, as a machine with two cores can carry them: what `make test` runs.

    .venv/bin/python -m tests

A lane is pytest over some folders, with emulators and ports of its own. A line for each file as it is done; what a lane
has to say of failures follows in one piece at its end, and a lane that fails never stops the others.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STACK, PAGE, TORCH, APART = "tests/stack", "tests/browser", "tests/parity", "tests/bench"  # and all the rest
CALLS = tuple(f"{STACK}/{folder}" for folder in ("calls", "kvs", "replies"))  # with emulators of their own
PYTHON, WITH_TORCH = ".venv/bin/python", ".venv-train/bin/python"
PYTEST = ("-u", "-m", "pytest", "--verbosity=0", "--no-header")  # a line for each file
_printing = threading.Lock()


@dataclass
class Lane:
    """Runs of pytest, one after the other."""

    name: str
    runs: list[list[str]]  # interpreter and arguments
    yields: bool = False  # to the others, which keep time with real callers
    failed: bool = True  # until all its runs have passed
    summaries: list[str] = field(default_factory=list)

    def go(self) -> None:
        """Make all runs, also behind one that fails."""
        statuses = []
        for python, *arguments in self.runs:
            command = [*(["nice", "-n", "5"] if self.yields else []), python, *PYTEST]
            status, said = self._watched([*command, "-o", f"cache_dir=.pytest_cache/{self.name}", *arguments])
            statuses.append(status)
            self.summaries.append(said[-1].strip("= ") if said else f"ended with exit status {status}")
            if status:
                self._print(*said)
        self.failed = any(statuses)

    def _watched(self, command: list[str]) -> tuple[int, list[str]]:
        """Exit status of a command, and what it said beside its progress."""
        said = list[str]()
        with subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if line.rstrip().endswith("%]"):
                    self._print(line.rstrip())
                else:
                    said.append(line.rstrip())
        return process.returncode, said

    def _print(self, *lines: str) -> None:
        with _printing:
            print(*(f"{self.name:5} | {line}" for line in lines), sep="\n", flush=True)


def lanes() -> list[Lane]:
    """What runs beside what: a folder that is new falls into the first lane.

    Callers who speak in real time, and a browser that hears them, need a core to themselves: one after the other, in a
    lane that the other yields to.
    """
    quiet = [
        [PYTHON, *without(STACK, PAGE, TORCH, APART), "tests"],
        [WITH_TORCH, TORCH],
        [PYTHON, *without(*CALLS), STACK],
    ]
    return [
        Lane("quiet", quiet, yields=True),
        Lane("live", [[PYTHON, *CALLS], [PYTHON, PAGE]]),
    ]


def without(*folders: str) -> list[str]:
    """Arguments of pytest that leave folders out."""
    return [f"--ignore={folder}" for folder in folders]


def run(some: list[Lane]) -> int:
    """Run lanes side by side; 1 when one of them failed."""
    print(f"side by side: {', '.join(lane.name for lane in some)}", flush=True)
    began_s = time.monotonic()
    threads = [threading.Thread(target=lane.go) for lane in some]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for lane in some:
        print(f"{lane.name:5} {'FAILED' if lane.failed else 'passed'}: {'; '.join(lane.summaries)}")
    print(f"all lanes in {time.monotonic() - began_s:.0f} s")
    return int(any(lane.failed for lane in some))


if __name__ == "__main__":
    try:
        sys.exit(run(lanes()))
    except KeyboardInterrupt:  # the lanes have it too, and end what they started
        sys.exit(130)
