"""How soon a reply falls silent: from being told that the caller speaks to the end of what the caller still hears.

    .venv/bin/python -m tests.bench.barge_in [--times 20]

Replies are stopped in the middle, ten being spoken at a time. What has left is heard to its end: frames leave up to
60 ms before they are due. How soon a caller's words are known is `block_to_partial` of `tests.bench.calls`, and the
recogniser's look-ahead.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
from cloud.replies.mouth import Mouth
from cloud.replies.speaking import Fixed, Outcome, Speaking
from cloud.video.reply import Reply
from speech.cli import bench, bundles
from speech.media.acks import Ack
from speech.media.events import Block
from speech.media.parser import Parser
from speech.media.writer import mulaw_track
from speech.tts.synthesizer import Synthesizer

COMMAND = "python -m tests.bench.barge_in"
TIMES, CALLS = 20, 10
TEXT = "I have found three tables for you this evening, and each of them is close to the window with the view. " * 3
STOPS_AT_MS = 600


class Ear:
    """An upload that knows when the sound it was given will have been heard."""

    def __init__(self, start_s: float, middle: threading.Event) -> None:
        self.over, self._start_s, self._middle, self._parser = False, start_s, middle, Parser()
        self.silent_s = start_s

    def send(self, data: bytes) -> list[Ack]:
        for event in self._parser.receive(data):
            if isinstance(event, Block):
                self.silent_s = self._start_s + (event.timecode_ms + 20) / 1000
        if self.silent_s - self._start_s >= STOPS_AT_MS / 1000:
            self._middle.set()
        return []

    def finish(self, data: bytes = b"", wait_s: float = 5.0) -> list[Ack]:
        return self.send(data)


def interrupted_ms(synthesizer: Synthesizer) -> float:
    """Of one reply, from `stop` to silence."""
    middle, ears, outcomes = threading.Event(), list[Ear](), list[Outcome]()

    def opened(stream: str, start_s: float) -> Ear:
        ears.append(Ear(start_s, middle))
        return ears[-1]

    mouth = Mouth("bench", Reply("replies", mulaw_track(1), open=opened))
    speaking = Speaking(
        lambda: Fixed(TEXT),
        lambda: synthesizer.stream(rate=8000, encoding="pcm_mulaw"),
        lambda: mouth.begin(lambda: None, lambda at_s: None),
        "",
        lambda chunk: None,
        outcomes.append,
    ).start()
    middle.wait()
    told_s = time.time()
    speaking.stop()
    speaking.join()
    mouth.close()
    mouth.join(5.0)
    return 1000 * (ears[0].silent_s - told_s)


def measure(times: int = TIMES, voice: str | None = None) -> Iterator[bench.Row]:
    """The rows."""
    synthesizer = Synthesizer.load(bundles.find(voice, bundles.SYNTHESIS))
    found: list[float] = []

    def one() -> None:
        found.append(interrupted_ms(synthesizer))

    for _ in range(max(1, times // CALLS)):
        together = [threading.Thread(target=one) for _ in range(CALLS)]
        for thread in together:
            thread.start()
        for thread in together:
            thread.join()
    p50, p95 = (float(value) for value in np.percentile(found, (50, 95)))
    yield bench.Row("barge_in_to_silence_p50", p50, "ms", "100 or less", COMMAND)
    yield bench.Row("barge_in_to_silence_p95", p95, "ms", "100 or less", COMMAND)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--times", type=int, default=TIMES)
    parser.add_argument("--voice-bundle", metavar="DIR", help="the voice; as a rule the one in models/bundles")
    arguments = parser.parse_args()
    print(bench.machine())
    for row in measure(arguments.times, arguments.voice_bundle):
        print(bench.line(row), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
