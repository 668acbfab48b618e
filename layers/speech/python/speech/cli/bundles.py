"""Finds the model bundle of a command: the one named, else the installed one, else that of the repository."""

from __future__ import annotations

from pathlib import Path

from speech.errors import BadBundle

DEFAULT = "asr-en-v1"
_REPOSITORY = Path(__file__).resolve().parents[5] / "models" / "bundles"
PLACES = (_REPOSITORY, Path("/opt/models"))  # a checkout, a Lambda layer or container


def find(named: str | None) -> Path:
    """The folder of a bundle. Raises BadBundle with the places that were looked at."""
    if named is not None:
        return Path(named)
    for place in PLACES:
        if (place / DEFAULT).is_dir():
            return place / DEFAULT
    looked = ", ".join(str(place / DEFAULT) for place in PLACES)
    raise BadBundle(f"no bundle found; looked for {looked}. Name one with --bundle")
