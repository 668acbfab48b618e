"""Plays a recording into a video stream in real time, as a telephone system does: a track for each channel."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from cloud.video.putmedia import PutMedia
from numpy.typing import NDArray
from speech.audio import pcm
from speech.audio.files import open_audio
from speech.media.writer import PutMediaWriter, pcm_track

BLOCK_MS = 20
LONGEST_HOLD_S = 60.0  # that a caller who has said everything stays on the line
NAMES = ("AUDIO_FROM_CUSTOMER", "AUDIO_TO_CUSTOMER", "")
Samples = NDArray[np.float32]


def read(path: Path) -> tuple[Samples, int]:
    """(samples (n, channels), rate in Hz) of a recording; of more than three channels the first three."""
    with path.open("rb") as file, open_audio(file) as audio:
        return np.concatenate(list(audio.blocks(10 * audio.rate)))[:, : len(NAMES)], audio.rate


def play(
    stream: str,
    contact: str,
    samples: Samples,
    rate: int,
    speed: float,
    hang_up: threading.Event,
    note: Callable[[float, float], None],
) -> None:
    """Send it, `speed` times as fast as it was spoken; then stay on the line in silence until `hang_up`.

    `note` is told when the call began, in seconds since 1970, and how many of its seconds have been.
    """
    began_s = time.time()
    upload = PutMedia.open(stream, start_s=began_s)
    tracks = [pcm_track(number + 1, rate, name=NAMES[number]) for number in range(samples.shape[1])]
    writer, tags = PutMediaWriter(tracks), {"ContactId": contact}
    silence = np.zeros((round(BLOCK_MS * rate / 1000), samples.shape[1]), np.float32)
    at_ms, spoken_ms = 0, 1000 * len(samples) / rate
    while at_ms < spoken_ms or not (hang_up.is_set() or at_ms > spoken_ms + 1000 * LONGEST_HOLD_S * speed):
        start, end = round(at_ms * rate / 1000), round((at_ms + BLOCK_MS) * rate / 1000)
        time.sleep(max(0.0, began_s + (at_ms + BLOCK_MS) / 1000 / speed - time.time()))
        block = samples[start:end] if at_ms < spoken_ms else silence
        for channel, track in enumerate(tracks):
            upload.send(writer.block(track.number, at_ms, pcm.encode(block[:, channel], "pcm_s16le"), tags))
        at_ms += BLOCK_MS
        note(began_s, at_ms / 1000)
    # The stream goes on with another call, which is how a consumer knows that this one is over.
    last = writer.begin(at_ms, tags)
    for channel, track in enumerate(tracks):
        last += writer.block(track.number, at_ms, pcm.encode(silence[:, channel], "pcm_s16le"))
    upload.finish(last + writer.finish({"ContactId": "the next call"}))
