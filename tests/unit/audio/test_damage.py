"""Recordings that are cut off, mislabelled, encrypted or no recordings at all: what is there, or a reason."""

from __future__ import annotations

import io
import json
import struct
import zipfile

import numpy as np
import pytest
from speech.audio.files import open_audio
from speech.errors import BadAudio

from tests.unit.audio import recordings as rec
from tests.unit.audio.recordings import Samples

RATE = 16000
SOUND = rec.sound(2, RATE, top_hz=1500)


def read(data: bytes) -> tuple[Samples, list[str]]:
    with open_audio(io.BytesIO(data)) as audio:
        return np.concatenate(list(audio.blocks(5000))), audio.warnings


def pcm16(sound: Samples = SOUND) -> bytes:
    return np.rint(sound * 32767).astype("<i2").tobytes()


def refusal(data: bytes) -> str:
    with pytest.raises(BadAudio) as error:
        read(data)
    return str(error.value)


# --- WAV: sizes that are missing, wrong or stale; other chunks around the samples


@pytest.mark.parametrize(
    ("riff_size", "data_size"),
    [(0xFFFFFFFF, 0xFFFFFFFF), (0, 0), (36, 0), (0x7FFFF024, 0x7FFFF000), (0xFFFFFFFF, 0xFFFFFFFF - 36)],
)
def test_a_streamed_wav_without_sizes_is_read_to_its_end(riff_size: int, data_size: int) -> None:
    got, warnings = read(rec.wav(pcm16(), riff_size=riff_size, data_size=data_size))
    assert (len(got), warnings) == (len(SOUND), [])


def test_a_wav_whose_header_was_never_updated_is_read_to_its_end_and_says_so() -> None:
    got, warnings = read(rec.wav(pcm16(), data_size=3200, riff_size=3236))
    assert len(got) == len(SOUND)
    assert warnings == ["the header is stale: the header promises 0.1 s, 2.0 s are there"]


def test_chunks_around_the_samples_are_not_taken_for_sound() -> None:
    junk = b"LIST" + struct.pack("<I", 300) + bytes(300)
    odd = b"bext" + struct.pack("<I", 3) + b"abc\0"
    unpadded = b"bext" + struct.pack("<I", 3) + b"abc"
    for before in (b"", junk, odd + junk, unpadded, unpadded + junk):
        got, warnings = read(rec.wav(pcm16(), before=before, after=junk))
        assert (len(got), warnings) == (len(SOUND), []), before[:20]
        assert rec.snr_db(SOUND, got) > 80


