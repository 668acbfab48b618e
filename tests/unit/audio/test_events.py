"""The committed recordings are what their answers say, and small."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from speech.audio.files import open_audio

FOLDER = Path(__file__).parents[3] / "events" / "audio"
ANSWERS = json.loads((FOLDER / "answers.json").read_text(encoding="utf-8"))


def test_every_recording_has_an_answer_and_all_are_small() -> None:
    recordings = {path.name for path in FOLDER.iterdir()} - {"README.md", "answers.json"}
    assert recordings == set(ANSWERS)
    assert len(recordings) >= 6
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1_500_000
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in readme for name in recordings)


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_a_recording_is_what_its_answer_says(name: str) -> None:
    answer = ANSWERS[name]
    with (FOLDER / name).open("rb") as file, open_audio(file, allow_av=False) as audio:
        sound = np.concatenate(list(audio.blocks(8000)))
        assert (audio.rate, audio.channels, audio.warnings) == (answer["rate"], answer["channels"], [])
    assert bool(answer["text"]) == (np.abs(sound).max() > 0.1)
    seconds_per_word = len(sound) / audio.rate / max(1, len(answer["text"].split()))
    assert 0.2 < seconds_per_word < 0.5 or not answer["text"]
    for channel, text in enumerate(answer.get("channel_texts", [])):
        assert np.abs(sound[:, channel]).max() > 0.1
        assert text
