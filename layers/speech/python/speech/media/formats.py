"""What the blocks of an audio track really hold, whatever its CodecID says; `sound` makes samples of them.

Amazon Connect and Chime label 16-bit little-endian PCM as A_AAC; the truth is in the fragment's MimeType tag
("audio/L16;rate=8000;channels=1;") or in the track's name. (L16 of RFC 2586 is big-endian; what they send is not.)
WAVEFORMATEX is that of Microsoft's mmreg.h; AudioSpecificConfig that of ISO/IEC 14496-3, 1.6.2.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from speech.audio.resample import MAX_RATE, MIN_RATE
from speech.errors import BadAudio, NeedsDecoder
from speech.media.events import Track

Encoding = Literal["pcm_s16le", "pcm_mulaw", "pcm_alaw", "aac"]
Speaker = Literal["customer", "agent", "unknown"]
SPEAKERS: dict[str, Speaker] = {"AUDIO_FROM_CUSTOMER": "customer", "AUDIO_TO_CUSTOMER": "agent"}
_L16_NAMES = ("AUDIO_FROM_CUSTOMER", "AUDIO_TO_CUSTOMER", "Track_audio/L16")
_WAVE: dict[tuple[int, int], Encoding] = {(1, 16): "pcm_s16le", (6, 8): "pcm_alaw", (7, 8): "pcm_mulaw"}
_NATURAL_BITS = {6: 8, 7: 8}  # G.711; real producers leave the field 0
_AAC_RATES = (96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350)  # Hz
_AAC_SAMPLES = 1024  # of a frame, before what high-efficiency AAC adds


@dataclass(frozen=True, slots=True)
class AudioFormat:
    """Encoding of a track's blocks, as speech.audio.pcm names it, or aac: each block is one frame without ADTS."""

    encoding: Encoding
    rate: int  # Hz; of high-efficiency AAC perhaps half of what is heard
    channels: int = 1
    config: str = ""  # of AAC: the AudioSpecificConfig that its decoder needs, in hexadecimal digits

    @property
    def frame_bytes(self) -> int:
        """Bytes of one sample of every channel; for PCM and G.711."""
        return self.channels * (2 if self.encoding == "pcm_s16le" else 1)

    def milliseconds(self, size: int) -> float:
        """Duration of a block of `size` bytes."""
        if self.encoding == "aac":
            return 1000 * _AAC_SAMPLES / self.rate if size else 0.0
        return 1000 * size / (self.frame_bytes * self.rate)


def speaker(track: Track) -> Speaker:
    """Who is heard on a track, by the name that Amazon Connect gives it."""
    return SPEAKERS.get(track.name, "unknown")


def audio_format(track: Track, mime_type: str = "") -> AudioFormat:
    """The format of `track`, given the MimeType tag of its fragment ("" when there is none, or none yet).

    NeedsDecoder for compressed audio other than AAC, BadAudio for what cannot be heard at all; both say what was found.
    """
    where = f"track {track.number} ({track.codec}{', ' + track.name if track.name else ''})"
    if track.kind != "audio":
        raise BadAudio(f"{where} is a {track.kind} track, expected audio")
    if track.encoded:
        raise NeedsDecoder(f"{where} has ContentEncodings: its blocks are compressed or encrypted")
    if track.codec == "A_MS/ACM":
        return _wave_format(track.private, where)
    if mime_type and (found := mime_format(mime_type)):
        return found
    if track.codec == "A_PCM/INT/LIT":
        if track.bits not in (0, 16):
            raise BadAudio(f"{where} has {track.bits} bits, expected 16")
        return _plausible("pcm_s16le", track.rate, track.channels, where)
    if track.codec.startswith("A_AAC"):
        if track.name not in _L16_NAMES and (found := _aac_format(track.private, where)):
            return found
        return _plausible("pcm_s16le", track.rate, track.channels, where)
    raise NeedsDecoder(f"{where} has a codec other than A_MS/ACM, A_PCM/INT/LIT and A_AAC; it needs a decoder")


def mime_format(mime_type: str) -> AudioFormat | None:
    """The format of a MimeType such as "audio/L16;rate=8000;channels=1;"; None when it is no L16."""
    kind, *rest = (part.strip() for part in mime_type.split(";"))
    if kind.lower() != "audio/l16":
        return None
    values = dict(part.partition("=")[::2] for part in rest)
    try:
        rate, channels = int(values.get("rate", "8000")), int(values.get("channels", "1"))
    except ValueError:
        raise BadAudio(f"MimeType tag {mime_type[:80]!r}, expected audio/L16;rate=8000;channels=1;") from None
    return _plausible("pcm_s16le", rate, channels, f"MimeType tag {mime_type[:80]!r}")


def _wave_format(private: bytes, where: str) -> AudioFormat:
    """The format that a WAVEFORMATEX tells."""
    if len(private) < 14:
        raise BadAudio(f"{where} has a WAVEFORMATEX of {len(private)} bytes, expected 18")
    tag, channels = int.from_bytes(private[:2], "little"), int.from_bytes(private[2:4], "little")
    rate, bits = int.from_bytes(private[4:8], "little"), int.from_bytes(private[14:16], "little")
    encoding = _WAVE.get((tag, bits or _NATURAL_BITS.get(tag, 16)))
    if encoding is None:
        raise BadAudio(f"{where} has format tag {tag} with {bits} bits; expected 1 (16 bits), 6 (A-law) or 7 (mu-law)")
    return _plausible(encoding, rate, channels, where)


def _plausible(encoding: Encoding, rate: float, channels: int, where: str) -> AudioFormat:
    if not (MIN_RATE <= rate <= MAX_RATE and 1 <= channels <= 8):
        expected = f"1 to 8 at {MIN_RATE} to {MAX_RATE} Hz"
        raise BadAudio(f"{where} has {channels} channels at {rate:g} Hz; expected {expected}")
    return AudioFormat(encoding, round(rate), channels)


def _aac_format(private: bytes, where: str) -> AudioFormat | None:
    """What an AudioSpecificConfig tells; None when these bytes are none."""
    if len(private) < 2:
        return None
    bits = int.from_bytes(private[:2], "big")
    kind, rate, channels = bits >> 11, bits >> 7 & 15, bits >> 3 & 15
    if kind == 0 or rate >= len(_AAC_RATES) or not 1 <= channels <= 7:
        return None
    found = _plausible("aac", _AAC_RATES[rate], 8 if channels == 7 else channels, where)
    return replace(found, config=private.hex())
