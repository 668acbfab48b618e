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
from pathlib import Path

import numpy as np
from speech.cli import bench
from speech.cli.measures_say import sentences

from local import stack
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
                    spoken(line, f"warm-{number}", sentence, at_once=False)
                before = ticks(running.state.pid)
                streamed = [spoken(line, f"a-{n}", sentence, at_once=False) for n, sentence in enumerate(chosen)]
                worked_s = (ticks(running.state.pid) - before) / os.sysconf("SC_CLK_TCK")
                together = [spoken(line, f"b-{n}", sentence, at_once=True) for n, sentence in enumerate(chosen)]
        finally:
            running.stop()
    for name, found in (("text", streamed), ("open", together)):
        first_ms = 1000 * np.array([one[0] for one in found])
        yield bench.Row(f"socket_{name}_to_chunk_p50", float(np.percentile(first_ms, 50)), "ms", "100 or less", COMMAND)
        yield bench.Row(f"socket_{name}_to_chunk_p95", float(np.percentile(first_ms, 95)), "ms", "200 or less", COMMAND)
    # Processor time of everything: emulator, tables, synthesis, sending.
    yield bench.Row("socket_speech_rtf", worked_s / sum(one[1] for one in streamed), "x", "", COMMAND)


def spoken(line: Wire, context: str, sentence: str, at_once: bool) -> tuple[float, float]:
    """Seconds from sending a sentence to the first chunk of its sound, and seconds of the sound."""
    if at_once:
        sent = [opening(context, text=sentence, finish=True)]
    else:
        line.send(opening(context))
        line.until("opened", context)
        sent = [text(0, sentence, context), end(1, context)]
    bodies = [json.dumps(message) for message in sent]
    heard = len(line.heard)
    began = time.perf_counter()
    line.send(*bodies)
    line.until("chunk", context)
    took = time.perf_counter() - began
    line.until("done", context)
    chunks = [record for record in line.heard[heard:] if record["type"] == "chunk"]
    return took, sum(len(b64decode(record["audio"])) for record in chunks) / 2 / RATE


def main() -> None:
    """Measure and print."""
    print(bench.machine())
    for row in measure():
        print(bench.line(row), flush=True)


if __name__ == "__main__":
    main()
