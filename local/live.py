"""`python -m local produce FILE` puts a recording into the audio stream; `watch` prints what the transcripts say.

Both are ordinary users of the two Kinesis data streams, as a producer and a consumer in AWS would be.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from cloud.live.audio_format import RATES, AudioFormat
from cloud.records.frames import Frame
from speech.audio import pcm
from speech.audio.files import open_audio
from speech.audio.resample import resample
from speech.errors import BadAudio

from local import stack
from local.stack import Stack
from local.state import LocalError

FRAME_S = 0.2
PAUSE_S = 0.2  # between two looks at a stream that has nothing new
PATIENCE_S = 60.0  # without news, before `produce` gives up on the rest


def add(words: Any) -> None:
    """The two words of the command line."""
    produce_ = words.add_parser("produce", help="put a recording into the audio stream and print its words")
    produce_.add_argument("file", type=Path, metavar="FILE")
    produce_.add_argument("--key", help="partition key, which names the stream (default: name of the file and time)")
    produce_.add_argument("--speed", type=float, default=1.0, help="1: as it was spoken (default); 0: at once")
    produce_.add_argument("--json", action="store_true", help="records as JSON instead of the binary header")
    produce_.set_defaults(run=produce)
    watch_ = words.add_parser("watch", help="print what the transcript stream says, until Ctrl-C")
    watch_.add_argument("--all", action="store_true", help="from the oldest result on, instead of the next")
    watch_.set_defaults(run=watch)


def produce(options: argparse.Namespace) -> int:
    """Put a recording in and print what comes out, until its end."""
    current = stack.require(options.state)
    key = options.key or f"{options.file.name}-{time.strftime('%H%M%S')}"
    results = Results(current, "LATEST")
    kinesis, began = current.client("kinesis"), time.monotonic()
    for number, frame in enumerate(frames(options.file)):
        data = frame.to_json() if options.json else frame.pack()
        kinesis.put_record(StreamName=current.outputs["AudioStream"], PartitionKey=key, Data=data)
        for result in results.new():
            show(result)
        if options.speed:
            time.sleep(max(0.0, began + (number + 1) * FRAME_S / options.speed - time.monotonic()))
    heard = time.monotonic()
    while time.monotonic() < heard + PATIENCE_S:
        for result in results.new():
            heard = time.monotonic()
            show(result)
            if (result.get("stream"), result["type"]) == (key, "done"):
                return 0
        time.sleep(PAUSE_S)
    raise LocalError(f"nothing came for {PATIENCE_S:.0f} s; the log says why: {current.state.log}")


def watch(options: argparse.Namespace) -> int:
    """Print results as they come."""
    results = Results(stack.require(options.state), "TRIM_HORIZON" if options.all else "LATEST")
    print("results of the transcript stream, until Ctrl-C", flush=True)
    while True:
        for result in results.new():
            show(result)
        time.sleep(PAUSE_S)


def frames(path: Path) -> Iterator[Frame]:
    """A recording as frames of 200 ms. Raises LocalError for a file that is none."""
    try:
        with path.open("rb") as file, open_audio(file) as audio:
            samples, rate = np.concatenate(list(audio.blocks(audio.rate))), audio.rate
    except (BadAudio, OSError) as error:
        raise LocalError(f"{path}: {error}") from error
    samples = samples if samples.shape[1] <= 2 else samples.mean(axis=1, keepdims=True)
    if rate not in RATES:
        samples = np.stack([resample(channel, rate, 16000) for channel in samples.T], axis=1)
        rate = 16000
    audio_format, size = AudioFormat("pcm_s16le", rate, samples.shape[1]), round(FRAME_S * rate)
    for at in range(0, len(samples), size):
        data = pcm.encode(samples[at : at + size], audio_format.encoding)
        yield Frame(audio_format, at, data, last=at + size >= len(samples))


class Results:
    """A consumer of the transcript stream, all shards."""

    def __init__(self, current: Stack, start: str) -> None:
        self._kinesis, self._name = current.client("kinesis"), current.outputs["TranscriptStream"]
        self._start, self._iterators = start, dict[str, str]()
        self._look_for_shards(start)

    def new(self) -> Iterator[dict[str, Any]]:
        """Results that came since the last look."""
        for shard, iterator in list(self._iterators.items()):
            answer = self._kinesis.get_records(ShardIterator=iterator)
            yield from (json.loads(record["Data"]) for record in answer["Records"])
            if answer.get("NextShardIterator"):
                self._iterators[shard] = answer["NextShardIterator"]
            else:  # the shard was split or merged: its successors are read from their beginning
                self._iterators.pop(shard)
                self._look_for_shards("TRIM_HORIZON")

    def _look_for_shards(self, start: str) -> None:
        for shard in self._kinesis.list_shards(StreamName=self._name)["Shards"]:
            if shard["ShardId"] not in self._iterators and "EndingSequenceNumber" not in shard["SequenceNumberRange"]:
                answer = self._kinesis.get_shard_iterator(
                    StreamName=self._name, ShardId=shard["ShardId"], ShardIteratorType=start
                )
                self._iterators[shard["ShardId"]] = answer["ShardIterator"]


def show(result: dict[str, Any]) -> None:
    """One result as a person reads it; partials and turns are for programs."""
    name, kind = result.get("stream") or result["call"], result["type"]  # of the audio stream, or of a live call
    if kind == "final":
        print(
            f"{name} {result['channel']} [{result['start_s']:8.2f} - {result['end_s']:8.2f}] {result['text']}",
            flush=True,
        )
    elif kind in ("call_completed", "call_failed"):
        print(f"{name} ended after {result['audio_seconds']:.1f} s: {result['reason']}", flush=True)
    elif kind == "done":
        print(f"{name} ended after {result['audio_s']:.1f} s", flush=True)
    elif kind in ("gap", "error"):
        print(f"{name} {kind}: {result.get('message') or result}", flush=True)
