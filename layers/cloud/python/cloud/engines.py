"""The recogniser of this process: loaded once, while the function starts, and shared by every recording after that."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from speech.asr.recognizer import Recognizer


@lru_cache(maxsize=1)
def recognizer(models_dir: str, bundle: str) -> Recognizer:
    """The recogniser of a bundle in a folder of bundles; `BadBundle` says what is wrong with one that is unusable."""
    from speech.asr.recognizer import Recognizer

    return Recognizer.load(Path(models_dir) / bundle)
