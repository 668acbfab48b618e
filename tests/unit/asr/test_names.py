"""Invented product names in speech: missed without a vocabulary, found with it, and nothing else the worse for it.

The recordings were made by this repository's own voice: `python -m speech say --voice heart -o zyntrix.ogg --encoding
ogg_opus` with the sentences below.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import soundfile as sf
from speech.asr.options import StreamOptions
from speech.asr.recognizer import Recognizer
from speech.events import Final

HERE = Path(__file__).parent
BUNDLE = HERE.parents[2] / "models" / "bundles" / "asr-en-v1"
SENTENCES = {
    "Zyntrix": "i would like to cancel my zyntrix subscription",
    "Kalvanto": "please send the kalvanto manual to my office",
    "Lumigrid": "we ordered two boxes of lumigrid last week",
    "Sandriva": "can you tell me how sandriva works with my account",
}
OTHERS = ["Vorticon", "Bremora", "Quibbleton", "Amber Falcon", "Blue Lantern Savings", "Halbrite", "GPU", "O'Hara"]


@pytest.fixture(scope="module")
def recognizer() -> Recognizer:
    return Recognizer.load(BUNDLE, verify=False)


def heard(recognizer: Recognizer, name: str, options: StreamOptions | None) -> list[Final]:
    samples, rate = sf.read(HERE / "names" / f"{name.lower()}.ogg", dtype="float32")
    stream = recognizer.stream(rate, options=options)
    events = [event for chunk in np.array_split(samples, 25) for event in stream.receive(chunk)] + stream.finish()
    return [event for event in events if isinstance(event, Final)]


def missed(name: str, finals: list[Final]) -> int:
    """How many words of the sentence, its name apart, were not heard."""
    wanted = Counter(SENTENCES[name].replace(name.lower(), "").split())
    return (wanted - Counter(word.text for final in finals for word in final.words)).total()


@pytest.mark.parametrize("name", SENTENCES)
def test_a_name_goes_from_missed_to_found_and_the_rest_is_no_worse(recognizer: Recognizer, name: str) -> None:
    plain = heard(recognizer, name, None)
    own = heard(recognizer, name, StreamOptions.read({"vocabulary": [*OTHERS, *SENTENCES]}))
    assert name.lower() not in " ".join(final.raw_text for final in plain)
    assert name in " ".join(final.text for final in own)
    said = {word.text for final in own for word in final.words}
    assert not said & {other.lower() for other in (*OTHERS, *SENTENCES) if other != name}
    assert missed(name, own) <= missed(name, plain)


def test_alternatives_of_real_speech_are_told_with_finals(recognizer: Recognizer) -> None:
    finals = heard(recognizer, "Lumigrid", StreamOptions.read({"alternatives": 4}))
    assert all(len(final.alternatives) == 4 for final in finals)
    assert all(other.text and other.words for final in finals for other in final.alternatives)
