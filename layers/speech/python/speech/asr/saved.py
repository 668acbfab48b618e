"""The state of one recognition stream as a snapshot, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from typing import TYPE_CHECKING

import numpy as np

from speech.asr.acoustic import AcousticState
from speech.asr.endpoint import EndpointState
from speech.asr.front import FrontEnd
from speech.asr.segments import SegmentState
from speech.errors import BadSnapshot
from speech.model import state
from speech.model.state import Value

if TYPE_CHECKING:
    from speech.asr.recognizer import Recognizer, RecognizerStream

_TENSOR = "state."
_FRONT = "front."
_DECODER = "decoder."
_PER_NAT = np.float32(64.0)  # what log-probabilities are rounded to anyway (`acoustic`), so that nothing is lost
_MOST = 65535  # 1024 nats, which no path survives


def pack(stream: RecognizerStream) -> bytes:
    """A snapshot. Raises BadSnapshot if it does not fit in 256 KiB."""
    acoustic, segment = stream.acoustic, stream.segment
    values: dict[str, Value] = {
        "live": int(stream.live),
        "step_frames": acoustic.step_frames,
        "drop": acoustic.drop,
        "waiting": acoustic.waiting,
        "endpoint": np.array([int(x) for x in astuple(segment.endpoint)], np.int64),
        "frames": segment.frames,
        "first": segment.first,
        "number": segment.number,
        "opens": int(segment.opens),
        "turn_end_s": float(segment.turn_end_s),
        "speech": segment.speech,
    }
    values |= {_FRONT + name: value for name, value in stream.front.state().items()}
    values |= {_TENSOR + name: value for name, value in acoustic.tensors.items()}
    if hearing := segment.hearing.pack():
        values["hearing"] = hearing
    if segment.heard is not None:
        values["heard"] = np.minimum(np.rint(-segment.heard * _PER_NAT), _MOST).astype(np.uint16)
    if segment.decoder is not None:
        packed = segment.hearing.decoder.pack(segment.decoder)
        values |= {_DECODER + name: value for name, value in packed.items()}
    return state.pack(stream.recognizer.stamp, values)


def unpack(recognizer: Recognizer, blob: bytes) -> tuple[FrontEnd, AcousticState, SegmentState, bool]:
    """What a stream is made of. Raises BadSnapshot if the blob is damaged, of another version, or foreign."""
    values = state.unpack(blob, recognizer.stamp)
    try:
        live = bool(_number(values, "live"))
        front = FrontEnd.from_state(recognizer.logmel, _under(values, _FRONT))
        return front, _acoustic(values), _segment(recognizer, values, live), live
    except KeyError as error:
        raise BadSnapshot(f"the snapshot lacks {error}") from error


def _acoustic(values: Mapping[str, Value]) -> AcousticState:
    tensors = {name: np.asarray(value) for name, value in _under(values, _TENSOR).items()}
    waiting = np.asarray(values["waiting"], np.float32)
    return AcousticState(_number(values, "step_frames"), tensors, waiting, _number(values, "drop"))


def _segment(recognizer: Recognizer, values: Mapping[str, Value], live: bool) -> SegmentState:
    speaking, turn_open, segment_frames, silence_frames = (int(x) for x in np.asarray(values["endpoint"]))
    decoder = {name: np.asarray(value) for name, value in _under(values, _DECODER).items()}
    packed, heard = values.get("hearing", b""), values.get("heard")
    hearing = recognizer.hearings.unpack(packed if isinstance(packed, bytes) else b"")
    segment = SegmentState(
        hearing=hearing,
        endpoint=EndpointState(bool(speaking), bool(turn_open), segment_frames, silence_frames),
        decoder=hearing.decoder.unpack(decoder) if decoder else None,
        speech=np.asarray(values["speech"], np.int8),
        heard=None if heard is None else -np.asarray(heard).astype(np.float32) / _PER_NAT,
        frames=_number(values, "frames"),
        first=_number(values, "first"),
        number=_number(values, "number"),
        turn_end_s=float(np.asarray(values["turn_end_s"])),
        opens=bool(_number(values, "opens")),
    )
    return recognizer.segments.shown(segment) if live else segment


def _under(values: Mapping[str, Value], prefix: str) -> dict[str, Value]:
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}


def _number(values: Mapping[str, Value], name: str) -> int:
    return int(np.asarray(values[name]))
