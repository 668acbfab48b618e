"""Every encoding is heard again by the product's own reader, and no cut of the samples shows in the bytes."""

from __future__ import annotations

import io
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.audio import pcm
from speech.audio.encoder import RATES, SPEECH_ENCODINGS, AudioEncoder
from speech.audio.files import open_audio
from speech.errors import BadAudio

SECONDS = 0.6
TONE = (0.5 * np.sin(2 * np.pi * 440 * np.arange(int(24000 * SECONDS)) / 24000)).astype(np.float32)
FILES = [e for e in SPEECH_ENCODINGS if not e.startswith("pcm_")]
OPUS_CANNOT = {22_050, 44_100}


def encoded(encoding: str, rate: int, pieces: list[np.ndarray]) -> bytes:
    encoder = AudioEncoder(encoding, 24000, rate)
    return b"".join([*(encoder.receive(piece) for piece in pieces), encoder.finish()])


def dominant_hz(samples: np.ndarray, rate: int) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples)), 1 << 18))
    return float(spectrum.argmax() * rate / (1 << 18))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("encoding", FILES)
def test_files_are_read_back(encoding: str, rate: int) -> None:
    if encoding == "ogg_opus" and rate in OPUS_CANNOT:
        with pytest.raises(BadAudio, match="48000"):
            AudioEncoder(encoding, 24000, rate)
        return
    with open_audio(io.BytesIO(encoded(encoding, rate, [TONE]))) as audio:
        sound = np.concatenate(list(audio.blocks(8000)))[:, 0]
        assert audio.rate == rate
    assert abs(len(sound) / audio.rate - SECONDS) < (0.2 if encoding == "mp3" else 0.001)  # MP3 pads to whole blocks
    middle = sound[len(sound) // 4 : -len(sound) // 4]
    assert abs(dominant_hz(middle, audio.rate) - 440) < 1
    assert abs(np.sqrt(np.mean(middle**2)) - 0.5 / np.sqrt(2)) < 0.02


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("encoding", ["pcm_s16le", "pcm_f32le", "pcm_mulaw", "pcm_alaw"])
def test_raw_encodings_are_read_back(encoding: str, rate: int) -> None:
    sound = pcm.decode(encoded(encoding, rate, [TONE]), encoding)
    assert len(sound) == -(-len(TONE) * rate // 24000)
    assert abs(dominant_hz(sound[1000:-1000], rate) - 440) < 1


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.integers(0, len(TONE)), max_size=6), st.sampled_from(SPEECH_ENCODINGS), st.sampled_from((8_000, 48_000))
)
def test_samples_may_be_cut_anywhere(cuts: list[int], encoding: str, rate: int) -> None:
    edges = [0, *sorted(cuts), len(TONE)]
    pieces = [TONE[a:b] for a, b in itertools.pairwise(edges)]
    assert without_serial(encoded(encoding, rate, pieces)) == without_serial(encoded(encoding, rate, [TONE]))


def without_serial(data: bytes) -> bytes:
    """Ogg pages carry a random serial number, and a checksum over it: both are left out."""
    if data[:4] != b"OggS":
        return data
    parts = data.split(b"OggS\x00")
    return b"OggS\x00".join(part[:9] + part[13:17] + part[21:] for part in parts)


@pytest.mark.parametrize(
    ("encoding", "size"), [("pcm_s16le", 0), ("pcm_mulaw", 0), ("flac", 0), ("mp3", 0), ("wav", 44)]
)
def test_no_sound_is_nothing_or_a_header(encoding: str, size: int) -> None:
    assert len(encoded(encoding, 24000, [])) == size


def test_compressed_bytes_come_while_sound_is_made() -> None:
    encoder = AudioEncoder("mp3", 24000, 24000)
    assert sum(bool(encoder.receive(TONE)) for _ in range(10)) >= 5


def test_too_loud_is_clipped() -> None:
    assert encoded("pcm_s16le", 24000, [np.array([2.0, -2.0], np.float32)]) == b"\xff\x7f\x00\x80"
