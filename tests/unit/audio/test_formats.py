"""Every supported format, written by a real encoder, comes back as the sound that went in."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import pytest
import soundfile
from speech.audio.files import AudioReader, open_audio
from speech.errors import NeedsDecoder

from tests.unit.audio import recordings as rec
from tests.unit.audio.recordings import Samples

Make = Callable[[Samples, int], bytes]


def sf(container: str, subtype: str | None = None) -> Make:
    return lambda samples, rate: rec.with_soundfile(samples, rate, container, subtype)


def av(container: str, codec: str, options: dict[str, str] | None = None, **codec_options: str) -> Make:
    return lambda samples, rate: rec.with_av(samples, rate, container, codec, options, codec_options)


def rifx(samples: Samples, rate: int) -> bytes:
    out = io.BytesIO()
    soundfile.write(out, samples, rate, format="WAV", subtype="PCM_16", endian="BIG")
    return out.getvalue()


def read_all(audio: AudioReader, block: int = 4000) -> Samples:
    return np.concatenate(list(audio.blocks(block)))


# name, encoder, (channels, rate) cases, SNR in dB at least
EXACT: list[tuple[str, Make, list[tuple[int, int]], float]] = [
    ("WAV, pcm_u8", sf("WAV", "PCM_U8"), [(1, 8000), (2, 22050)], 30),
    ("WAV, pcm_s16le", sf("WAV", "PCM_16"), [(1, 8000), (2, 16000), (3, 44100), (8, 192000)], 80),
    ("WAV, pcm_s24le", sf("WAV", "PCM_24"), [(1, 16000), (6, 48000)], 110),
    ("WAV, pcm_s32le", sf("WAV", "PCM_32"), [(1, 16000), (4, 96000)], 130),
    ("WAV, pcm_f32le", sf("WAV", "FLOAT"), [(1, 16000), (5, 48000)], 130),
    ("WAV, pcm_f64le", sf("WAV", "DOUBLE"), [(2, 16000)], 130),
    ("WAV, pcm_mulaw", sf("WAV", "ULAW"), [(1, 8000), (2, 8000)], 30),
    ("WAV, pcm_alaw", sf("WAV", "ALAW"), [(1, 8000), (2, 8000)], 30),
    ("WAV, pcm_s16le", sf("WAVEX", "PCM_16"), [(1, 16000), (8, 48000)], 80),
    ("WAV, pcm_mulaw", sf("WAVEX", "ULAW"), [(1, 8000)], 30),
    ("WAV, pcm_s24le", sf("RF64", "PCM_24"), [(1, 16000), (2, 44100)], 110),
    ("WAV, pcm_s16le", av("wav", "pcm_s16le", {"rf64": "always"}), [(2, 16000)], 80),
    ("WAV, Microsoft ADPCM", sf("WAV", "MS_ADPCM"), [(1, 16000)], 20),
    ("WAV, IMA ADPCM", sf("WAV", "IMA_ADPCM"), [(2, 16000)], 20),
    ("FLAC, ", sf("FLAC", "PCM_16"), [(1, 8000), (2, 44100), (8, 16000)], 80),
    ("FLAC, ", sf("FLAC", "PCM_24"), [(1, 192000)], 110),
    ("AIFF, ", sf("AIFF", "PCM_16"), [(1, 16000), (2, 44100)], 80),
    ("AU, ", sf("AU", "ULAW"), [(1, 8000)], 30),
    ("CAF, ", sf("CAF", "PCM_24"), [(2, 48000)], 110),
    ("Wave64, ", sf("W64", "PCM_16"), [(1, 16000)], 80),
    ("RIFX WAV, ", rifx, [(1, 16000)], 80),
    ("NIST SPHERE, ", sf("NIST", "PCM_16"), [(1, 16000)], 80),
    ("MP4, alac", av("ipod", "alac"), [(2, 44100)], 80),
    ("MP4, pcm_s16le", av("mov", "pcm_s16le"), [(1, 16000)], 80),
    ("Matroska, flac", av("matroska", "flac"), [(1, 16000)], 80),
]
LOSSY: list[tuple[str, Make, list[tuple[int, int]], float]] = [
    ("Ogg, Vorbis", sf("OGG", "VORBIS"), [(1, 16000), (2, 44100)], 15),
    ("Ogg, Opus", sf("OGG", "OPUS"), [(1, 8000), (1, 16000), (2, 48000)], 15),
    ("Ogg, Opus", av("ogg", "libopus"), [(2, 48000), (1, 24000)], 15),
    ("Ogg, flac", av("ogg", "flac"), [(1, 16000)], 80),
    ("MP3, MPEG Layer III", sf("MP3"), [(1, 16000), (2, 44100), (1, 8000)], 15),
    ("MP3, MPEG Layer III", av("mp3", "libmp3lame", global_quality="500", flags="+qscale"), [(1, 16000)], 15),
    ("MP3, MPEG Layer III", av("mp3", "libmp3lame", {"write_xing": "0"}), [(2, 32000)], 15),
    ("MP2, MPEG Layer II", av("mp2", "mp2", b="192000"), [(2, 44100)], 15),
    ("MP3, MPEG Layer III", av("wav", "libmp3lame"), [(1, 16000)], 15),  # MP3 in a RIFF
    ("MP4, aac", av("ipod", "aac"), [(1, 16000), (2, 44100)], 15),
    ("MP4, aac", av("ipod", "aac"), [(6, 48000)], 5),  # the sixth channel is for low sounds only
    ("MP4, aac", av("mp4", "aac", {"movflags": "faststart"}), [(1, 16000)], 15),
    ("MP4, aac", av("mp4", "aac", {"movflags": "frag_keyframe+empty_moov"}), [(1, 16000)], 15),
    ("WebM, opus", av("webm", "libopus"), [(1, 48000), (2, 48000)], 15),
    ("WebM, vorbis", av("webm", "vorbis", strict="experimental"), [(2, 48000)], 5),
    ("Matroska, mp3float", av("matroska", "libmp3lame"), [(1, 16000)], 15),
    ("AMR, amrnb", av("amr", "libopencore_amrnb", b="12200"), [(1, 8000)], 3),
    ("AAC (ADTS), aac", av("adts", "aac"), [(1, 16000), (2, 48000)], 15),
    ("MPEG transport stream, aac", av("mpegts", "aac"), [(1, 16000)], 15),
    ("AVI, mp3float", av("avi", "libmp3lame"), [(1, 16000)], 15),
]


def cases(table: list[tuple[str, Make, list[tuple[int, int]], float]]) -> list[object]:
    return [
        pytest.param(name, make, channels, rate, db, id=f"{number}-{name}-{channels}x{rate}".replace(" ", ""))
        for number, (name, make, formats, db) in enumerate(table)
        for channels, rate in formats
    ]


@pytest.mark.parametrize(("name", "make", "channels", "rate", "db"), cases(EXACT))
def test_uncompressed_and_lossless_formats_come_back_sample_for_sample(
    name: str, make: Make, channels: int, rate: int, db: float
) -> None:
    sound = rec.sound(0.3, rate, channels)
    with open_audio(io.BytesIO(make(sound, rate))) as audio:
        got = read_all(audio)
        assert audio.format.startswith(name)
        assert (audio.rate, audio.channels, audio.warnings) == (rate, channels, [])
    assert 0 <= len(got) - len(sound) <= (2048 if "ADPCM" in name else 0)
    assert rec.snr_db(sound, got) > db


@pytest.mark.parametrize(("name", "make", "channels", "rate", "db"), cases(LOSSY))
def test_lossy_formats_come_back_close_to_what_went_in(
    name: str, make: Make, channels: int, rate: int, db: float
) -> None:
    sound = rec.sound(0.8, rate, channels, top_hz=1500)
    with open_audio(io.BytesIO(make(sound, rate))) as audio:
        got = read_all(audio)
        assert audio.format.startswith(name)
        assert (audio.rate, audio.channels, audio.warnings) == (rate, channels, [])
    assert abs(len(got) - len(sound)) < 0.2 * rate  # encoders add a delay and fill their last frame
    assert rec.snr_db(sound, rec.aligned(sound, got, reach=rate // 9)) > db


@pytest.mark.parametrize("make", [sf("FLAC"), sf("OGG", "OPUS"), sf("MP3"), sf("WAV"), av("ipod", "aac")])
@pytest.mark.parametrize("block", [777, 100_000])
def test_any_block_size_gives_the_same_samples(make: Make, block: int) -> None:
    data = make(rec.sound(0.3, 16000, 2), 16000)
    with open_audio(io.BytesIO(data)) as audio, open_audio(io.BytesIO(data)) as other:
        blocks = list(audio.blocks(block))
        assert {len(b) for b in blocks[:-1]} <= {block}
        np.testing.assert_array_equal(np.concatenate(blocks), read_all(other))


@pytest.mark.parametrize("make", [sf("FLAC"), sf("OGG", "VORBIS"), sf("OGG", "OPUS"), sf("MP3"), sf("WAV", "ULAW"),
                                  av("ipod", "aac"), av("webm", "libopus")])  # fmt: skip
@pytest.mark.parametrize("offset", [1, 20_000])
def test_a_recording_taken_up_at_an_offset_goes_on_as_if_never_left(make: Make, offset: int) -> None:
    data = make(rec.sound(0.5, 48000), 48000)
    with open_audio(io.BytesIO(data)) as audio, open_audio(io.BytesIO(data)) as other:
        assert audio.skip(offset) == offset
        assert audio.position == offset
        np.testing.assert_array_equal(read_all(audio), read_all(other)[offset:])
        assert audio.skip(5) == 0


def test_a_container_for_ffmpeg_is_named_when_ffmpeg_may_not_be_used() -> None:
    sound = rec.sound(0.5, 48000)
    for data, name in [
        (rec.with_av(sound, 48000, "webm", "libopus"), "WebM"),
        (rec.with_av(sound, 48000, "ipod", "aac"), "MP4"),
        (rec.with_av(rec.sound(0.5, 8000), 8000, "amr", "libopencore_amrnb"), "AMR"),
    ]:
        with pytest.raises(NeedsDecoder, match=f"^{name}: libsndfile does not read this container"):
            open_audio(io.BytesIO(data), allow_av=False)


def test_known_lengths_are_told_before_decoding() -> None:
    sound = rec.sound(1, 16000)
    for make in (sf("WAV"), sf("FLAC"), sf("OGG", "VORBIS"), sf("MP3")):
        with open_audio(io.BytesIO(make(sound, 16000))) as audio:
            assert audio.frames == 16000
    with open_audio(io.BytesIO(rec.with_av(sound, 16000, "ipod", "aac"))) as audio:
        assert audio.frames == pytest.approx(16000, abs=2100)
