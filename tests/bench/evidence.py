"""What a load test is judged by: records against what was said, and memory of processes against itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EMULATOR = "emulator"
FUNCTION = re.compile(r"(\w+)Function-")  # in the folder that a function works in


@dataclass(frozen=True)
class Heard:
    """What came back of one stream, held against what was said in it."""

    turns: int  # that were said
    wrong: int  # of them lost, changed, or in another place
    faults: tuple[str, ...] = ()  # anything else that is not as it must be


def judged(turns: list[str], sent_s: float, records: list[dict[str, Any]]) -> Heard:
    """Holds all records of a connection with one stream against its turns of `sent_s` seconds.

    Streams of all connections have the same name, so that only their own words and numbers tell them apart: a record
    of another stream is a second one under its number, or puts a word in the wrong place.
    """
    by_number, faults = dict[int, dict[str, Any]](), list[str]()
    for record in records:
        plain = {key: value for key, value in record.items() if key != "repeat"}
        if "number" not in record or record["type"] == "error":
            faults.append(f"{record['type']} {record.get('code', '')}: {record.get('message', '')}")
        elif by_number.setdefault(record["number"], plain) != plain:
            faults.append(f"two records have number {record['number']}")
    if missing := [number for number in range(max(by_number, default=-1) + 1) if number not in by_number]:
        faults.append(f"records {missing} are missing")
    told = [by_number[number] for number in sorted(by_number)]
    heard = [record["raw_text"] for record in told if record["type"] == "final"]
    ended = [record["audio_s"] for record in told if record["type"] == "done"]
    if ended != [round(sent_s, 3)]:
        faults.append(f"the stream ended at {ended} s, not once at {sent_s:.3f} s")
    right = sum(one == other for one, other in zip(turns, heard, strict=False))
    return Heard(len(turns), max(len(turns), len(heard)) - right, tuple(faults))


@dataclass(frozen=True)
class Sample:
    """Memory at a moment at which every socket has had the same share."""

    messages: int  # that have been taken so far, of all sockets
    resident: dict[str, float]  # MB of each process, by name and pid

    def names(self) -> list[str]:
        """Names of all processes, the largest together first."""
        return sorted({process.split()[0] for process in self.resident}, key=self.of, reverse=True)

    def of(self, name: str) -> float:
        """MB of all processes of a name."""
        return sum(size for process, size in self.resident.items() if process.split()[0] == name)


def sample(group: int, messages: int) -> Sample:
    """Resident memory of every process of a process group: the emulator, which leads it, and functions by name."""
    found = dict[str, float]()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int((folder / "stat").read_text().rsplit(")", 1)[1].split()[2]) != group:
                continue
            lines = (folder / "status").read_text().splitlines()
            size = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
            at = FUNCTION.search(str((folder / "cwd").readlink()))
        except (OSError, StopIteration):
            continue  # it ended meanwhile, or has no memory of its own
        name = EMULATOR if int(folder.name) == group else at[1] if at else "other"
        found[f"{name} {folder.name}"] = size / 1024
    return Sample(messages, found)


def growth(samples: list[Sample], name: str) -> tuple[float, float]:
    """Of the process of a name that grew most: last sample over first, and bytes for each message between them.

    Infinite where none lived through all of it: then nothing is known.
    """
    first, last = samples[0], samples[-1]
    lived = [process for process in first.resident if process in last.resident and process.split()[0] == name]
    if not lived or last.messages <= first.messages:
        return float("inf"), float("inf")
    ratio, grown = max(
        (last.resident[one] / first.resident[one], last.resident[one] - first.resident[one]) for one in lived
    )
    return ratio, grown * 2**20 / (last.messages - first.messages)
