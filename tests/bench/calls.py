"""Live calls in real time: how long after a block was sent its partial is out, and how many calls a core carries.

    .venv/bin/python -m tests.bench.calls [--calls 10] [--seconds 20]

Two tracks a call, blocks of 64 ms as Amazon Connect sends them, over TLS through the local endpoint of Kinesis Video
Streams. The endpoint and the producers are processes of their own; what is measured is the worker with all its calls.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from cloud.calls.call import Call
from cloud.calls.leases import Lease
from cloud.calls.worker import Worker, WorkerSettings
from cloud.clients import client
from cloud.live.told import Told
from cloud.video.consumer import Patience
from cloud.video.getmedia import Start
from cloud.video.putmedia import PutMedia
from speech.asr.recognizer import Recognizer
from speech.audio import pcm
from speech.audio.files import open_audio
from speech.cli import bench, bundles
from speech.media.events import Track
from speech.media.writer import PutMediaWriter, l16_track
from speech.text.transcript import Transcript

COMMAND = "python -m tests.bench.calls"
CALLS, SECONDS = 10, 20
BLOCK_MS = 64
ROOT = Path(__file__).resolve().parents[2]
SPEECH = ROOT / "events" / "audio" / "telephone-prompt-8k-mulaw.wav"


def names(calls: int) -> list[str]:
    """Of the calls, and of their streams."""
    return [f"bench-{number}" for number in range(calls)]


def produce(calls: int, seconds: float) -> None:
    """Send all calls: a recording on both tracks, from another place in each."""
    with SPEECH.open("rb") as file, open_audio(file) as audio:
        samples = np.concatenate(list(audio.blocks(audio.rate)))[:, 0]
    data = pcm.encode(samples, "pcm_s16le")
    size = 16 * BLOCK_MS
    tracks = (l16_track(1, "AUDIO_FROM_CUSTOMER"), l16_track(2, "AUDIO_TO_CUSTOMER"))

    def heard(number: int, index: int, track: int) -> bytes:
        at = (index + 40 * track + 7 * number) * size % (len(data) - size)
        return data[at - at % 2 : at - at % 2 + size]

    send(calls, seconds, tracks, heard)


def send(calls: int, seconds: float, tracks: tuple[Track, ...], heard: Callable[[int, int, int], bytes]) -> None:
    """Send all calls in real time, a block's timecode being the time at which it leaves.

    heard: (number of the call, number of the block, number of the track) -> PCM of the block.
    """
    lines = [(PutMedia.open(name, start_s=None), PutMediaWriter(tracks)) for name in names(calls)]
    print("ready", flush=True)
    began_s = time.time()
    for index in range(int(seconds * 1000 / BLOCK_MS)):
        for number, (upload, writer) in enumerate(lines):
            # Calls are spread over the time of a block, as calls are.
            due_s = began_s + (index + number / calls) * BLOCK_MS / 1000
            time.sleep(max(0.0, due_s - time.time()))
            at_ms = round(1000 * max(due_s, time.time()))
            for track in tracks:
                upload.send(writer.block(track.number, at_ms, heard(number, index, track.number)))
    for upload, writer in lines:
        upload.finish(writer.finish())


class MemoryLeases:
    """Calls that nobody else works on, in place of the table."""

    def __init__(self, calls: list[Call]) -> None:
        self._free = {call.id: call for call in calls}

    def free(self, most: int, now_s: float) -> list[str]:
        return list(self._free)[:most]

    def acquire(self, call_id: str, owner: str, now_s: float) -> Lease:
        return Lease(self._free.pop(call_id), owner, 1, now_s + 1e9, None)

    def renew(self, lease: Lease, now_s: float, checkpoint: str | None = None) -> Lease:
        return lease

    def pin(self, lease: Lease, began_ms: int) -> Lease:
        return replace(lease, call=replace(lease.call, began_ms=began_ms))

    def end(self, lease: Lease, reason: str, now_s: float) -> None: ...


class Stopwatch:
    """Where results go: when a partial was told, and when the last block that it heard had been sent."""

    def __init__(self) -> None:
        self.worker: Worker | None = None
        self.latencies_ms: list[float] = []
        self.moments: list[tuple[float, float]] = []  # (seconds, processor seconds)

    def tell(self, call: Call, records: list[Told]) -> None:
        assert self.worker is not None
        session = self.worker.held[call.id].session
        now_ms = 1000 * time.time()
        for channel in {record["channel"] for record in records if record["type"] == "partial"}:
            [track] = [track for track in session.tracks.values() if track.channel == channel]
            last_block_ms = (session.origin_ms or 0) + (track.end_ms or 0.0) - BLOCK_MS
            self.latencies_ms.append(now_ms - last_block_ms)
        self.moments.append((time.monotonic(), time.process_time()))

    def ended(self, call: Call, transcript: Transcript, reason: str) -> None: ...


def consume(calls: int, recognizer: Recognizer) -> Iterator[bench.Row]:
    """Work on all calls until their streams are silent."""
    leases = MemoryLeases([Call(name, name, Start("EARLIEST")) for name in names(calls)])
    settings = WorkerSettings("", "", most_calls=calls, checkpoint_s=1e9, patience=Patience(silence_s=2.0, idle_s=5.0))
    watch = Stopwatch()
    worker = Worker(settings, recognizer, leases, watch, "bench")  # type: ignore[arg-type]
    watch.worker = worker
    worker.turn()
    while worker.held:
        worker.turn()
    worker.feed.close()
    quarter = len(watch.latencies_ms) // 4  # the beginning, with its connections, is left out
    p50, p95 = np.percentile(watch.latencies_ms[quarter:], (50, 95))
    (began_s, began_cpu_s), (ended_s, ended_cpu_s) = watch.moments[len(watch.moments) // 4], watch.moments[-1]
    yield bench.Row(f"block_to_partial_{calls}_calls_p50", float(p50), "ms", "80 or less", COMMAND)
    yield bench.Row(f"block_to_partial_{calls}_calls_p95", float(p95), "ms", "200 or less", COMMAND)
    core = (ended_cpu_s - began_cpu_s) / (ended_s - began_s)
    yield bench.Row("calls_per_core", calls / core, "calls", "30 or more", COMMAND)


@contextmanager
def endpoint() -> Iterator[None]:
    """The local endpoint as a process, with this process's environment set to it meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "local", "--state", folder, "kvs", "--port", "0", "--calls-per-s", "0"]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            found: dict[str, str] = {}
            while "AWS_SECRET_ACCESS_KEY" not in found:
                found |= dict(re.findall(r"export (\w+)=(.*)", process.stdout.readline()))
            before = dict(os.environ)
            os.environ.update(found)
            try:
                yield
            finally:
                for name in found:
                    os.environ.pop(name)
                os.environ.update(before)
                client.cache_clear()
                process.terminate()
                process.stdout.read()


def measure(calls: int, seconds: int, bundle: str | None = None) -> Iterator[bench.Row]:
    """The rows."""
    with endpoint():
        for name in names(calls):
            client("kinesisvideo").create_stream(StreamName=name, DataRetentionInHours=1)
        command = [sys.executable, "-m", "tests.bench.calls", "--produce"]
        command += ["--calls", str(calls), "--seconds", str(seconds)]
        recognizer = Recognizer.load(bundles.find(bundle))
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as producers:
            assert producers.stdout is not None
            producers.stdout.readline()
            yield from consume(calls, recognizer)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--seconds", type=int, default=SECONDS, help="duration of the calls")
    parser.add_argument("--bundle", metavar="DIR", help="the model; as a rule the one in models/bundles")
    parser.add_argument("--produce", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.produce:
        produce(arguments.calls, arguments.seconds)
        return 0
    print(bench.machine())
    for row in measure(arguments.calls, arguments.seconds, arguments.bundle):
        print(bench.line(row), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
