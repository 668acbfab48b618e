"""What other programs write, read by our parser: GStreamer's matroskamux (recorded by gstreamer.sh), FFmpeg's muxer."""

from __future__ import annotations

import io
from pathlib import Path

import av
import numpy as np
import pytest
from speech.audio import pcm
from speech.media.events import Block, Damage, Event, FragmentEnd, Track
from speech.media.formats import audio_format

from tests.unit.media import mkv

GSTREAMER = Path(__file__).with_name("gstreamer.mkv").read_bytes()
RATE = 8000


def heard(events: list[Event]) -> dict[int, np.ndarray]:
    """The samples of each track."""
    tracks = {event.number: event for event in events if isinstance(event, Track)}
    formats = {number: audio_format(track) for number, track in tracks.items()}
    data: dict[int, bytes] = dict.fromkeys(tracks, b"")
    for event in events:
        if isinstance(event, Block):
            data[event.track] += event.data
    return {number: pcm.decode(data[number], formats[number].encoding) for number in tracks}


def loudest_hz(samples: np.ndarray) -> float:
    """The frequency with the most energy."""
    power = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(power.argmax()) * RATE / len(samples)


@pytest.mark.parametrize("step", [1, 7, 1024, len(GSTREAMER)])
def test_gstreamer(step: int) -> None:
    events = mkv.parse(GSTREAMER, range(step, len(GSTREAMER), step))
    assert not [event for event in events if isinstance(event, Damage)]
    samples = heard(events)
    assert [len(track) for track in samples.values()] == [16_000, 16_000]
    assert [round(loudest_hz(track)) for track in samples.values()] == [440, 600]
    times = [event.timecode_ms for event in events if isinstance(event, Block) and event.track == 1]
    assert times == list(range(0, 2000, 20))
    assert [event.blocks for event in events if isinstance(event, FragmentEnd)] == [100, 100]


def test_gstreamer_as_ffmpeg_reads_it() -> None:
    events = mkv.parse(GSTREAMER)
    with av.open(io.BytesIO(GSTREAMER)) as container:
        packets = [(p.stream.index + 1, p.pts, bytes(p)) for p in container.demux() if p.size]
    assert packets == [(b.track, b.timecode_ms, b.data) for b in events if isinstance(b, Block)]


def muxed(codec: str, tone: np.ndarray, **options: str) -> bytes:
    """A mono recording as FFmpeg writes it, with clusters of at most a second."""
    out = io.BytesIO()
    with av.open(out, "w", "matroska", options={"cluster_time_limit": "1000"} | options) as container:
        stream = container.add_stream(codec, rate=RATE, layout="mono")
        for at in range(0, len(tone), 160):
            samples = tone[None, at : at + 160]
            floats = codec == "aac"
            frame = av.AudioFrame.from_ndarray(
                samples.astype(np.float32) / 32768 if floats else samples, "fltp" if floats else "s16", "mono"
            )
            frame.rate, frame.pts = RATE, at
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return out.getvalue()


TONE = (12_000 * np.sin(np.arange(2 * RATE) * 2 * np.pi * 500 / RATE)).astype(np.int16)


@pytest.mark.parametrize("options", [{}, {"live": "1"}])
def test_ffmpegs_muxer(options: dict[str, str]) -> None:
    data = muxed("pcm_s16le", TONE, **options)
    events = mkv.parse(data, range(0, len(data), 333))
    assert not [event for event in events if isinstance(event, Damage)]
    [samples] = heard(events).values()
    assert np.array_equal(samples * 32768, TONE)
    assert sum(isinstance(event, FragmentEnd) for event in events) >= 2


def test_aac_of_ffmpegs_muxer_is_cut_into_frames_for_a_decoder() -> None:
    data = muxed("aac", TONE)
    events = mkv.parse(data)
    [track] = [event for event in events if isinstance(event, Track)]
    kind = audio_format(track)
    assert (kind.encoding, kind.rate, kind.channels) == ("aac", 8000, 1)
    with av.open(io.BytesIO(data)) as container:
        packets = [bytes(packet) for packet in container.demux() if packet.size]
    assert packets == [event.data for event in events if isinstance(event, Block)]
