"""Create the virtual environments: `python3.11 -m local.setup [dev] [stack] [train] [bench] [lint] [checkov]`.

Runs under the system's Python, so it imports the standard library only. Each environment ends with a stamp (a digest of
its requirements, interpreter and place): a matching stamp means nothing to do, no stamp means the last set-up was
interrupted and is taken up again, a different one means the requirements or the folder changed.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local import browser
from local.progress import Bar

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {"dev": ".venv"} | {name: f".venv-{name}" for name in ("stack", "train", "bench", "lint", "checkov")}
SOURCES = ("layers/speech/python", "layers/cloud/python", ".")  # importable in .venv, relative to the root
STEPS = ("Collecting", "Requirement already", "Processing")  # pip says one of them once per package


class SetupError(Exception):
    """The set-up cannot go on; the message says what to do about it."""


def requirements(name: str) -> Path:
    """The pinned requirements of environment `name`."""
    return ROOT / f"requirements-{name}.txt"


def pins(path: Path) -> list[str]:
    """All `name==version` lines of a requirements file and of the files it includes."""
    found: list[str] = []
    for line in path.read_text().splitlines():
        if line.startswith("-r "):
            found += pins(path.parent / line[3:].strip())
        elif "==" in line and not line.startswith("#"):
            found.append(line.strip())
    return found


def stamp_of(name: str) -> str:
    """What a finished environment's stamp must say."""
    parts = [*pins(requirements(name)), sys.version, str(ROOT), *SOURCES]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def ready(name: str) -> bool:
    """Whether the environment is complete and up to date."""
    stamp = ROOT / FOLDERS[name] / ".stamp"
    return stamp.is_file() and stamp.read_text() == stamp_of(name)


def make(name: str) -> None:
    """Bring one environment to its pinned state; does nothing when it is there."""
    if ready(name):
        return
    check_python()
    folder = ROOT / FOLDERS[name]
    (folder / ".stamp").unlink(missing_ok=True)
    if not works(folder / "bin" / "python"):
        create(folder)
    install(name, folder)
    if name in ("dev", "train"):
        write_path_file(folder)
    (folder / ".stamp").write_text(stamp_of(name))


def check_python() -> None:
    """Refuse a Python that the pinned wheels were not made for."""
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        raise SetupError(
            f"Python {sys.version.split()[0]} runs this, but 3.11 to 3.13 is needed: apt-get install python3.11 "
            "python3.11-venv, or say which one to use: make setup PYTHON=/path/to/python3.11"
        )


def works(python: Path) -> bool:
    """Whether a virtual environment's interpreter starts, is of this version, and has pip."""
    if not python.exists():
        return False
    question = "import pip, sys; print(sys.version)"
    try:
        answer = subprocess.run([python, "-c", question], capture_output=True, text=True, check=False)
    except OSError:
        return False  # half a file
    return answer.returncode == 0 and answer.stdout.strip() == sys.version.strip()


def create(folder: Path) -> None:
    """Make an empty virtual environment in place of whatever is left there."""
    shutil.rmtree(folder, ignore_errors=True)
    done = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        shutil.rmtree(folder, ignore_errors=True)
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise SetupError(
            f"Python's venv module cannot make {folder.name}: on Debian, apt-get install python{version}-venv\n"
            + (done.stdout + done.stderr).strip()
        )


def install(name: str, folder: Path) -> None:
    """pip install the pinned wheels with a progress bar; everything pip says goes to a log."""
    log = ROOT / ".local" / f"setup-{name}.log"
    command: list[str | Path] = [
        folder / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--no-input",
        "--disable-pip-version-check",
    ]
    # Ready-made wheels only: no compiler and no Python headers are ever needed.
    command += ["--only-binary", ":all:", "-r", requirements(name)]
    # Of torch and the readers of the template a run needs a fraction: Python compiles that when it is first imported.
    command += [] if name in ("dev", "stack") else ["--no-compile"]
    with log.open("w") as out, Bar(folder.name, len(pins(requirements(name)))) as bar:
        pip = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert pip.stdout is not None
        for line in pip.stdout:
            out.write(line)
            if line.startswith(STEPS):
                bar.step(line.split()[1].split("==")[0] if line.startswith("Collecting") else "")
            elif line.startswith("Installing collected"):
                bar.step("unpacking", by=0)
        if pip.wait() == 0:
            bar.step("ready", by=bar.total)
    if pip.returncode != 0:
        raise SetupError(explain(log))


def explain(log: Path) -> str:
    """Turn the end of a failed pip log into one instruction."""
    text = log.read_text()
    where = f"pip's own words: {log.relative_to(ROOT)}. What is done so far is kept: run the same command again."
    if any(hint in text for hint in ("NewConnectionError", "ConnectTimeout", "name resolution", "ProxyError")):
        return f"no connection to the package index: check the network or pip's configuration. {where}"
    if "No space left" in text:
        return f"the disk is full. {where}"
    if "No matching distribution" in text:
        wanted = text.rsplit("No matching distribution found for", 1)[1].split("\n")[0].strip()
        return f"no ready-made wheel of {wanted} for Python {sys.version.split()[0]} on this machine. {where}"
    return f"pip failed: {text.strip().splitlines()[-1] if text.strip() else 'it said nothing'}. {where}"


def write_path_file(folder: Path) -> None:
    """Make the sources importable by a .pth file; its paths are relative, so the checkout may be moved."""
    site = next((folder / "lib").glob("python3*/site-packages"))
    up = "/".join([".."] * len(site.relative_to(ROOT).parts))
    (site / "undertone.pth").write_text("".join(f"{up}/{source}\n" for source in SOURCES))


@contextmanager
def only_one() -> Iterator[None]:
    """Let one set-up run at a time in this checkout; a second one waits."""
    (ROOT / ".local").mkdir(exist_ok=True)
    with (ROOT / ".local" / "setup.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another set-up is running in this folder: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main(arguments: list[str] | None = None) -> int:
    """Set up the named environments (all that `make run` needs when none is named)."""
    parser = argparse.ArgumentParser(prog="python3.11 -m local.setup", description="Create the virtual environments.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which ones: {' '.join(FOLDERS)}")
    names = parser.parse_args(arguments).names or ["dev", "stack"]
    if unknown := set(names) - set(FOLDERS):
        parser.error(f"unknown environment {sorted(unknown)[0]!r}: expected {', '.join(FOLDERS)}")
    missing = [name for name in names if not ready(name)]
    if not missing:
        return 0  # without waiting for another set-up that makes others
    try:
        with only_one():
            for name in missing:
                make(name)
        if not browser.find():
            print(f"only for make test: {browser.MISSING}")
    except SetupError as error:
        print(f"set-up stopped: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nset-up interrupted: the same command goes on from here", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
