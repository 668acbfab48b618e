"""What a running stack leaves on disk, so that another command finds it, drops files into it and ends it by pid."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_FOLDER = ROOT / ".local"


class LocalError(Exception):
    """The local stack cannot do what was asked; the message says what to do about it."""


@dataclass(frozen=True)
class State:
    """One running stack: the emulator's process and what CloudFormation said it made."""

    pid: int  # of the emulator, which leads a process group of its own
    port: int  # on 127.0.0.1
    log: str  # path of the emulator's log
    region: str
    parameters: dict[str, str] = field(default_factory=dict)  # the template's, where they were set
    outputs: dict[str, str] = field(default_factory=dict)  # the template's

    @property
    def endpoint(self) -> str:
        """URL that every AWS client of this stack talks to."""
        return f"http://127.0.0.1:{self.port}"

    def save(self, folder: Path) -> None:
        """Write the state where `load` finds it; a reader never sees half of it."""
        draft = folder / f"stack.json.{os.getpid()}"
        draft.write_text(json.dumps(asdict(self), indent=2) + "\n")
        draft.replace(folder / "stack.json")


def load(folder: Path) -> State | None:
    """The state of the stack that runs from `folder`, or None; clears away what a dead one left."""
    path = folder / "stack.json"
    try:
        state = State(**json.loads(path.read_text()))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError):
        path.unlink()
        return None
    if is_emulator(state.pid):
        return state
    path.unlink(missing_ok=True)
    return None


def is_emulator(pid: int) -> bool:
    """Whether `pid` is a running emulator, and not another program that was given its number since."""
    if Path("/proc/self").exists():
        try:
            return b"ministack" in Path(f"/proc/{pid}/cmdline").read_bytes()  # empty once it has ended
        except OSError:
            return False
    question = ["ps", "-p", str(pid), "-o", "stat=,command="]
    answer = subprocess.run(question, capture_output=True, text=True, check=False).stdout
    return "ministack" in answer and not answer.startswith("Z")
