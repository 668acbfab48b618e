"""What a file is by its first bytes, never by its name: which decoder reads it, or what it is instead of audio."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from speech.audio import mpeg
from speech.errors import BadAudio

HEAD = 1 << 16  # bytes that decide
EXPECTED = "WAV, FLAC, Ogg, MP3, AIFF, AU, CAF, M4A/MP4, WebM/Matroska, AMR or AAC"


@dataclass(frozen=True, slots=True)
class Kind:
    """A container: its name for people, who decodes it, and FFmpeg's name of its demuxer."""

    name: str
    decoder: Literal["wav", "mpeg", "ogg", "sndfile", "av"]
    demuxer: str


WAV = Kind("WAV", "wav", "wav")
MP4 = Kind("MP4", "av", "mov")
_OGG = Kind("Ogg", "ogg", "ogg")
_OTHER_OGG = Kind("Ogg", "av", "ogg")
_MPEG = Kind("MPEG audio", "mpeg", "mp3")
_ADTS = Kind("AAC (ADTS)", "av", "aac")
_CAF = Kind("CAF", "sndfile", "caf")

_KINDS: list[tuple[re.Pattern[bytes], Kind]] = [
    (re.compile(pattern, re.DOTALL), kind)
    for pattern, kind in [
        (rb"(RIFF|RF64|BW64)....WAVE", WAV),
        (rb"RIFX....WAVE", Kind("RIFX WAV", "sndfile", "wav")),
        (rb"riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb", Kind("Wave64", "sndfile", "w64")),
        (rb"RIFF....AVI ", Kind("AVI", "av", "avi")),
        (rb"fLaC", Kind("FLAC", "sndfile", "flac")),
        (rb"OggS.{0,4000}(\x7fFLAC|Speex   |\x80theora|fishead\x00)", _OTHER_OGG),
        (rb"OggS", _OGG),
        (rb"FORM....AIF[FC]", Kind("AIFF", "sndfile", "aiff")),
        (rb"\.snd", Kind("AU", "sndfile", "au")),
        (rb"caff\x00", _CAF),
        (rb"NIST_1A\n", Kind("NIST SPHERE", "sndfile", "nistsphere")),
        (rb"\x00...(ftyp|wide|free|skip|pnot)|....(moov|mdat)", MP4),
        (rb"\x1a\x45\xdf\xa3.{0,60}webm", Kind("WebM", "av", "matroska")),
        (rb"\x1a\x45\xdf\xa3", Kind("Matroska", "av", "matroska")),
        (rb"#!AMR-WB\n", Kind("AMR-WB", "av", "amr")),
        (rb"#!AMR\n", Kind("AMR", "av", "amr")),
        (rb"\x30\x26\xb2\x75\x8e\x66\xcf\x11", Kind("ASF (WMA, WMV)", "av", "asf")),
        (rb"FLV\x01", Kind("FLV", "av", "flv")),
        (rb"\x47.{187}\x47.{187}\x47", Kind("MPEG transport stream", "av", "mpegts")),
        (rb"\x00\x00\x01\xba", Kind("MPEG program stream", "av", "mpeg")),
    ]
]

_OTHERS: list[tuple[re.Pattern[bytes], str]] = [
    (re.compile(pattern, re.DOTALL | re.IGNORECASE), name)
    for pattern, name in [
        (rb"%PDF", "a PDF document"),
        (rb"PK(\x03\x04|\x05\x06)", "a ZIP archive (or an Office document)"),
        (rb"\x1f\x8b", "a gzip archive"),
        (rb"7z\xbc\xaf", "a 7z archive"),
        (rb"\x89PNG", "a PNG image"),
        (rb"\xff\xd8\xff", "a JPEG image"),
        (rb"GIF8", "a GIF image"),
        (rb"RIFF....WEBP", "a WebP image"),
        (rb"MThd|RIFF....RMID", "a MIDI file (notes, no sound)"),
        (rb"Salted__|age-encryption\.org|-----BEGIN PGP", "an encrypted file"),
        (rb"\x7fELF|MZ", "a program"),
        (rb"\s*(<!doctype html|<html)", "an HTML page"),
        (rb"\s*<\?xml", "an XML document"),
        (rb"\s*[\[{]\s*[\"\[{\]}\d-]", "JSON text"),
        (rb"\x00*$", "nothing but zero bytes"),
    ]
]


def sniff(head: bytes) -> Kind:
    """The container of a file that starts with `head` (up to HEAD bytes); BadAudio says what was found instead."""
    for pattern, kind in _KINDS:
        if pattern.match(head):
            return kind
    for pattern, name in _OTHERS:
        if pattern.match(head):
            raise BadAudio(f"this is {name}, not audio; expected {EXPECTED}")
    if _is_text(head):
        raise BadAudio(f"this is text, not audio: it starts with {_excerpt(head)!r}; expected {EXPECTED}")
    if mpeg.find_frame(head):
        return _MPEG
    if _adts(head):
        return _ADTS
    raise BadAudio(
        f"not a known kind of audio file: it starts with the bytes {head[:12].hex(' ')} (encrypted, damaged, or "
        f"samples without a header?); expected {EXPECTED}"
    )


def _adts(head: bytes) -> bool:
    """Three AAC frames in ADTS framing (ISO 14496-3, 1.A.2), one behind the other, or one that fills the file."""
    offset = 0
    for _ in range(3):
        header = head[offset : offset + 7]
        if len(header) < 7 or header[0] != 0xFF or header[1] & 0xF6 != 0xF0:
            return False
        length = (header[3] & 3) << 11 | header[4] << 3 | header[5] >> 5
        offset += length
        if length < 7:
            return False
        if offset >= len(head):
            return True
    return True


def _is_text(head: bytes) -> bool:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = head[: len(head) // 2 * 2].decode("utf-16", "replace")
    else:
        text = head.decode("utf-8", "replace")
    odd = sum(not (char.isprintable() or char.isspace()) or char == "\ufffd" for char in text[:4096])
    return odd <= len(text[:4096]) // 50


def _excerpt(head: bytes) -> str:
    encoding = "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    return " ".join(head[:120].decode(encoding, "replace").split())[:40]
