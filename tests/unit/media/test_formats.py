"""What a track really holds, by CodecPrivate, MimeType tag and name."""

from __future__ import annotations

import pytest
from speech.errors import BadAudio, NeedsDecoder
from speech.media.events import Track
from speech.media.formats import AudioFormat, audio_format, speaker

SDK_MULAW = bytes.fromhex("0700 0100 401f0000 e8030000 0100 0000 0000")  # as AWS's producer SDK writes it
ASC_16K = bytes.fromhex("1408")  # AAC-LC, 16 kHz, mono


@pytest.mark.parametrize(
    ("track", "mime_type", "expected"),
    [
        (Track(1, "A_MS/ACM", private=SDK_MULAW), "", AudioFormat("pcm_mulaw", 8000)),
        (Track(1, "A_MS/ACM", private=b"\6" + SDK_MULAW[1:]), "", AudioFormat("pcm_alaw", 8000)),
        (
            Track(1, "A_MS/ACM", private=bytes.fromhex("0100 0200 803e0000 00fa0000 0400 1000")),
            "",
            AudioFormat("pcm_s16le", 16000, 2),
        ),
        (Track(1, "A_MS/ACM", private=SDK_MULAW), "audio/L16;rate=16000", AudioFormat("pcm_mulaw", 8000)),
        (Track(1, "A_AAC"), "audio/L16;rate=16000;channels=2;", AudioFormat("pcm_s16le", 16000, 2)),
        (Track(1, "A_AAC", private=ASC_16K), "audio/l16; rate=8000", AudioFormat("pcm_s16le", 8000)),
        (Track(1, "A_AAC", 8000.0, name="AUDIO_FROM_CUSTOMER", private=ASC_16K), "", AudioFormat("pcm_s16le", 8000)),
        (Track(1, "A_AAC", 8000.0, name="Track_audio/L16"), "", AudioFormat("pcm_s16le", 8000)),
        (Track(1, "A_AAC", 8000.0), "", AudioFormat("pcm_s16le", 8000)),
        (Track(1, "A_PCM/INT/LIT", 48000.0, 2, bits=16), "", AudioFormat("pcm_s16le", 48000, 2)),
        (Track(1, "A_AAC", private=ASC_16K), "", AudioFormat("aac", 16000, 1, "1408")),
        (Track(1, "A_AAC", private=ASC_16K), "audio/aac", AudioFormat("aac", 16000, 1, "1408")),
        (Track(1, "A_AAC", private=bytes.fromhex("1210")), "", AudioFormat("aac", 44100, 2, "1210")),
    ],
)
def test_what_a_track_holds(track: Track, mime_type: str, expected: AudioFormat) -> None:
    assert audio_format(track, mime_type) == expected


@pytest.mark.parametrize(
    ("track", "mime_type", "error", "reason"),
    [
        (Track(2, "A_OPUS", name="x"), "", NeedsDecoder, r"track 2 \(A_OPUS, x\) has a codec other than"),
        (Track(1, "A_AAC", encoded=True), "", NeedsDecoder, "ContentEncodings"),
        (Track(1, "V_VP8", kind="video"), "", BadAudio, "a video track, expected audio"),
        (Track(1, "A_MS/ACM", private=b"\7"), "", BadAudio, "WAVEFORMATEX of 1 bytes, expected 18"),
        (Track(1, "A_MS/ACM", private=b"\x11" + SDK_MULAW[1:]), "", BadAudio, "format tag 17 with 0 bits"),
        (Track(1, "A_AAC"), "audio/L16;rate=fast", BadAudio, "expected audio/L16;rate=8000;channels=1;"),
        (Track(1, "A_AAC"), "audio/L16;rate=5", BadAudio, "1 channels at 5 Hz"),
        (Track(1, "A_AAC", float("nan")), "", BadAudio, "at nan Hz; expected"),
        (Track(1, "A_PCM/INT/LIT", 4000.0, bits=16), "", BadAudio, "at 4000 Hz; expected 1 to 8 at 8000 to 192000 Hz"),
        (Track(1, "A_PCM/INT/LIT", bits=24), "", BadAudio, "24 bits, expected 16"),
    ],
)
def test_what_needs_a_decoder_or_cannot_be_heard_says_why(
    track: Track, mime_type: str, error: type, reason: str
) -> None:
    with pytest.raises(error, match=reason) as raised:
        audio_format(track, mime_type)
    assert type(raised.value) is error


def test_durations() -> None:
    assert AudioFormat("pcm_s16le", 8000).milliseconds(1024) == 64
    assert AudioFormat("pcm_mulaw", 8000).milliseconds(160) == 20
    assert AudioFormat("aac", 16000, 1, "1408").milliseconds(200) == 64  # a frame, however long
    assert AudioFormat("aac", 16000, 1, "1408").milliseconds(0) == 0


def test_speakers_by_the_names_of_amazon_connect() -> None:
    names = ["AUDIO_FROM_CUSTOMER", "AUDIO_TO_CUSTOMER", "microphone"]
    assert [speaker(Track(1, "A_AAC", name=name)) for name in names] == ["customer", "agent", "unknown"]
