"""How soon a caller is answered: from the sound that made a turn's end certain to the first sound of the reply.

    .venv/bin/python -m tests.bench.replies [--calls 1 10] [--seconds 40]

Callers speak, are silent, and are echoed, in real time and over TLS; recognition, synthesis and sending of all calls
share one process on one core, the endpoint and the callers have processes of their own. `turn_end_to_reply` counts from
when the block was sent that made the end of the turn certain. `last_word_to_reply` has everything: the silence that
ends a turn, the look-ahead, the recogniser's step of 160 ms, and that a word's end is told a little early. The table
write that claims an answer is left out: it happens while the first words are made.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from cloud.calls.call import Call
from cloud.calls.leases import Lease
from cloud.calls.worker import Worker, WorkerSettings
from cloud.clients import client
from cloud.live.told import Told
from cloud.observability import logger
from cloud.replies.desk import Desk
from cloud.replies.dialogue import Manner
from cloud.replies.echo import Echo
from cloud.video.consumer import Patience
from cloud.video.getmedia import Start
from speech.asr.endpoint import EndpointRules
from speech.asr.recognizer import Recognizer
from speech.audio import pcm
from speech.audio.files import open_audio
from speech.cli import bench, bundles
from speech.media.writer import l16_track
from speech.text.transcript import Transcript
from speech.tts.synthesizer import Synthesizer

from tests.bench import calls as live
from tests.bench.calls import BLOCK_MS, ROOT, SPEECH

COMMAND = "python -m tests.bench.replies"
CALLS, SECONDS = (1, 10), 40
SPEAKS_S, CYCLE_S = 2.5, 8.0  # a caller speaks, and then is silent for longer than an echo lasts
MUST = {"p50": "150 or less", "p95": "300 or less"}
TURN_SILENCE_S = EndpointRules().turn_silence_s


def replies(name: str) -> str:
    """The stream that a call's replies go to."""
    return f"{name}-replies"


def cycle() -> np.ndarray:
    """What a caller says and does not say, again and again: samples (n,) at 8 kHz."""
    with SPEECH.open("rb") as file, open_audio(file) as audio:
        samples = np.concatenate(list(audio.blocks(audio.rate)))[:, 0]
    return np.pad(samples[: round(8000 * SPEAKS_S)], (0, round(8000 * (CYCLE_S - SPEAKS_S))))


def produce(calls: int, seconds: float) -> None:
    """Send all calls: callers speak one after another."""
    data, size, tracks = pcm.encode(cycle(), "pcm_s16le"), 16 * BLOCK_MS, (l16_track(1, "AUDIO_FROM_CUSTOMER"),)

    def heard(number: int, index: int, track: int) -> bytes:
        at = (index * size + 2 * round(len(data) * number / calls / 2)) % len(data)
        block = data[at : at + size]
        return block + data[: size - len(block)]

    live.send(calls, seconds, tracks, heard)


class Leases(live.MemoryLeases):
    """Conversations are noted nowhere."""

    def note(self, lease: Lease, conversation: str) -> None: ...


class Watch:
    """When turns ended, and when the replies to them began."""

    def __init__(self) -> None:
        self.worker: Worker | None = None
        self.turns: dict[tuple[str, int], tuple[float, float]] = {}  # ms: certain, and last word, since 1970
        self.after_turn_ms: list[float] = []
        self.after_word_ms: list[float] = []

    def tell(self, call: Call, records: list[Told]) -> None:
        assert self.worker is not None
        session = self.worker.held[call.id].session
        for record in records:
            if record["type"] == "turn_end":
                [track] = [track for track in session.tracks.values() if track.channel == record["channel"]]
                origin_ms = session.origin_ms or 0
                sent_ms = origin_ms + (track.end_ms or 0.0) - BLOCK_MS
                self.turns[call.id, record["number"]] = sent_ms, origin_ms + 1000 * record["at_s"]

    def replied(self, call: Call, records: list[Told]) -> None:
        for record in records:
            if record["type"] == "reply_start" and (call.id, record["turn"]) in self.turns:
                certain_ms, word_ms = self.turns[call.id, record["turn"]]
                self.after_turn_ms.append(1000 * record["left_at_s"] - certain_ms)
                self.after_word_ms.append(1000 * record["left_at_s"] - word_ms)

    def ended(self, call: Call, transcript: Transcript, reason: str) -> None: ...


