"""Text to the first chunk of speech through the WebSocket, with the voice that ships, on a warm local stack.

    .venv/bin/python -m tests.bench.socket_speech

Sentences of 3 to 40 words, one context each: once as `text` in an open context, once all in one `open`.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from speech.cli import bench
from speech.cli.measures_say import sentences

from local import stack
from local.stack import Stack
from tests.bench.socket_overhead import ticks
from tests.functions.socket.talking import end, opening, text
from tests.stack.door.wire import Wire, wire

COMMAND = "python -m tests.bench.socket_speech"
WARM, COUNT = 3, 20  # sentences before the measurement, and in it
RATE = 24_000


def measure() -> Iterator[bench.Row]:
    """The rows of the table."""
    chosen = sentences()[:: len(sentences()) // COUNT][:COUNT]
    with tempfile.TemporaryDirectory() as folder:
        running = stack.up(Path(folder), 0, {}, lambda note: None)
        try:
            with wire(running) as line:
                for number, sentence in enumerate(chosen[:WARM]):
                    spoken(running, line, f"warm-{number}", sentence, at_once=False)
                before = ticks(running.state.pid)
                streamed = [spoken(running, line, f"a-{n}", said, at_once=False) for n, said in enumerate(chosen)]
                worked_s = (ticks(running.state.pid) - before) / os.sysconf("SC_CLK_TCK")
                together = [spoken(running, line, f"b-{n}", said, at_once=True) for n, said in enumerate(chosen)]
        finally:
            running.stop()
    for name, found in (("text", streamed), ("open", together)):
        first_ms = 1000 * np.array([one.first_s for one in found])
        worked_ms = 1000 * float(np.mean([one.worked_s for one in found]))
        yield bench.Row(f"socket_{name}_to_chunk_p50", float(np.percentile(first_ms, 50)), "ms", "100 or less", COMMAND)
        yield bench.Row(f"socket_{name}_to_chunk_p95", float(np.percentile(first_ms, 95)), "ms", "200 or less", COMMAND)
        # What an idle machine would need if nothing ran side by side.
        yield bench.Row(f"socket_{name}_to_chunk_cpu", worked_ms, "ms", "", COMMAND)
    # Processor time of everything: emulator, tables, synthesis, sending.
    yield bench.Row("socket_speech_rtf", worked_s / sum(one.sound_s for one in streamed), "x", "", COMMAND)


@dataclass(frozen=True)
class Spoken:
    """One sentence as it was measured, in seconds."""

    first_s: float  # from sending it to the first chunk of its sound
    worked_s: float  # processor time of the embedded AWS and its functions until then
    sound_s: float


def spoken(running: Stack, line: Wire, context: str, sentence: str, at_once: bool) -> Spoken:
    """Has a sentence spoken in a context of its own, to its end."""
    if at_once:
        sent = [opening(context, text=sentence, finish=True)]
    else:
        line.send(opening(context))
        line.until("opened", context)
        sent = [text(0, sentence, context), end(1, context)]
    bodies = [json.dumps(message) for message in sent]
    heard, before = len(line.heard), ticks(running.state.pid)
    began = time.perf_counter()
    line.send(*bodies)
    line.until("chunk", context)
    took = time.perf_counter() - began
    worked_s = (ticks(running.state.pid) - before) / os.sysconf("SC_CLK_TCK")
    line.until("done", context)
    chunks = [record for record in line.heard[heard:] if record["type"] == "chunk"]
    return Spoken(took, worked_s, sum(len(b64decode(record["audio"])) for record in chunks) / 2 / RATE)


def main() -> None:
    """Measure and print."""
    print(bench.machine())
    for row in measure():
        print(bench.line(row), flush=True)


if __name__ == "__main__":
    main()
