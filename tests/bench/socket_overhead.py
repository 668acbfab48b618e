"""What the WebSocket adds to recognition: for each 200 ms of speech, receive, load state, save and send, on the stack.

    .venv/bin/python -m tests.bench.socket_overhead

A client sends one message at a time and waits for what it gives. The step itself, on the same audio with the same
model, is measured in this process and taken off; only messages that give a record are counted.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from cloud.live.audio_format import AudioFormat
from cloud.live.session import Session
from cloud.sockets.envelope import Step
from cloud.sockets.stream import Stream, after
from cloud.sockets.stream_table import to_item
from speech.asr.recognizer import Recognizer
from speech.audio import pcm
from speech.cli import bench, bundles
from speech.cli.measures import RATE, samples_of

from local import stack
from local.stack import Stack
from tests.stack.door.wire import Wire, messages, start, wire

CHUNK_S = 0.2
WARM = 10  # messages before the measurement
SECONDS = 30  # of speech that is measured
MINUTES = 10  # of speech whose state is weighed after every message
COMMAND = "python -m tests.bench.socket_overhead"
FORMAT = AudioFormat("pcm_s16le", RATE, 1)


def measure() -> Iterator[bench.Row]:
    """The rows of the table."""
    recognizer = Recognizer.load(bundles.find(None))
    samples = samples_of(bench.recordings(None))
    with tempfile.TemporaryDirectory() as folder:
        running = stack.up(Path(folder), 0, {}, lambda note: None)
        try:
            with wire(running) as line:
                taken, steps = turnarounds(line, recognizer, samples[: SECONDS * RATE])
                worked = processor_s(running, line, samples[: SECONDS * RATE])
        finally:
            running.stop()
    added = 1e3 * (np.array(taken) - np.array(steps))
    # What an idle machine would need for all of it, step included, if nothing ran side by side.
    yield bench.Row("socket_message_cpu", worked * 1e3, "ms", "", COMMAND)
    yield bench.Row("socket_step_p50", float(np.percentile(steps, 50)) * 1e3, "ms", "", COMMAND)
    yield bench.Row("socket_added_p50", float(np.percentile(added, 50)), "ms", "40 or less", COMMAND)
    yield bench.Row("socket_added_p95", float(np.percentile(added, 95)), "ms", "100 or less", COMMAND)
    snapshot, item = largest(recognizer, np.resize(samples, round(MINUTES * 60 * RATE)))
    yield bench.Row("socket_snapshot_largest", snapshot / 1024, "KiB", "256 or less", COMMAND)
    yield bench.Row("socket_item_largest", item / 1024, "KiB", "400 or less", COMMAND)


def turnarounds(line: Wire, recognizer: Recognizer, samples: np.ndarray) -> tuple[list[float], list[float]]:
    """Seconds from sending a message to its first record, and seconds of the step alone, of messages that give one."""
    line.send(start("a", RATE))
    line.until("started")
    session, taken, steps = Session.begin(recognizer, FORMAT), [], []
    for number, message in enumerate(messages(samples, "a", CHUNK_S, RATE)[:-1]):
        text, size = json.dumps(message), round(CHUNK_S * RATE)
        piece = pcm.encode(samples[number * size : (number + 1) * size], FORMAT.encoding)
        began = time.perf_counter()
        told = session.receive(piece)
        step = time.perf_counter() - began
        began = time.perf_counter()
        line.send(text)
        if told:
            line.until(told[0]["type"])
            if number >= WARM:
                taken.append(time.perf_counter() - began)
                steps.append(step)
        line.send("?")  # it is refused, and by that says that all before it is done
        line.until("error")
    return taken, steps


def processor_s(running: Stack, line: Wire, samples: np.ndarray) -> float:
    """Processor time of the embedded AWS and its functions for one message, step included."""
    line.send(start("b", RATE))
    line.until("started")
    sent, before = messages(samples, "b", CHUNK_S, RATE), ticks(running.state.pid)
    line.send(*sent)
    line.until("done")
    return (ticks(running.state.pid) - before) / os.sysconf("SC_CLK_TCK") / len(sent)


def ticks(group: int) -> int:
    """Clock ticks that the processes of a group have worked."""
    rows = [path.read_text().rsplit(")", 1)[1].split() for path in Path("/proc").glob("[0-9]*/stat") if path.exists()]
    return sum(int(row[11]) + int(row[12]) for row in rows if int(row[2]) == group)


def largest(recognizer: Recognizer, samples: np.ndarray) -> tuple[int, int]:
    """Bytes of the largest snapshot and of the largest item, over all messages of a stream."""
    stream, snapshots, items = Stream("connection", "a", FORMAT, 0.0), 0, 0
    size = round(CHUNK_S * RATE)
    for number, at in enumerate(range(0, len(samples), size)):
        audio = pcm.encode(samples[at : at + size], FORMAT.encoding)
        stream, _ = after(stream, Step("a", number, "audio", audio), recognizer, 0.0)
        snapshots = max(snapshots, len(stream.session))
        items = max(items, len(stream.session) + len(json.dumps(to_item(stream) | {"session": {"B": ""}}, default=str)))
    return snapshots, items


def main() -> None:
    """Measure and print."""
    print(bench.machine())
    for row in measure():
        print(bench.line(row), flush=True)


if __name__ == "__main__":
    main()