def consume(calls: int, recognizer: Recognizer, synthesizer: Synthesizer) -> Iterator[bench.Row]:
    """Work on all calls until their streams are silent."""
    leases = Leases([Call(name, name, Start("EARLIEST")) for name in live.names(calls)])
    settings = WorkerSettings("", "", most_calls=calls, checkpoint_s=1e9, patience=Patience(silence_s=2.0, idle_s=5.0))
    watch = Watch()
    manner = Manner(Echo(), lambda: synthesizer.stream(rate=8000, encoding="pcm_mulaw"), "pcm_mulaw", 8000, "Sorry.")
    desk = Desk(manner, leases, watch.replied, lambda call: replies(call.id))  # type: ignore[arg-type]
    worker = Worker(settings, recognizer, leases, watch, "bench", replies=desk)  # type: ignore[arg-type]
    watch.worker = worker
    worker.turn()
    began_s, began_cpu_s = time.monotonic(), time.process_time()
    while worker.held:
        worker.turn()
    core = (time.process_time() - began_cpu_s) / (time.monotonic() - began_s)
    worker.feed.close()
    kind = f"{calls}_call{'s' if calls > 1 else ''}"
    for name, found in (("turn_end", watch.after_turn_ms), ("last_word", watch.after_word_ms)):
        for part, value in zip(("p50", "p95"), np.percentile(found, (50, 95)), strict=True):
            must = MUST[part] if name == "turn_end" else f"{TURN_SILENCE_S:g} s of it silence"
            yield bench.Row(f"{name}_to_reply_{kind}_{part}", float(value), "ms", must, COMMAND)
    yield bench.Row(f"replies_{kind}", len(watch.after_turn_ms), "replies", "", COMMAND)
    yield bench.Row(f"core_with_replies_{kind}", 100 * core, "%", "", COMMAND)


def measure(
    counts: tuple[int, ...] = CALLS, seconds: int = SECONDS, bundle: str | None = None, voice: str | None = None
) -> Iterator[bench.Row]:
    """The rows, for each number of calls."""
    recognizer = Recognizer.load(bundles.find(bundle))
    synthesizer = Synthesizer.load(bundles.find(voice, bundles.SYNTHESIS))
    for calls in counts:
        with live.endpoint():
            for name in live.names(calls):
                for stream in (name, replies(name)):
                    client("kinesisvideo").create_stream(StreamName=stream, DataRetentionInHours=1)
            command = [sys.executable, "-m", "tests.bench.replies", "--produce", "--calls", str(calls)]
            with (
                subprocess.Popen([*command, "--seconds", str(seconds)], cwd=ROOT, stdout=subprocess.PIPE) as producers,
                one_core(),
            ):
                assert producers.stdout is not None
                producers.stdout.readline()
                yield from consume(calls, recognizer, synthesizer)


class one_core:  # noqa: N801
    """This process on one core of those that it may use, meanwhile; its children were started before."""

    def __enter__(self) -> None:
        self._before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {max(self._before)})

    def __exit__(self, *error: object) -> None:
        for thread in Path("/proc/self/task").iterdir():
            try:
                os.sched_setaffinity(int(thread.name), self._before)
            except OSError:
                continue  # it has ended


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--calls", type=int, nargs="+", default=CALLS)
    parser.add_argument("--seconds", type=int, default=SECONDS, help="duration of the calls")
    parser.add_argument("--bundle", metavar="DIR", help="the recogniser; as a rule the one in models/bundles")
    parser.add_argument("--voice-bundle", metavar="DIR", help="the voice; as a rule the one in models/bundles")
    parser.add_argument("--produce", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.produce:
        produce(arguments.calls[0], arguments.seconds)
        return 0
    logger.setLevel("WARNING")
    print(bench.machine())
    for row in measure(tuple(arguments.calls), arguments.seconds, arguments.bundle, arguments.voice_bundle):
        print(bench.line(row), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
