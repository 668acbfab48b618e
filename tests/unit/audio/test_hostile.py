"""Whatever the bytes: samples or a SpeechError, soon; and a broken connection is never a short recording."""

from __future__ import annotations

import io
import subprocess
import sys
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.audio import window
from speech.audio.files import open_audio
from speech.audio.window import BLOCK, Window
from speech.errors import SpeechError

from tests.unit.audio import recordings as rec
from tests.unit.effort import calls_of

SOUND = rec.sound(0.5, 16000)
REAL = {
    "wav": rec.with_soundfile(SOUND, 16000, "WAV"),
    "wavex": rec.with_soundfile(SOUND, 16000, "WAVEX", "ULAW"),
    "adpcm": rec.with_soundfile(SOUND, 16000, "WAV", "MS_ADPCM"),
    "flac": rec.with_soundfile(SOUND, 16000, "FLAC"),
    "vorbis": rec.with_soundfile(SOUND, 16000, "OGG", "VORBIS"),
    "opus": rec.with_soundfile(SOUND, 16000, "OGG", "OPUS"),
    "mp3": rec.with_soundfile(SOUND, 16000, "MP3"),
    "aiff": rec.with_soundfile(SOUND, 16000, "AIFF"),
    "caf": rec.with_soundfile(SOUND, 16000, "CAF"),
    "m4a": rec.with_av(SOUND, 16000, "ipod", "aac"),
    "webm": rec.with_av(rec.sound(0.5, 48000), 48000, "webm", "libopus"),
    "amr": rec.with_av(rec.sound(0.5, 8000), 8000, "amr", "libopencore_amrnb"),
    "adts": rec.with_av(SOUND, 16000, "adts", "aac"),
    "avi": rec.with_av(SOUND, 16000, "avi", "libmp3lame"),
}


MOST_CALLS = 40_000  # three times what the busiest of these files takes


def samples_or_reason(data: bytes) -> None:
    """Decode up to a minute; only a SpeechError may be raised, and the work is bounded: nothing hangs."""
    assert calls_of(decode, data) < MOST_CALLS


def decode(data: bytes) -> None:
    """Samples, or an error that says something."""
    try:
        with open_audio(io.BytesIO(data)) as audio:
            block = audio.read(60 * audio.rate)
            assert block.dtype == np.float32
            assert block.shape[1] == audio.channels
            assert np.isfinite(block).all()
    except SpeechError as error:
        reason = str(error)
    else:
        reason = "it was sound, of whatever kind"
    assert len(reason) > 20


@given(st.binary(max_size=3000))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_random_bytes(data: bytes) -> None:
    samples_or_reason(data)


@given(st.sampled_from(sorted(REAL)), st.binary(max_size=600))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_random_bytes_behind_the_start_of_a_real_file(name: str, data: bytes) -> None:
    samples_or_reason(REAL[name][: 12 + len(data) % 50] + data)


@pytest.mark.parametrize("name", sorted(REAL))
@given(st.data())
@settings(max_examples=12, deadline=None, derandomize=True)
def test_real_files_with_bytes_changed_and_parts_lost(name: str, data: st.DataObject) -> None:
    file = bytearray(REAL[name])
    # Half of the changes fall into the header, where they do most harm.
    places = st.one_of(st.integers(0, 200), st.integers(0, len(file) - 1))
    for place, value in data.draw(st.lists(st.tuples(places, st.integers(0, 255)), max_size=8)):
        file[place] = value
    samples_or_reason(bytes(file[: data.draw(st.integers(0, len(file)))]))
    samples_or_reason(bytes(file))


class Broken(io.BytesIO):
    """A remote file whose connection breaks after a number of requests."""

    def __init__(self, data: bytes, good: int) -> None:
        super().__init__(data)
        self.good = good

    def read(self, size: int | None = -1) -> bytes:
        self.good -= 1
        if self.good < 0:
            raise ConnectionError("the connection broke")
        return super().read(size)


@pytest.mark.parametrize(
    "make",
    [
        lambda s: rec.with_soundfile(s, 16000, "WAV"),
        lambda s: rec.with_soundfile(s, 16000, "FLAC"),
        lambda s: rec.with_soundfile(s, 16000, "OGG", "OPUS"),
        lambda s: rec.with_soundfile(s, 16000, "OGG", "VORBIS"),
        lambda s: rec.with_soundfile(s, 16000, "MP3"),
        lambda s: rec.with_av(s, 16000, "mp4", "pcm_s16le"),
        lambda s: rec.with_av(s, 16000, "matroska", "pcm_s16le"),
    ],
)
def test_a_broken_connection_is_an_error_and_never_the_end(
    make: Callable[[rec.Samples], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window, "BLOCK", 2048)
    data = make(np.random.default_rng(0).uniform(-0.5, 0.5, (16000 * 4, 1)).astype(np.float32))
    whole = Broken(data, 1 << 30)
    with open_audio(whole) as audio:
        frames = sum(len(block) for block in audio.blocks(4000))
    assert frames >= 16000 * 4
    needed = (1 << 30) - whole.good
    for good in {0, 1, 2, 3, 5, 8, needed // 2, needed - 1}:
        with pytest.raises(ConnectionError), open_audio(Broken(data, good)) as audio:
            list(audio.blocks(4000))


class Counting(io.BytesIO):
    """Counts the requests that a remote file would see."""

    requests = 0

    def read(self, size: int | None = -1) -> bytes:
        self.requests += 1
        return super().read(size)


def test_a_file_is_read_in_few_large_requests() -> None:
    noise = np.random.default_rng(0).uniform(-0.5, 0.5, (16000 * 200, 1)).astype(np.float32)
    for data in (rec.with_soundfile(noise, 16000, "FLAC"), rec.with_soundfile(noise, 16000, "WAV")):
        file = Counting(data)
        with open_audio(file) as audio:
            assert sum(len(block) for block in audio.blocks(16000)) == len(noise)
        assert file.requests <= 2 * (len(data) // BLOCK + 1) + 4


def test_memory_stays_flat_however_long_the_recording() -> None:
    hour = rec.wav(bytes(2 * 8000 * 3600), rate=8000)
    tracemalloc.start()
    with open_audio(io.BytesIO(hour)) as audio:
        before, _ = tracemalloc.get_traced_memory()
        assert sum(len(block) for block in audio.blocks(8000)) == 8000 * 3600
        _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak - before < 8 << 20


def test_decoders_are_imported_only_for_files_that_need_them() -> None:
    code = "import sys, speech.audio.files; print(sorted({'av', 'soundfile', 'soxr'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                            env={"PYTHONPATH": ":".join(sys.path)})  # fmt: skip
    assert result.stdout.strip() == "[]"


@given(st.lists(st.tuples(st.integers(0, 2 * BLOCK), st.integers(0, 5000)), max_size=15), st.integers(0, 9))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_a_window_reads_as_the_bytes_it_shows(reads: list[tuple[int, int]], head: int) -> None:
    data = np.random.default_rng(4).bytes(2 * BLOCK + 999)
    shown = bytes(head) + data[100:-50]
    window = Window(io.BytesIO(data), 100, len(data) - 50, bytes(head))
    assert len(window) == len(shown)
    for offset, size in reads:
        assert window.at(offset, size) == shown[offset : offset + size]
        assert window.tell() == min(len(shown), offset + size)
    assert window.part(7).at(0, 20) == shown[head + 7 : head + 27]
