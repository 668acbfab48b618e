"""Blocks of any format become the same sound; a decoder goes on in another process bit for bit."""

from __future__ import annotations

import io
from fractions import Fraction
from importlib.machinery import ModuleSpec

import av
import numpy as np
import pytest
from speech.audio import pcm
from speech.errors import BadAudio, NeedsDecoder
from speech.media import sound
from speech.media.formats import AudioFormat, audio_format
from speech.media.sound import MOST_BYTES, PRIMER, Sound

from tests.unit.media.aac import FRAME, Encoded, encoded

RATE = 16_000


def chirp(seconds: float = 2.0, rate: int = RATE) -> np.ndarray:
    """A tone that rises, so that a shift shows."""
    at_s = np.arange(round(seconds * rate)) / rate
    return (0.4 * np.sin(2 * np.pi * (200 + 300 * at_s) * at_s)).astype(np.float32)


def heard(made: Encoded, first: int = 0, primer: tuple[bytes, ...] = ()) -> np.ndarray:
    ear = Sound(audio_format(made.track), primer)
    return np.concatenate([ear.hear(frame) for frame in made.frames[first:]])


@pytest.mark.parametrize(("rate", "channels"), [(8000, 1), (16_000, 1), (44_100, 2)])
def test_aac_is_the_sound_that_was_encoded_in_its_place(rate: int, channels: int) -> None:
    spoken = chirp(1.0, rate)
    found = heard(encoded(spoken, rate, channels=channels))[FRAME:]  # behind the encoder's frame before the first
    assert len(found) >= len(spoken)
    alike = {late: float(found[50 + late :][: len(spoken) - 100] @ spoken[50:-50]) for late in range(-5, 6)}
    assert max(alike, key=alike.__getitem__) == 0
    assert alike[0] == pytest.approx(float(spoken[50:-50] @ spoken[50:-50]), rel=0.1)


def test_it_is_what_ffmpeg_makes_of_a_file_with_the_same_frames() -> None:
    made, out = encoded(chirp(), RATE), io.BytesIO()
    with av.open(out, "w", format="adts") as file:
        stream = file.add_stream("aac", rate=RATE, layout="mono")
        stream.codec_context.extradata = made.track.private
        for index, frame in enumerate(made.frames):
            packet = av.Packet(frame)
            packet.stream, packet.pts, packet.dts = stream, index * FRAME, index * FRAME
            packet.time_base = Fraction(1, RATE)
            file.mux(packet)
    out.seek(0)
    with av.open(out, format="aac") as file:
        expected = np.concatenate([frame.to_ndarray()[0] for frame in file.decode(audio=0)])
    found = heard(made)
    assert np.array_equal(found[: len(expected)], expected)


@pytest.mark.parametrize("cut", [1, 2, 3, 7, 20])
def test_another_process_goes_on_with_the_same_samples(cut: int) -> None:
    made = encoded(chirp(), RATE)
    whole, first = heard(made), Sound(audio_format(made.track))
    for frame in made.frames[:cut]:
        first.hear(frame)
    assert len(first.primer) == min(cut, PRIMER)
    assert np.array_equal(heard(made, cut, first.primer), whole[cut * FRAME :])
    assert not np.array_equal(heard(made, cut), whole[cut * FRAME :])  # which is why there is a primer


def test_a_damaged_frame_is_as_long_as_any_other_and_the_sound_goes_on() -> None:
    made = encoded(chirp(), RATE)
    ear, whole = Sound(audio_format(made.track)), heard(made)
    frames = [b"\xff" * 40 if index == 9 else frame for index, frame in enumerate(made.frames)]
    found = np.concatenate([ear.hear(frame) for frame in [*frames, b""]])
    assert len(found) == len(whole)
    assert not found[9 * FRAME : 10 * FRAME].any()
    assert np.array_equal(found[: 9 * FRAME], whole[: 9 * FRAME])
    assert np.array_equal(found[12 * FRAME :], whole[12 * FRAME :])


def test_a_primer_stays_small() -> None:
    ear = Sound(AudioFormat("aac", RATE, 1, "1408"))
    for _ in range(9):
        ear.hear(bytes(MOST_BYTES + 1))
    assert ear.primer == ()


def test_without_ffmpeg_it_is_said_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> ModuleSpec | None:
        return None

    monkeypatch.setattr(sound, "find_spec", nothing)
    with pytest.raises(NeedsDecoder, match="AAC of 16000 Hz needs FFmpeg"):
        Sound(AudioFormat("aac", RATE, 1, "1408"))
    assert len(Sound(AudioFormat("pcm_mulaw", 8000)).hear(bytes(160))) == 160


@pytest.mark.parametrize(("kind", "reason"), [
    (AudioFormat("aac", 7350, 1, "1608"), "7350 Hz, expected 8000 to 192000"),
    (AudioFormat("aac", 16_000, 1, "f80000"), "AAC with the configuration f80000"),
])  # fmt: skip
def test_aac_that_cannot_be_decoded_says_why(kind: AudioFormat, reason: str) -> None:
    with pytest.raises(BadAudio, match=reason):
        Sound(kind)


@pytest.mark.parametrize("encoding", ["pcm_s16le", "pcm_mulaw", "pcm_alaw"])
def test_plain_sound_of_two_channels_is_their_mean_and_half_samples_are_left_out(encoding: str) -> None:
    left, right = chirp(0.1), chirp(0.1) / 2
    data = pcm.encode(np.stack([left, right], axis=1), encoding)
    ear = Sound(AudioFormat(encoding, 8000, 2))  # type: ignore[arg-type]
    assert np.abs(ear.hear(data + b"\1") - (left + right) / 2).max() < 0.03
    assert (ear.rate, ear.primer) == (8000, ())
