"""The phone error rate that training is followed by, on cases counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from models.asr.phone_error import distance, greedy

WORDS = [[[1, 2], [1, 3, 2]], [[4]]]  # the first word has two pronunciations


def test_repetitions_are_one_phone_and_a_blank_parts_two() -> None:
    log_probs = np.eye(5, dtype=np.float32)[[0, 1, 1, 0, 1, 2, 2, 0]]
    assert greedy(log_probs).tolist() == [1, 1, 2]


@pytest.mark.parametrize(
    ("heard", "expected"),
    [
        ([1, 2, 4], (0, 3)),
        ([1, 3, 2, 4], (0, 4)),  # the nearer pronunciation, and its length
        ([1, 2, 2, 4], (1, 3)),  # one too many for the shorter is one wrong for the longer: the shorter counts
        ([4], (2, 3)),
        ([], (3, 3)),
        ([1, 2, 4, 4, 4], (2, 3)),
    ],
)
def test_distance_to_the_nearest_pronunciation(heard: list[int], expected: tuple[int, int]) -> None:
    assert distance(np.array(heard, np.int64), WORDS) == expected
