"""Recordings made on the fly by real encoders, for the tests of decoding."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from tempfile import TemporaryDirectory

import av
import numpy as np
import soundfile
from numpy.typing import NDArray

Samples = NDArray[np.float32]


def sound(seconds: float, rate: int, channels: int = 1, top_hz: float = 3000.0) -> Samples:
    """(n, channels): each channel another glide up to `top_hz`, with pauses, at most 0.5."""
    time = np.arange(int(seconds * rate)) / rate
    rows = []
    for channel in range(channels):
        low = 150.0 * (channel + 1)
        glide = np.sin(2 * np.pi * (low * time + (top_hz - low) / (2 * seconds) * time**2))
        rows.append(glide * (0.3 + 0.2 * np.sin(2 * np.pi * 3 * time + channel)))
    return np.stack(rows, axis=1).astype(np.float32)


def with_soundfile(samples: Samples, rate: int, container: str, subtype: str | None = None) -> bytes:
    """A file written by libsndfile."""
    out = io.BytesIO()
    soundfile.write(out, samples, rate, format=container, subtype=subtype)
    return out.getvalue()


def with_av(
    samples: Samples,
    rate: int,
    container: str,
    codec: str,
    options: dict[str, str] | None = None,
    codec_options: dict[str, str] | None = None,
) -> bytes:
    """A file written by FFmpeg, on disk because some muxers read back what they wrote."""
    layout = {1: "mono", 2: "stereo", 6: "5.1", 8: "7.1"}[samples.shape[1]]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "recording"
        with av.open(str(path), "w", format=container, options=options or {}) as out:
            stream = out.add_stream(codec, rate=rate, layout=layout, options=codec_options or {})
            frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples).reshape(1, -1), "flt", layout)
            frame.rate = rate
            for packet in [*stream.encode(frame), *stream.encode(None)]:
                if packet.size:  # FLAC's last one only carries a checksum, which not every muxer takes
                    out.mux(packet)
        return path.read_bytes()


def silent_film(container: str, with_sound: bool = False) -> bytes:
    """Two pictures of video, with a sound track of a second or without one."""
    out = io.BytesIO()
    with av.open(out, "w", format=container) as film:
        video = film.add_stream("mpeg4" if container != "webm" else "libvpx", rate=5)
        video.width = video.height = 64
        video.pix_fmt = "yuv420p"
        audio = film.add_stream("aac", rate=16000, layout="mono") if with_sound else None
        for _ in range(2):
            film.mux(video.encode(av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8))))
        film.mux(video.encode(None))
        if audio:
            frame = av.AudioFrame.from_ndarray(sound(1, 16000).reshape(1, -1), "fltp", "mono")
            frame.rate = 16000
            film.mux(audio.encode(frame))
            film.mux(audio.encode(None))
    return out.getvalue()


def wav(  # every field of the header at will
    data: bytes,
    *,
    tag: int = 1,
    channels: int = 1,
    rate: int = 16000,
    bits: int = 16,
    riff_size: int | None = None,
    data_size: int | None = None,
    before: bytes = b"",
    after: bytes = b"",
    magic: bytes = b"RIFF",
) -> bytes:
    """A WAV file written byte by byte; `before` and `after` are chunks around the samples."""
    frame = channels * bits // 8
    fmt = b"fmt " + struct.pack("<IHHIIHH", 16, tag, channels, rate, rate * frame, frame, bits)
    body = b"WAVE" + before + fmt + b"data" + struct.pack("<I", len(data) if data_size is None else data_size)
    body += data + after
    return magic + struct.pack("<I", len(body) if riff_size is None else riff_size) + body


def snr_db(expected: Samples, got: Samples) -> float:
    """Signal to noise in dB over the common length."""
    n = min(len(expected), len(got))
    noise = float(np.sum((expected[:n].astype(np.float64) - got[:n]) ** 2))
    return 10 * float(np.log10(np.sum(expected[:n].astype(np.float64) ** 2) / max(noise, 1e-30)))


def aligned(expected: Samples, got: Samples, reach: int) -> Samples:
    """`got` (n, channels) moved by up to `reach` frames to where its first channel fits `expected` best."""
    size = 1 << (len(expected) + len(got)).bit_length()
    spectrum = np.conj(np.fft.rfft(expected[:, 0], size)) * np.fft.rfft(got[:, 0], size)
    scores = np.fft.irfft(spectrum, size)
    shift = int(np.argmax(np.concatenate([scores[-reach:], scores[: reach + 1]]))) - reach
    return got[shift:] if shift >= 0 else np.concatenate([np.zeros((-shift, got.shape[1]), np.float32), got])
