"""Segments in which nobody spoke are not told: the tiny bundle with a detector of three phones: gag is a bark to it."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from speech.asr.evidence import ENOUGH, HOLD, SURE, evidence, spoken
from speech.asr.hypothesis import DecodedWord
from speech.asr.recognizer import Recognizer
from speech.errors import BadBundle
from speech.events import Event, Final, Partial
from speech.model.bundle import Bundle, write_manifest

from tests.tiny import acoustic
from tests.tiny.build import FOLDER
from tests.tiny.sound import say

MIN_SPEECH = 6.0  # nats: what tones are heard as is sure
WORDS = say("cat 1.2 gag 1.2 oak tad 1.2 gag", before_s=0.7, after_s=1.0)


def with_detector() -> bytes:
    """The tiny graph with `speech`: -3 nats, and 9 times the probability of k, t or d in the frame."""
    model = onnx.load_from_string(acoustic.build())
    spoken_phones = np.array([acoustic.TOKENS.index(phone) for phone in "ktd"])
    constants = {"ktd": spoken_phones, "nine": np.float32(9), "three": np.float32(3), "phones": np.array([2])}
    model.graph.initializer.extend(numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items())
    model.graph.node.extend([
        helper.make_node("Gather", ["log_probs", "ktd"], ["of_ktd"], axis=2),
        helper.make_node("Exp", ["of_ktd"], ["p_ktd"]),
        helper.make_node("ReduceSum", ["p_ktd", "phones"], ["p"], keepdims=0),
        helper.make_node("Mul", ["p", "nine"], ["found"]),
        helper.make_node("Sub", ["found", "three"], ["speech"]),
    ])  # fmt: skip
    model.graph.output.append(helper.make_tensor_value_info("speech", TensorProto.FLOAT, ["B", "L"]))
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString())


def bundle(folder: Path, min_speech: float | None, detector: bool = True) -> Path:
    shutil.copytree(FOLDER, folder / "tones")
    if detector:
        (folder / "tones" / "acoustic.onnx").write_bytes(with_detector())
    manifest = replace(Bundle.load(FOLDER).manifest, settings={"min_speech": min_speech})
    write_manifest(folder / "tones", manifest)
    return folder / "tones"


@pytest.fixture(scope="module")
def recognizer(tmp_path_factory: pytest.TempPathFactory) -> Recognizer:
    return Recognizer.load(bundle(tmp_path_factory.mktemp("detector"), MIN_SPEECH))


def events_of(recognizer: Recognizer, live: bool = True) -> list[Event]:
    stream = recognizer.stream(live=live)
    return stream.receive(WORDS) + stream.finish()


def finals(events: list[Event]) -> list[str]:
    return [event.raw_text for event in events if isinstance(event, Final)]


@pytest.mark.parametrize("live", [True, False])
def test_what_was_not_spoken_gives_no_final_no_partial_and_no_number(recognizer: Recognizer, live: bool) -> None:
    events = events_of(recognizer, live)
    assert finals(events) == ["cat", "oak tad"]
    assert [e.segment for e in events if isinstance(e, Final)] == [0, 1]
    assert not any(word.text == "gag" for e in events if isinstance(e, Partial) for word in e.words)


def test_without_a_threshold_the_detector_is_not_asked(tmp_path: Path) -> None:
    assert finals(events_of(Recognizer.load(bundle(tmp_path, None)))) == ["cat", "gag", "oak tad", "gag"]


def test_a_threshold_without_a_detector_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadBundle, match=r"settings\.min_speech needs a graph with the output 'speech', it has none"):
        Recognizer.load(bundle(tmp_path, 0.0, detector=False))


@settings(max_examples=10, deadline=None)
@given(cuts=st.lists(st.integers(0, len(WORDS)), max_size=12), live=st.booleans())
def test_put_down_and_taken_up_at_any_points_gives_the_same_events(cuts: list[int], live: bool) -> None:
    recognizer = shared()
    stream, events = recognizer.stream(live=live), []
    for part in np.split(WORDS, sorted(cuts)):
        events += stream.receive(part)
        stream = recognizer.resume(stream.snapshot())
    assert events + stream.finish() == events_of(recognizer, live)


@cache
def shared() -> Recognizer:
    """The same bundle for hypothesis, which takes no fixtures of a module."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return Recognizer.load(bundle(Path(folder), MIN_SPEECH))


def test_the_best_frames_of_words_and_of_the_hold_after_them_count_and_no_others() -> None:
    speech = np.full(60, -100, np.int8)
    speech[10:15] = 32
    speech[15 : 15 + HOLD] = 16
    speech[30:38] = 120  # between the words
    speech[40:44] = 48
    words = [DecodedWord("a", 10, 15, 0.5), DecodedWord("b", 40, 42, 0.5)]
    assert spoken(words, speech) == pytest.approx((4 * 3 + 5 * 2 + (ENOUGH - 9) * 1) / ENOUGH)
    assert spoken(words[:1], speech) == pytest.approx((5 * 2 + (ENOUGH - 5)) / ENOUGH)
    assert spoken(words[:1], speech[:12]) == pytest.approx(2.0)


def test_a_word_that_is_sure_needs_less_of_the_detector() -> None:
    speech = np.zeros(20, np.int8)
    assert spoken([DecodedWord("a", 0, 5, 0.9)], speech) == pytest.approx(SURE * np.log(9))
    assert spoken([DecodedWord("a", 0, 5, 0.1)], speech) == pytest.approx(-SURE * np.log(9))
    assert spoken([DecodedWord("a", 0, 5, 1.0)], speech) == pytest.approx(SURE * np.log(99))


def test_evidence_is_rounded_to_sixteenths_and_kept_within_eight_nats() -> None:
    found = evidence(np.array([0.0, 1.0, -0.03, 0.04, 100.0, -100.0], np.float32))
    assert found.tolist() == [0, 16, 0, 1, 127, -127]
