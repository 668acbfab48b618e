"""python -m speech bench: speed, memory and latency of both models on this machine, as a table and bench.json."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from speech.cli import bundles, children, measures, measures_say
from speech.errors import BadInput

_REPOSITORY = Path(__file__).resolve().parents[5]
RECORDINGS = _REPOSITORY / "events" / "audio"
SUFFIXES = (".wav", ".flac", ".ogg", ".mp3", ".m4a")


@dataclass(frozen=True)
class Row:
    """One measured number, what it must reach, and the command that measures it."""

    name: str
    value: float
    unit: str
    must: str
    command: str

    def as_json(self) -> dict[str, object]:
        """Its entry in bench.json."""
        return {"value": self.value, "unit": self.unit, "must": self.must, "command": self.command}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("--bundle", metavar="DIR", help="the model; as a rule the one in models/bundles")
    parser.add_argument("--voice-bundle", metavar="DIR", help="the voice; as a rule the one in models/bundles")
    parser.add_argument("--audio", metavar="FILE", nargs="+", help="recordings; as a rule those of events/audio")
    parser.add_argument("--only", metavar="NAME", nargs="+", choices=tuple(MEASURES), help=", ".join(MEASURES))
    parser.add_argument("--hours", type=float, default=3.0, help="length of the stream of `flatness` (3)")
    parser.add_argument("--json", metavar="FILE", default="bench.json", help="where to write the numbers")


def run(arguments: argparse.Namespace) -> int:
    """Measure, print, write."""
    rows = []
    print(machine())
    for row in measure(arguments):
        print(line(row), flush=True)
        rows.append(row)
    write(rows, Path(arguments.json))
    return 0


def measure(arguments: argparse.Namespace) -> Iterator[Row]:
    """The rows that were asked for, as they are measured."""
    bundle = bundles.find(arguments.bundle)
    files = recordings(arguments.audio)
    for name in arguments.only or MEASURES:
        for row_name, value, unit, must in MEASURES[name](bundle, files, arguments):
            yield Row(row_name, value, unit, must, f"python -m speech bench --only {name}")


def recordings(named: list[str] | None) -> list[Path]:
    """The recordings to measure with. Raises BadInput if there are none."""
    files = [Path(name) for name in named or []] or sorted(f for f in RECORDINGS.glob("*") if f.suffix in SUFFIXES)
    if not files:
        raise BadInput(f"no recordings in {RECORDINGS}; name some with --audio")
    return files


def machine() -> str:
    """Processor, Python and system, for the head of the table."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [x.split(":")[1].strip() for x in lines if x.startswith("model name")]
    cpu = f"{len(names)} x {names[0]}" if names else platform.processor() or platform.machine()
    return f"{cpu}, {platform.system()} {platform.machine()}, Python {platform.python_version()}"


def line(row: Row) -> str:
    """One row of the table."""
    return f"{row.name:<28} {row.value:>10.4g} {row.unit:<8} {row.must:<22} {row.command}"


def write(rows: list[Row], path: Path) -> None:
    """bench.json: rows by name."""
    path.write_text(json.dumps({row.name: row.as_json() for row in rows}, indent=1) + "\n")
    print(f"written: {path}", file=sys.stderr)


Measured = list[tuple[str, float, str, str]]  # name, value, unit, what it must reach


def _load(bundle: Path, files: list[Path], arguments: argparse.Namespace) -> Measured:
    return [("load", children.load_time(bundle), "s", "under 1.5")]


def _rtf(bundle: Path, files: list[Path], arguments: argparse.Namespace) -> Measured:
    return [("rtf", measures.file_rtf(bundle, files), "x", "0.05 or less")]


def _final(bundle: Path, files: list[Path], arguments: argparse.Namespace) -> Measured:
    p50, p95 = measures.final_latency(bundle, files)
    return [("final_p50", p50, "ms", ""), ("final_p95", p95, "ms", "66 or less")]


def _streams(bundle: Path, files: list[Path], arguments: argparse.Namespace) -> Measured:
    return [("streams_per_core", measures.streams_per_core(bundle, files), "streams", "40 or more")]


def _memory(bundle: Path, files: list[Path], arguments: argparse.Namespace) -> Measured:
    short, long = (children.peak_rss(bundle, files, minutes) for minutes in (10, 60))
    return [
        ("rss_10_min", short, "MB", "400 or less"),
        ("rss_1_h", long, "MB", "400 or less"),
        ("rss_1_h_over_10_min", long / short, "ratio", "0.95 to 1.05"),
    ]


def _flatness(bundle: Path, files: list[Path], arguments: argparse.Namespace) -> Measured:
    return [("flatness", measures.flatness(bundle, files, arguments.hours), "ratio", "1.05 or less")]


def _snapshot(bundle: Path, files: list[Path], arguments: argparse.Namespace) -> Measured:
    largest, both_ms = measures.snapshots(bundle, files)
    return [("snapshot_largest", largest, "KiB", "256 or less"), ("snapshot_and_resume", both_ms, "ms", "")]


def _say(bundle: Path, files: list[Path], arguments: argparse.Namespace) -> Measured:
    found = measures_say.measure(bundles.find(arguments.voice_bundle, bundles.SYNTHESIS))
    return [
        ("say_first_audio_p50", found["first_p50"], "ms", "40 or less"),
        ("say_first_audio_p95", found["first_p95"], "ms", "80 or less"),
        ("say_streamed_first_sound_p95", found["streamed_p95"], "ms", "60 or less"),
        ("say_first_long_over_short", found["long_over_short"], "ratio", "about 1"),
        ("say_rtf", found["rtf"], "x", "0.10 or less"),
        ("say_streams_per_core", found["streams"], "streams", "8 or more"),
    ]


MEASURES: dict[str, Callable[[Path, list[Path], argparse.Namespace], Measured]] = {
    "load": _load,
    "rtf": _rtf,
    "final": _final,
    "streams": _streams,
    "snapshot": _snapshot,
    "memory": _memory,
    "flatness": _flatness,
    "say": _say,
}
