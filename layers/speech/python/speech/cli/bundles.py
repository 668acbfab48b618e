"""Finds the model bundle of a command: the one named, else the installed one, else that of the repository."""

from __future__ import annotations

from pathlib import Path

from speech.errors import BadBundle

DEFAULT, SYNTHESIS = "asr-en-v1", "tts-en-v1"
_REPOSITORY = Path(__file__).resolve().parents[5] / "models" / "bundles"
PLACES = (_REPOSITORY, Path("/opt/models"))  # a checkout, a Lambda layer or container


def find(named: str | None, default: str = DEFAULT) -> Path:
    """The folder of a bundle. Raises BadBundle with the places that were looked at."""
    if named is not None:
        return Path(named)
    for place in PLACES:
        if (place / default).is_dir():
            return place / default
    looked = ", ".join(str(place / default) for place in PLACES)
    raise BadBundle(f"no bundle found; looked for {looked}. Name one with --bundle")
