"""Snapshots come back as they went in, and refuse to be misread."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.errors import BadSnapshot
from speech.model.state import MAX_BYTES, VERSION, pack, unpack

VALUES = {
    "ssm_0": np.arange(12, dtype=np.float32).reshape(3, 4),
    "half": np.array([[0.5, -2.0]], np.float16),
    "empty": np.zeros((0, 80), np.float32),
    "frames": np.array([-1, 2**40], np.int64),
    "segment": -7,
    "level": 0.1,
    "last": "naïve",
    "tail": b"\x00\xff",
}


def test_values_of_every_type_come_back_as_they_went_in() -> None:
    back = unpack(pack("tiny-1", VALUES), "tiny-1")
    assert list(back) == list(VALUES)
    for name, value in VALUES.items():
        if isinstance(value, np.ndarray):
            got = back[name]
            assert isinstance(got, np.ndarray)
            assert (got.dtype, got.shape, got.tobytes()) == (value.dtype, value.shape, value.tobytes())
            assert got.flags.writeable
        else:
            assert back[name] == value


def test_the_same_values_give_the_same_bytes() -> None:
    assert pack("tiny-1", VALUES) == pack("tiny-1", VALUES)


def test_a_snapshot_of_another_bundle_is_refused_by_name() -> None:
    with pytest.raises(BadSnapshot, match="belongs to bundle 'tiny-1', expected 'tiny-2'"):
        unpack(pack("tiny-1", VALUES), "tiny-2")


def test_a_snapshot_of_another_version_is_refused() -> None:
    blob = bytearray(pack("tiny-1", VALUES))
    blob[4] = VERSION + 1
    with pytest.raises(BadSnapshot, match=f"version {VERSION + 1}, this code reads version {VERSION}"):
        unpack(bytes(blob), "tiny-1")


@pytest.mark.parametrize("blob", [b"", b"UTSS", b"RIFF" + bytes(100), b"{}"])
def test_what_is_no_snapshot_is_refused(blob: bytes) -> None:
    with pytest.raises(BadSnapshot):
        unpack(blob, "tiny-1")


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_one_changed_byte_anywhere_is_noticed(data: st.DataObject) -> None:
    blob = bytearray(pack("tiny-1", VALUES))
    at = data.draw(st.integers(0, len(blob) - 1))
    blob[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(BadSnapshot):
        unpack(bytes(blob), "tiny-1")


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 400))
def test_a_cut_snapshot_is_noticed(length: int) -> None:
    blob = pack("tiny-1", VALUES)
    with pytest.raises(BadSnapshot):
        unpack(blob[: min(length, len(blob) - 1)], "tiny-1")


def test_a_snapshot_past_the_limit_is_refused_with_both_sizes() -> None:
    with pytest.raises(BadSnapshot, match=rf"would take \d+ bytes, the limit is {MAX_BYTES}"):
        pack("tiny-1", {"big": np.zeros(MAX_BYTES, np.uint8)})


def test_a_type_that_cannot_be_saved_is_named() -> None:
    with pytest.raises(TypeError, match="names: arrays of <U1"):
        pack("tiny-1", {"names": np.array(["a"])})
