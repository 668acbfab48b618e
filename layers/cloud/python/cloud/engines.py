"""The models of this process, each loaded once: the recogniser while a function starts, the voice at its first use."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from speech.asr.recognizer import Recognizer
    from speech.tts.synthesizer import Synthesizer


@lru_cache(maxsize=1)
def recognizer(models_dir: str, bundle: str) -> Recognizer:
    """The recogniser of a bundle in a folder of bundles; `BadBundle` says what is wrong with one that is unusable."""
    from speech.asr.recognizer import Recognizer

    return Recognizer.load(Path(models_dir) / bundle)


@lru_cache(maxsize=1)
def synthesizer(models_dir: str, bundle: str) -> Synthesizer:
    """The synthesiser of a bundle in a folder of bundles; `BadBundle` says what is wrong with one that is unusable."""
    from speech.tts.synthesizer import Synthesizer

    return Synthesizer.load(Path(models_dir) / bundle)
