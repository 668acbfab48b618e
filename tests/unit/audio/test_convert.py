"""Conversion to FLAC: what only FFmpeg reads becomes what every function reads."""

from __future__ import annotations

import io

import numpy as np
import pytest
from speech.audio.files import open_audio
from speech.audio.files_convert import transcode_to_flac
from speech.errors import BadAudio

from tests.unit.audio import recordings as rec


@pytest.mark.parametrize(
    ("container", "codec", "channels", "rate"),
    [
        ("ipod", "aac", 1, 16000),
        ("ipod", "aac", 6, 48000),
        ("webm", "libopus", 2, 48000),
        ("amr", "libopencore_amrnb", 1, 8000),
        ("ipod", "alac", 2, 44100),
        ("mp3", "libmp3lame", 1, 22050),
    ],
)
def test_the_flac_holds_the_samples_that_were_decoded(container: str, codec: str, channels: int, rate: int) -> None:
    source = rec.with_av(rec.sound(1, rate, channels), rate, container, codec)
    target = io.BytesIO()
    info = transcode_to_flac(io.BytesIO(source), target)
    assert (info.rate, info.channels, info.warnings) == (rate, channels, ())
    assert codec.removeprefix("lib").split("_")[-1][:3] in info.format
    with open_audio(io.BytesIO(source)) as audio, open_audio(target, allow_av=False) as flac:
        assert (flac.rate, flac.channels, flac.frames, flac.warnings) == (rate, channels, info.frames, [])
        expected, got = audio.read(10 * rate), flac.read(10 * rate)
    assert abs(len(got) - len(expected)) < 0.1 * rate
    assert rec.snr_db(expected, rec.aligned(expected, got, 1200)) > 60


def test_rates_above_48_khz_become_48_khz() -> None:
    sound, target = rec.sound(0.5, 96000, 2), io.BytesIO()
    info = transcode_to_flac(io.BytesIO(rec.with_av(sound, 96000, "ipod", "alac")), target)
    assert (info.rate, info.channels) == (48000, 2)
    with open_audio(target) as flac:
        got = flac.read(48000)
    assert abs(len(got) - 24000) <= 32
    expected = sound[::2]
    assert rec.snr_db(expected[500:23000], rec.aligned(expected, got, 100)[500:23000]) > 50


def test_a_truncated_source_gives_what_is_there_and_says_so() -> None:
    source = rec.with_av(rec.sound(2, 16000), 16000, "mp4", "aac", {"movflags": "faststart"})
    target = io.BytesIO()
    info = transcode_to_flac(io.BytesIO(source[: len(source) * 6 // 10]), target)
    assert 16000 < info.frames < 24000
    assert info.warnings[-1].startswith("truncated: the header promises 2.1 s, 1.")


def test_what_cannot_be_converted_is_refused_with_a_reason() -> None:
    for source, reason in [
        (rec.silent_film("matroska"), "a video .* but no sound track"),
        (b"#!AMR\n", "AMR, amrnb without a single sample of audio"),
        (b"just some text", "this is text, not audio"),
        (
            rec.with_av(np.zeros((6000, 1), np.float32), 6000, "matroska", "pcm_s16le"),
            "6000 Hz; expected 8000 to 192000 Hz",
        ),
    ]:
        with pytest.raises(BadAudio, match=reason):
            transcode_to_flac(io.BytesIO(source), io.BytesIO())
