"""Voices made from features: what moves, what stays, and what a frame is to learn after its tempo changed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from models.asr.augment import BIN_HZ, LOG_MEL, Augmenter, moved, scaled, voice
from models.asr.batches import IGNORE, Row, Store, collate

QUIET = Augmenter(None, 0.0, 0.0, 0.0, 0.0, (6.0, 30.0), 0.0, 0.0, 0.0, (0, 0))
AT = np.arange(LOG_MEL.bins)


def test_a_longer_vocal_tract_moves_a_formant_to_its_lower_frequency() -> None:
    formant = np.exp(-((AT - 40.0) ** 2) / 50.0).astype(np.float32)
    peak = int((formant @ voice(1.1, 0.0, 1.0, np.random.default_rng(1))).argmax())
    assert abs(BIN_HZ[peak] * 1.1 - BIN_HZ[40]) < BIN_HZ[41] - BIN_HZ[40]


def test_harmonics_move_by_their_own_factor_and_leave_the_envelope_alone() -> None:
    spacing = 5.0
    ripple = np.cos(2 * np.pi * AT / spacing).astype(np.float32)
    slope = np.linspace(1.0, -1.0, LOG_MEL.bins).astype(np.float32)
    low = slice(0, 20)  # where mel is nearly linear in hertz
    for pitch in (0.8, 1.25):
        change = (slope + ripple) @ voice(1.0, 0.0, pitch, np.random.default_rng(2))
        expected = ripple @ moved(scaled(pitch))
        assert np.corrcoef(change[low] - slope[low], expected[low])[0, 1] > 0.9
        assert np.corrcoef(change, slope)[0, 1] > 0.7


def test_a_level_stays_a_level_in_every_voice() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        changed = np.full((2, LOG_MEL.bins), 1.5, np.float32) @ voice(rng.uniform(0.86, 1.14), 1.0, 1.2, rng)
        np.testing.assert_allclose(changed, 1.5, atol=1e-4)


def store(folder: Path, soft: bool) -> Store:
    """One utterance of six label frames."""
    features = np.zeros((24, LOG_MEL.bins), np.float16)
    features.tofile(folder / "a.f16")
    (folder / "a.jsonl").write_text('{"offset": 0, "frames": 24}\n', encoding="utf-8")
    phones = np.array([1, 2], np.uint8)
    labels = np.array([0, 1, 1, 2, 2, 0], np.uint8)
    np.savez(folder / "a.labels.npz", labels=labels, offsets=[0, 6], phones=phones, phone_offsets=[0, 2])
    if soft:
        np.save(folder / "a.soft.npy", np.tile(np.array([0.2, 0.3, 0.5], np.float16), (6, 1)))
    return Store(folder, "a")


def test_a_frame_learns_its_label_or_what_the_teacher_says(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    hard = collate([store(tmp_path, soft=False).get(0, QUIET, rng)], delay=1, tokens=3)
    np.testing.assert_array_equal(hard.labels[0], [IGNORE, 0, 1, 1, 2, 2, 0])
    np.testing.assert_array_equal(hard.targets[0, 1:].argmax(-1), hard.labels[0, 1:])
    assert hard.targets[0, 0].sum() == 0
    assert (hard.targets[0, 1:].sum(-1) == 1).all()
    taught = collate([store(tmp_path, soft=True).get(0, QUIET, rng)], delay=1, tokens=3)
    np.testing.assert_allclose(taught.targets[0, 1:], np.tile([0.2, 0.3, 0.5], (6, 1)), atol=1e-3)
    assert taught.targets[0, 0].sum() == 0


def test_labels_and_teacher_go_with_the_tempo(tmp_path: Path) -> None:
    given = store(tmp_path, soft=False)
    given.soft = np.eye(3, dtype=np.float16)[given.labels]
    fast = Augmenter(None, 0.3, 0.0, 0.0, 0.0, (6.0, 30.0), 0.0, 0.0, 0.0, (0, 0))
    rows: list[Row] = [given.get(0, fast, np.random.default_rng(seed)) for seed in range(12)]
    assert len({len(row.labels) for row in rows}) > 1
    for row in rows:
        assert row.soft is not None
        np.testing.assert_array_equal(row.soft.argmax(-1), row.labels)
