"""Raw PCM and G.711: against known values, FFmpeg and any cut."""

from __future__ import annotations

import io

import av
import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.audio import pcm
from speech.errors import BadAudio, BadSnapshot

KNOWN = [  # encoding, bytes, samples
    ("pcm_u8", b"\x00\x80\xff", [-1, 0, 127 / 128]),
    ("pcm_s8", b"\x80\x00\x7f", [-1, 0, 127 / 128]),
    ("pcm_s16le", b"\x00\x80\x00\x00\xff\x7f\x01\x00", [-1, 0, 32767 / 32768, 1 / 32768]),
    ("pcm_s24le", b"\x00\x00\x80\x00\x00\x00\x01\x00\x00", [-1, 0, 2.0**-23]),
    ("pcm_s32le", b"\x00\x00\x00\x80\x00\x00\x00\x40", [-1, 0.5]),
    ("pcm_f32le", np.array([-1.5, 0.25], "<f4").tobytes(), [-1.5, 0.25]),
    ("pcm_f64le", np.array([-1.5, 0.25], "<f8").tobytes(), [-1.5, 0.25]),
    # ITU-T G.711: the codes of silence, the smallest and the largest values of either sign.
    ("pcm_mulaw", b"\xff\x7f\x00\x80\xfe", [0, 0, -32124 / 32768, 32124 / 32768, 8 / 32768]),
    ("pcm_alaw", b"\xd5\x55\x2a\xaa", [8 / 32768, -8 / 32768, -32256 / 32768, 32256 / 32768]),
]


@pytest.mark.parametrize(("encoding", "data", "samples"), KNOWN)
def test_known_bytes_are_known_samples(encoding: str, data: bytes, samples: list[float]) -> None:
    np.testing.assert_array_equal(pcm.decode(data, encoding), np.array(samples, np.float32))


@pytest.mark.parametrize("encoding", pcm.ENCODINGS)
def test_encoding_what_was_decoded_gives_the_same_bytes(encoding: str) -> None:
    data = np.random.default_rng(3).integers(0, 256, 24 * 500, np.uint8).tobytes()
    samples = pcm.decode(data, encoding)
    again = pcm.encode(samples, encoding)
    np.testing.assert_array_equal(pcm.decode(again, encoding), samples)
    if encoding not in ("pcm_f32le", "pcm_f64le", "pcm_s32le", "pcm_mulaw"):  # not-a-number, rounding, two zeros
        assert again == data


@pytest.mark.parametrize(("encoding", "subtype"), [("pcm_mulaw", "ULAW"), ("pcm_alaw", "ALAW")])
def test_g711_equals_libsndfile_on_every_16_bit_sample_and_ffmpeg_on_every_code(encoding: str, subtype: str) -> None:
    every, out = np.arange(-32768, 32768).astype(np.int16), io.BytesIO()
    soundfile.write(out, every, 8000, format="RAW", subtype=subtype)
    ours = pcm.encode(every.astype(np.float32) / 32768, encoding)
    np.testing.assert_array_equal(pcm.decode(ours, encoding), pcm.decode(out.getvalue(), encoding))

    codes = bytes(range(256))
    decoder = av.CodecContext.create(encoding, "r")
    decoder.sample_rate, decoder.layout = 8000, "mono"
    theirs = np.concatenate([frame.to_ndarray().ravel() for frame in decoder.decode(av.Packet(codes))])
    np.testing.assert_array_equal(pcm.decode(codes, encoding) * 32768, theirs)


@pytest.mark.parametrize("encoding", ["pcm_u8", "pcm_s8", "pcm_s16le", "pcm_s24le", "pcm_s32le"])
def test_beyond_full_scale_is_clipped_and_not_a_number_is_silence(encoding: str) -> None:
    samples = np.array([7.0, -7.0, np.nan, np.inf, -np.inf], np.float32)
    got = pcm.decode(pcm.encode(samples, encoding), encoding)
    np.testing.assert_allclose(got, [1, -1, 0, 1, -1], atol=0.01)


@pytest.mark.parametrize("encoding", ["pcm_f32le", "pcm_f64le"])
def test_not_a_number_is_decoded_as_silence(encoding: str) -> None:
    data = np.array([np.nan, np.inf, -np.inf, 0.5], "<f4" if encoding == "pcm_f32le" else "<f8").tobytes()
    np.testing.assert_array_equal(pcm.decode(data, encoding), np.array([0, 1, -1, 0.5], np.float32))


@given(st.sampled_from(pcm.ENCODINGS), st.integers(1, 3), st.lists(st.integers(0, 40), max_size=12))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_any_cut_of_the_bytes_gives_the_same_frames(encoding: str, channels: int, cuts: list[int]) -> None:
    frames = 20
    data = np.random.default_rng(5).integers(0, 256, frames * channels * pcm.sample_bytes(encoding), np.uint8).tobytes()
    decoder, stream = pcm.PcmDecoder(encoding, channels), io.BytesIO(data)
    parts = []
    for size in [*cuts, len(data)]:
        parts.append(decoder.receive(stream.read(size)))
        resumed = pcm.PcmDecoder(encoding, channels)
        resumed.restore(decoder.state())
        decoder = resumed
    np.testing.assert_array_equal(np.concatenate(parts), pcm.decode(data, encoding).reshape(frames, channels))


def test_errors_say_what_was_expected() -> None:
    with pytest.raises(BadAudio, match="'mp3' is not known; expected one of pcm_s8, "):
        pcm.decode(b"", "mp3")
    with pytest.raises(BadAudio, match="3 bytes of pcm_s16le are not whole samples of 2 bytes"):
        pcm.decode(b"abc", "pcm_s16le")
    with pytest.raises(BadSnapshot, match="2 waiting bytes, expected less than a frame of 2"):
        pcm.PcmDecoder("pcm_s16le").restore({"rest": np.zeros(2, np.uint8)})
