"""What others need for the same work in the same run: Whisper for words, Piper and Kokoro for speech.

They live in .venv-bench, in processes of their own, on one thread as we do.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from speech.cli import bench, measures_say
from speech.tts.g2p.pronouncer import Pronouncer
from speech.tts.script import Script, line
from speech.tts.sentences import Piece

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv-bench" / "bin" / "python"
HERE = Path(__file__).parent
COMMAND = "python -m tests.bench"
TIMES_FASTER_THAN_TINY = 4
EVERY = 10  # of the hundred sentences: Kokoro takes half a minute for each minute that it speaks


def _run(script: str, arguments: list[str], given: str = "") -> dict[str, Any]:
    command = [PYTHON, HERE / script, *arguments]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True, input=given)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def whisper(files: list[Path], own_rtf: float | None) -> Iterator[bench.Row]:
    """RTF of whisper tiny and base, and how many times faster than tiny we are."""
    found = _run("whisper_peer.py", [str(path) for path in files])
    for name, numbers in found.items():
        yield bench.Row(f"{name}_rtf", numbers["rtf"], "x", "", COMMAND)
    if own_rtf:
        faster = found["whisper_tiny"]["rtf"] / own_rtf
        yield bench.Row("times_faster_than_tiny", faster, "x", f"{TIMES_FASTER_THAN_TINY} or more", COMMAND)


def voices(lexicon: Path, own_rtf: float | None) -> Iterator[bench.Row]:
    """RTF and time to the first sound of Piper and Kokoro, and how many times faster than Piper we are."""
    script = Script(Pronouncer.load(lexicon))
    sentences = []
    for text in measures_say.sentences()[::EVERY]:
        clause = script.clause(Piece(text, 0, "sentence"))
        sentences.append({"text": text, "phonemes": line(clause.words)[0] + "." if clause else "."})
    found = _run("voice_peer.py", [], json.dumps(sentences))
    for name, numbers in found.items():
        yield bench.Row(f"{name}_rtf", numbers["rtf"], "x", "", COMMAND)
        yield bench.Row(f"{name}_first_audio_p50", numbers["first_ms"], "ms", "", COMMAND)
    if own_rtf:
        yield bench.Row("times_faster_than_piper", found["piper"]["rtf"] / own_rtf, "x", "more than 1", COMMAND)
