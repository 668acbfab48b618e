"""The judge of the load test finds what it is there to find."""

from __future__ import annotations

from typing import Any

import pytest

from tests.bench.evidence import Sample, growth, judged

TURNS = ["cat dog", "go", "oak tad"]


def records(turns: list[str] = TURNS) -> list[dict[str, Any]]:
    """What comes back of a stream that was heard as it was said."""
    told: list[dict[str, Any]] = [{"type": "started"}]
    for turn in turns:
        told += [{"type": "partial", "text": turn}, {"type": "final", "raw_text": turn}, {"type": "turn_end"}]
    told.append({"type": "done", "audio_s": 12.0})
    return [record | {"stream": "speech", "number": number, "received": number} for number, record in enumerate(told)]


def faults(heard: list[dict[str, Any]]) -> tuple[int, tuple[str, ...]]:
    verdict = judged(TURNS, 12.0, heard)
    assert verdict.turns == len(TURNS)
    return verdict.wrong, verdict.faults


def test_what_was_said_is_right_in_any_order_and_told_twice() -> None:
    told = records()
    assert faults(told) == (0, ())
    assert faults([*reversed(told), told[2] | {"repeat": True}]) == (0, ())


@pytest.mark.parametrize("heard", [["cat dog", "oak tad"], ["cat dog", "go", "go"], [*TURNS, "cat"], ["cat dog"] * 2])
def test_a_turn_that_is_lost_or_foreign_is_wrong(heard: list[str]) -> None:
    assert faults(records(heard))[0] > 0


def test_a_record_that_is_lost_or_of_another_stream_or_a_refusal_is_a_fault() -> None:
    told = records()
    assert faults(told[:4] + told[5:]) == (0, ("records [4] are missing",))
    assert faults([*told, told[4] | {"text": "tad"}]) == (0, ("two records have number 4",))
    assert faults([*told, {"type": "error", "code": "busy", "message": "send it again"}])[1] == (
        "error busy: send it again",
    )


def test_a_stream_that_ends_early_or_never_is_a_fault() -> None:
    assert faults(records()[:-1])[1] == ("the stream ended at [] s, not once at 12.000 s",)
    assert faults([*records()[:-1], records()[-1] | {"audio_s": 9.6}])[1] == (
        "the stream ended at [9.6] s, not once at 12.000 s",
    )


def test_growth_is_that_of_the_one_process_that_grew_and_idle_ones_do_not_hide_it() -> None:
    idle = {f"Socket {pid}": 100.0 for pid in range(50)}
    first, last = Sample(1000, idle | {"Socket 77": 100.0}), Sample(3000, idle | {"Socket 77": 120.0})
    ratio, each = growth([first, Sample(2000, {}), last], "Socket")
    assert ratio == pytest.approx(1.2)
    assert each == pytest.approx(20 * 2**20 / 2000)


def test_a_process_that_did_not_live_through_it_proves_nothing() -> None:
    first, last = Sample(10, {"Socket 1": 100.0, "emulator 3": 9.0}), Sample(20, {"Socket 2": 90.0, "emulator 3": 9.0})
    assert growth([first, last], "Socket") == (float("inf"), float("inf"))
    assert growth([first, last], "emulator") == (1.0, 0.0)
