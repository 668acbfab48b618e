"""Bytes of raw PCM, mu-law or A-law <-> float32 samples in [-1, 1), whole or in chunks cut anywhere.

Integers map to x / 2^(bits-1) and back by rounding half to even; what lies beyond full scale is clipped.
Interleaved channels stay interleaved in `decode` and `encode`; `PcmDecoder` shapes them as (frames, channels).
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from speech.audio import g711
from speech.errors import BadAudio, BadSnapshot

Samples = NDArray[np.float32]
Encoding = Literal[
    "pcm_s8", "pcm_u8", "pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_f32le", "pcm_f64le", "pcm_mulaw", "pcm_alaw"
]
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)

_INTEGERS = {"pcm_s8": "i1", "pcm_s16le": "<i2", "pcm_s32le": "<i4"}
_FLOATS = {"pcm_f32le": "<f4", "pcm_f64le": "<f8"}
_BYTES = {"pcm_s16le": 2, "pcm_s24le": 3, "pcm_s32le": 4, "pcm_f32le": 4, "pcm_f64le": 8}


def sample_bytes(encoding: str) -> int:
    """Bytes of one sample; an unknown encoding raises BadAudio with the list of the known ones."""
    if encoding not in ENCODINGS:
        raise BadAudio(f"encoding {encoding!r} is not known; expected one of {', '.join(ENCODINGS)}")
    return _BYTES.get(encoding, 1)


def decode(data: bytes | memoryview, encoding: str) -> Samples:
    """Samples (n,) of whole samples' bytes; not-a-number becomes 0 and infinities become full scale."""
    size = sample_bytes(encoding)
    if len(data) % size:
        raise BadAudio(f"{len(data)} bytes of {encoding} are not whole samples of {size} bytes")
    if encoding in _FLOATS:
        with np.errstate(over="ignore", invalid="ignore"):
            return finite(np.frombuffer(data, _FLOATS[encoding]).astype(np.float32))
    if encoding == "pcm_mulaw":
        return g711.decode_mulaw(data)
    if encoding == "pcm_alaw":
        return g711.decode_alaw(data)
    if encoding == "pcm_u8":
        return (np.frombuffer(data, np.uint8).astype(np.float32) - np.float32(128)) / np.float32(128)
    integers = _unpack24(data) if encoding == "pcm_s24le" else np.frombuffer(data, _INTEGERS[encoding])
    return integers.astype(np.float32) * np.float32(2.0 ** (1 - 8 * integers.itemsize))


def encode(samples: Samples, encoding: str) -> bytes:
    """Bytes of samples of any shape, in C order; not-a-number becomes 0."""
    size = sample_bytes(encoding)
    samples = finite(np.asarray(samples, np.float32))
    if encoding in _FLOATS:
        return samples.astype(_FLOATS[encoding]).tobytes()
    if encoding == "pcm_mulaw":
        return g711.encode_mulaw(samples)
    if encoding == "pcm_alaw":
        return g711.encode_alaw(samples)
    full = 2.0 ** (8 * size - 1)
    integers = np.clip(np.rint(samples.astype(np.float64) * full), -full, full - 1)
    if encoding == "pcm_u8":
        return (integers + 128).astype(np.uint8).tobytes()
    if encoding == "pcm_s24le":
        return np.ascontiguousarray(integers.astype("<i4").view(np.uint8).reshape(-1, 4)[:, :3]).tobytes()
    return integers.astype(_INTEGERS[encoding]).tobytes()


def finite(samples: Samples) -> Samples:
    """The samples, with not-a-number as 0 and infinities as full scale: one of them would poison a whole stream."""
    if np.isfinite(samples).all():
        return samples
    return np.nan_to_num(samples, nan=0.0, posinf=1.0, neginf=-1.0)


def _unpack24(data: bytes | memoryview) -> NDArray[np.int32]:
    """24-bit integers in the upper three bytes of 32-bit ones."""
    wide = np.zeros((len(data) // 3, 4), np.uint8)
    wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
    return wide.view("<i4").ravel()


class PcmDecoder:
    """Decodes one stream of interleaved PCM; bytes of an unfinished frame wait for the next chunk."""

    def __init__(self, encoding: str, channels: int = 1) -> None:
        self._frame = sample_bytes(encoding) * channels
        self._encoding = encoding
        self._channels = channels
        self._rest = b""

    def receive(self, data: bytes) -> Samples:
        """Samples (frames, channels) of the frames that are complete by now."""
        data = self._rest + data
        whole = len(data) // self._frame * self._frame
        self._rest = data[whole:]
        return decode(memoryview(data)[:whole], self._encoding).reshape(-1, self._channels)

    def state(self) -> dict[str, NDArray[np.uint8]]:
        """The bytes that wait: `rest` uint8 (less than one frame)."""
        return {"rest": np.frombuffer(self._rest, np.uint8)}

    def restore(self, state: dict[str, NDArray[np.uint8]]) -> None:
        """Take up a state saved by a decoder of the same encoding and channels."""
        rest = state["rest"].tobytes()
        if len(rest) >= self._frame:
            raise BadSnapshot(f"{len(rest)} waiting bytes, expected less than a frame of {self._frame}")
        self._rest = rest
