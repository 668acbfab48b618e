"""ITU-T G.711 mu-law and A-law, the 8-bit codes of telephony, by table: bytes <-> float32 samples in [-1, 1).

The 16-bit scale of the common implementations is used: mu-law peaks at 32124 / 32768, A-law at 32256 / 32768.
Encoding follows the decision values of the standard; a sample that equals one takes the larger magnitude.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]


def _mulaw_magnitudes() -> NDArray[np.float64]:
    """Output magnitudes (128,), rising, on the 16-bit scale: G.711 table 2a with the bias of 33 (132 in 16 bits)."""
    code = np.arange(128)
    segment, step = code >> 4, code & 15
    return np.asarray((((step << 3) + 132) << segment) - 132, np.float64)


def _alaw_magnitudes() -> NDArray[np.float64]:
    """Output magnitudes (128,), rising, on the 16-bit scale: G.711 table 1a."""
    code = np.arange(128)
    segment, step = code >> 4, code & 15
    return np.asarray(((step << 4) + 8 + 256 * (segment > 0)) << np.maximum(segment - 1, 0), np.float64)


def _decode_table(magnitudes: NDArray[np.float64], invert: int) -> Samples:
    """Sample of each byte (256,): `invert` undoes the bit inversion, then bit 7 set means positive."""
    code = np.arange(256) ^ invert
    sign = np.where(code & 0x80, 1.0, -1.0)
    return np.asarray(sign * magnitudes[code & 0x7F] / 32768, np.float32)


def _mulaw_decisions() -> Samples:
    """Decision values (127,), the lower ends of codes 1 to 127: G.711 table 2a, 14 bits with the bias of 33."""
    code = np.arange(1, 128)
    return np.asarray((((16 + (code & 15)) << ((code >> 4) + 1)) - 33) / 8192, np.float32)


def _alaw_decisions() -> Samples:
    """Decision values (127,), the lower ends of codes 1 to 127: G.711 table 1a, 13 bits."""
    code = np.arange(1, 128)
    segment = code >> 4
    return np.asarray(((16 * (segment > 0) + (code & 15)) << np.maximum(segment, 1)) / 4096, np.float32)


# mu-law sends the code with all bits but the sign inverted, A-law with every second bit inverted.
_MULAW_TABLE, _ALAW_TABLE = _decode_table(_mulaw_magnitudes(), 0x7F), _decode_table(_alaw_magnitudes(), 0x55)
_MULAW_DECISIONS, _ALAW_DECISIONS = _mulaw_decisions(), _alaw_decisions()


def decode_mulaw(data: bytes | memoryview) -> Samples:
    """Samples (n,) of n mu-law bytes."""
    return _MULAW_TABLE[np.frombuffer(data, np.uint8)]


def decode_alaw(data: bytes | memoryview) -> Samples:
    """Samples (n,) of n A-law bytes."""
    return _ALAW_TABLE[np.frombuffer(data, np.uint8)]


def encode_mulaw(samples: Samples) -> bytes:
    """One mu-law byte a sample; beyond full scale is the largest code."""
    return _encode(samples, _MULAW_DECISIONS, 0x7F)


def encode_alaw(samples: Samples) -> bytes:
    """One A-law byte a sample; beyond full scale is the largest code."""
    return _encode(samples, _ALAW_DECISIONS, 0x55)


def _encode(samples: Samples, decisions: Samples, invert: int) -> bytes:
    code = np.searchsorted(decisions, np.abs(samples).ravel(), side="right")
    code |= np.where(samples.ravel() < 0, 0, 0x80)
    return (code ^ invert).astype(np.uint8).tobytes()
