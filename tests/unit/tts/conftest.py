"""What the tests of the front end share: readable words, and the tables beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from speech.tts.normalise import SpokenWord

HERE = Path(__file__).parent


def shown(words: Sequence[SpokenWord]) -> str:
    """Words as the tables write them: letters in capitals, * after emphasis, then the sign."""
    out = []
    for word in words:
        letter, tick, tail = word.text.partition("'")
        text = letter.upper() + tick + tail if word.letters else word.text
        out.append(text + ("*" if word.emphasis else "") + word.after)
    return " ".join(out)


def table(name: str) -> list[tuple[str, str]]:
    """(written, spoken) of each row of a table."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    rows = [line.rsplit("\t", 1) for line in lines if line and not line.startswith("# ")]
    return [(row[0], row[1]) for row in rows]
