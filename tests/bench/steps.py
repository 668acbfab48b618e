"""How many calls one core carries: the step that advances the tracks of all calls must be over within its chunk.

    .venv/bin/python -m tests.bench.steps [--calls 30] [--seconds 6]

Two tracks a call, both with speech, in chunks of 64 ms as Amazon Connect sends them. Processor time, which other work
on the machine changes little, without the network around it; `calls_per_core` of `tests.bench.calls` has that.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator

import numpy as np
from cloud.calls.call import Call
from cloud.calls.session import Session, step
from cloud.calls.track import Track
from cloud.live.told import Teller
from cloud.video.getmedia import Start
from speech.asr.recognizer import Recognizer
from speech.audio import pcm
from speech.audio.files import open_audio
from speech.cli import bench, bundles
from speech.media.formats import AudioFormat

from tests.bench.calls import BLOCK_MS, SPEECH

COMMAND = "python -m tests.bench.steps"
CALLS, SECONDS = 30, 6
PHASE_MS = 320  # over which calls are spread: a multiple of what the recogniser hears at a time
MOST = 120  # calls, where the machine is quick


def sessions(recognizer: Recognizer, calls: int) -> list[Session]:
    """Calls of two tracks."""
    made = []
    for number in range(calls):
        session = Session.begin(Call(f"call-{number}", "stream", Start("NOW")), recognizer)
        for channel, speaker in enumerate(("customer", "agent")):
            track = Track(channel, speaker, AudioFormat("pcm_s16le", 8000), Teller(channel))
            session.tracks[0, channel + 1] = track
        made.append(session)
    return made


def steps_ms(recognizer: Recognizer, calls: int, seconds: float) -> list[float]:
    """Processor time of each step."""
    with SPEECH.open("rb") as file, open_audio(file) as audio:
        data = pcm.encode(np.concatenate(list(audio.blocks(audio.rate)))[:, 0], "pcm_s16le")
    size, took = 16 * BLOCK_MS, list[float]()
    made = sessions(recognizer, calls)
    for number, session in enumerate(made):
        for track in session.tracks.values():  # calls do not begin at the same moment, nor their frames
            track.hear(-PHASE_MS, bytes(16 * round(PHASE_MS * number / calls)))
            track.end_ms = 0.0
    for index in range(int(1000 * seconds / BLOCK_MS)):
        for number, session in enumerate(made):
            for channel, track in enumerate(session.tracks.values()):
                at = (index + 40 * channel + 7 * number) * size % (len(data) - size)
                track.hear(index * BLOCK_MS, data[at - at % 2 : at - at % 2 + size])
        began_s = time.process_time()
        step(made)
        took.append(1000 * (time.process_time() - began_s))
    return took[len(took) // 4 :]  # without the beginning, in which nobody has said anything


def measure(calls: int = CALLS, seconds: float = SECONDS, bundle: str | None = None) -> Iterator[bench.Row]:
    """The rows."""
    recognizer = Recognizer.load(bundles.find(bundle))
    p50, p95 = (float(value) for value in np.percentile(steps_ms(recognizer, calls, seconds), (50, 95)))
    yield bench.Row(f"step_{calls}_calls_p50", p50, "ms", "", COMMAND)
    yield bench.Row(f"step_{calls}_calls_p95", p95, "ms", f"{BLOCK_MS} or less", COMMAND)
    # The time of a step grows with the number of streams: from here upwards or downwards until it fits.
    most, late = calls, p95 > BLOCK_MS
    while 0 < (other := most - 2 if late else most + 4) <= MOST:
        fits = np.percentile(steps_ms(recognizer, other, seconds), 95) <= BLOCK_MS
        if not late and not fits:
            break
        most = other
        if late and fits:
            break
    yield bench.Row("calls_with_p95_step_in_chunk", most, "calls", f"{CALLS} or more", COMMAND)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="duration of the calls")
    parser.add_argument("--bundle", metavar="DIR", help="the recogniser; as a rule the one in models/bundles")
    arguments = parser.parse_args()
    print(bench.machine())
    for row in measure(arguments.calls, arguments.seconds, arguments.bundle):
        print(bench.line(row), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