def test_sizes_of_rf64_and_bw64_stand_in_their_ds64_chunk() -> None:
    data = pcm16()
    ds64 = b"ds64" + struct.pack("<IQQQI", 28, len(data) + 72, len(data), len(data) // 2, 0)
    junk = b"LIST" + struct.pack("<I", 300) + bytes(300)
    for magic in (b"RF64", b"BW64"):
        file = rec.wav(data, magic=magic, before=ds64, riff_size=0xFFFFFFFF, data_size=0xFFFFFFFF, after=junk)
        got, warnings = read(file)
        assert (len(got), warnings) == (len(SOUND), [])


def test_a_truncated_wav_gives_what_is_there_and_says_so() -> None:
    got, warnings = read(rec.wav(pcm16())[: 44 + 16000])
    assert len(got) == 8000
    assert warnings == ["truncated: the header promises 2.0 s, 0.5 s are there"]


@pytest.mark.parametrize("cut", [45, 46 + 8001])
def test_half_a_sample_at_the_end_is_left_out(cut: int) -> None:
    data = rec.wav(pcm16())[:cut]
    if cut == 45:
        assert "without a single sample of audio (truncated" in refusal(data)
    else:
        assert len(read(data)[0]) == (cut - 44) // 2


# --- other formats cut off


@pytest.mark.parametrize(
    ("container", "subtype"), [("FLAC", "PCM_16"), ("OGG", "VORBIS"), ("OGG", "OPUS"), ("MP3", None)]
)
def test_a_truncated_compressed_file_gives_what_is_there_and_says_so(container: str, subtype: str | None) -> None:
    noisy = rec.sound(6, RATE) + np.float32(0.05) * np.random.default_rng(1).standard_normal((6 * RATE, 1)).astype("f")
    whole = rec.with_soundfile(noisy, RATE, container, subtype)
    expected, _ = read(whole)
    got, warnings = read(whole[: len(whole) * 6 // 10])
    assert 2.5 * RATE < len(got) < 4.5 * RATE
    assert any("truncated" in warning or "cut off" in warning for warning in warnings), warnings
    settled = len(got) - 2 * RATE // 10
    assert rec.snr_db(expected[:settled], got[:settled]) > 60


@pytest.mark.parametrize("fragments", [False, True])
def test_a_truncated_m4a_with_its_index_in_front_gives_what_is_there(fragments: bool) -> None:
    options = {"movflags": "empty_moov", "frag_duration": "200000"} if fragments else {"movflags": "faststart"}
    whole = rec.with_av(SOUND, RATE, "mp4", "aac", options)
    got, warnings = read(whole[: len(whole) * 6 // 10])
    assert 0.5 * RATE < len(got) < 1.9 * RATE
    if not fragments:  # they do not say how many were to come
        assert any("truncated: the header promises 2.1 s, 1.2 s are there" in warning for warning in warnings)


def test_an_m4a_cut_off_before_its_index_says_so() -> None:
    whole = rec.with_av(SOUND, RATE, "mp4", "aac")
    assert "MP4 without its index: found 'ftyp', 'free', 'mdat', expected a 'moov' box" in refusal(whole[:-2000])
    start = rec.with_av(SOUND, RATE, "mp4", "aac", {"movflags": "faststart"})
    assert "MP4 with a cut-off index" in refusal(start[:400])


# --- what decoders leave out in silence


def test_an_mp3_without_a_xing_tag_is_read_to_its_end() -> None:
    quiet = np.concatenate([np.zeros((10 * RATE, 1), np.float32), rec.sound(10, RATE)])
    options = {"global_quality": "400", "flags": "+qscale"}
    for tag in ("0", "1"):
        got, _ = read(rec.with_av(quiet, RATE, "mp3", "libmp3lame", {"write_xing": tag}, options))
        assert abs(len(got) - len(quiet)) < 0.2 * RATE


def test_mp3_files_put_one_behind_the_other_are_all_read() -> None:
    one = rec.with_soundfile(SOUND, RATE, "MP3")
    got, _ = read(one + one + one)
    assert 3 * len(SOUND) <= len(got) < 3 * len(SOUND) + RATE


@pytest.mark.parametrize("subtype", ["VORBIS", "OPUS"])
def test_chained_ogg_streams_are_all_read(subtype: str) -> None:
    one = rec.with_soundfile(SOUND, RATE, "OGG", subtype)
    two = rec.with_soundfile(SOUND[:8000], RATE, "OGG", subtype)
    got, warnings = read(one + two + one)
    assert (len(got), warnings) == (2 * len(SOUND) + 8000, [])
    other = rec.with_soundfile(rec.sound(1, RATE, 2), RATE, "OGG", subtype)
    got, warnings = read(one + other)
    assert len(got) == len(SOUND)
    assert warnings == ["a following part was left out: it has 2 channels at 16000 Hz, the first 1 at 16000 Hz"]


def test_a_stream_that_changes_its_rate_and_channels_goes_on_as_it_began() -> None:
    later = rec.with_av(rec.sound(1, 48000, 2), 48000, "adts", "aac")
    got, _ = read(rec.with_av(SOUND, RATE, "adts", "aac") + later)
    assert got.shape == (pytest.approx(3 * RATE, abs=3000), 1)
    assert np.abs(got[-RATE // 2 :]).max() > 0.1


def id3(size: int, version: int = 3) -> bytes:
    """An ID3v2 tag with a cover picture of `size` bytes, in which frames of MPEG audio seem to stand."""
    picture = b"APIC" + struct.pack(">I", size) + b"\0\0" + (b"\xff\xfb\x90\x44" * (size // 4)).ljust(size, b"\0")
    total = len(picture)
    length = bytes([total >> 21 & 127, total >> 14 & 127, total >> 7 & 127, total & 127])
    return b"ID3" + bytes([version, 0, 0]) + length + picture


@pytest.mark.parametrize("size", [100, 3_000_000])
def test_tags_with_cover_pictures_are_passed_over(size: int) -> None:
    old_tag = b"TAG" + b"a title".ljust(125, b"\0")
    expected, _ = read(rec.with_soundfile(SOUND, RATE, "MP3"))
    got, warnings = read(id3(size) + id3(50, 4) + rec.with_soundfile(SOUND, RATE, "MP3") + old_tag)
    np.testing.assert_array_equal(got[: len(SOUND)], expected[: len(SOUND)])
    assert (len(got) - len(SOUND) < RATE // 10, warnings) == (True, [])
    assert len(read(id3(size) + rec.with_soundfile(SOUND, RATE, "FLAC"))[0]) == len(SOUND)
    assert "an ID3 tag of" in refusal(id3(size))


def test_not_a_number_in_a_float_file_is_silence() -> None:
    sound = SOUND.copy()
    sound[100:110] = np.nan
    for container in ("WAV", "AIFF"):
        got, _ = read(rec.with_soundfile(sound, RATE, container, "FLOAT"))
        assert np.isfinite(got).all()
        assert not got[100:110].any()


# --- what is no recording


def test_what_is_not_audio_is_named() -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("a.txt", "text")
    for data, reason in [
        (b"", "the file is empty: 0 bytes, expected a recording"),
        (b"Dear Sir or Madam,\nplease find enclosed ...\n", "this is text, not audio: it starts with 'Dear Sir"),
        ("Grüße aus Köln, bis bald.\n".encode("utf-16"), "this is text, not audio: it starts with 'Grüße aus"),
        (b"The free lunch is over. " * 30, "this is text, not audio"),
        (json.dumps({"error": "AccessDenied"}).encode(), "this is JSON text, not audio; expected WAV, FLAC, Ogg"),
        (b"<?xml version='1.0'?><Error><Code>NoSuchKey</Code></Error>", "this is an XML document"),
        (b"\n<!DOCTYPE html><html></html>", "this is an HTML page"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "this is a PDF document"),
        (archive.getvalue(), "this is a ZIP archive"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "this is a PNG image"),
        (b"MThd\0\0\0\6", "this is a MIDI file"),
        (b"Salted__" + bytes(range(200)), "this is an encrypted file"),
        (bytes(5000), "this is nothing but zero bytes"),
        (np.random.default_rng(0).bytes(5000), "not a known kind of audio file: it starts with the bytes "),
    ]:
        assert reason in refusal(data)


def test_audio_files_without_audio_are_refused() -> None:
    none = np.zeros((0, 1), np.float32)
    for data in [
        rec.wav(b""),
        rec.with_soundfile(SOUND, RATE, "FLAC")[:90],
        rec.with_soundfile(none, RATE, "AIFF"),
        rec.with_soundfile(none, RATE, "OGG", "VORBIS"),
        b"#!AMR\n",
    ]:
        assert "without a single sample of audio" in refusal(data)
    assert "WAV without samples: the file ends before a 'data' chunk" in refusal(rec.wav(b"")[:36])
    assert "no 'fmt ' chunk before the 'data' chunk" in refusal(b"RIFF\4\0\0\0WAVEdata\4\0\0\0\0\0\0\0")
    assert "its 'LIST' chunk claims 99 bytes, 4 are there" in refusal(b"RIFF\4\0\0\0WAVELIST\x63\0\0\0\0\0\0\0")


def test_limits_are_told_with_numbers() -> None:
    data = bytes(9 * 2 * 100)
    assert refusal(rec.wav(data, channels=9)) == "WAV, pcm_s16le with 9 channels; expected 1 to 8"
    assert "sample rate of 4000 Hz; expected 8000 to 192000 Hz" in refusal(rec.wav(data, rate=4000))
    assert "sample rate of 384000 Hz; expected 8000 to 192000 Hz" in refusal(rec.wav(data, rate=384000))
    assert "WAV with 0 channels" in refusal(rec.wav(data, channels=0))
    assert "floats of 2 bytes" in refusal(rec.wav(data, tag=3, bits=16))
    assert "sample rate of 6000 Hz" in refusal(rec.with_soundfile(SOUND, 6000, "FLAC"))


def test_video_without_sound_is_refused_and_video_with_sound_is_heard() -> None:
    for container in ("mp4", "matroska", "avi"):
        assert "a video" in (reason := refusal(rec.silent_film(container)))
        assert "no sound track: there is nothing to transcribe" in reason
        got, _ = read(rec.silent_film(container, with_sound=True))
        assert len(got) == pytest.approx(RATE, abs=2100)


def test_encrypted_mp4_is_refused_as_such() -> None:
    m4a = rec.with_av(SOUND, RATE, "ipod", "aac")
    assert "encrypted sound track, Apple's FairPlay ('drms')" in refusal(m4a.replace(b"mp4a", b"drms"))
    cenc = {
        "encryption_scheme": "cenc-aes-ctr",
        "encryption_key": "76a6c65c5ea762046bd749a2e632ccbb",
        "encryption_kid": "a7e61c373e219033c21091fa607bf3b8",
    }
    assert "encrypted sound track, common encryption ('enca')" in refusal(rec.with_av(SOUND, RATE, "mp4", "aac", cenc))
