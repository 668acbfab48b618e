"""Turns recordings into stores of log-mel features for training: `python -m models.asr.corpus OUT NAME=SOURCE ...`.

A SOURCE is a folder in LibriSpeech's layout (SPEAKER/CHAPTER/*.flac and *.trans.txt), or a manifest of tab-separated
path, seconds, speaker, text (paths relative to it), or a synthesised corpus `NAME.tsv` whose exact durations lie
beside it in `NAME.npz` and whose sounds in `--sounds`/NAME. A store is OUT/NAME.f16 (frames, 80) and OUT/NAME.jsonl.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import soundfile as sf
import soxr
from numpy.typing import NDArray
from speech.features.logmel import LogMel

from models.asr.phones import PHONE_MAP, PHONES

RATE = 16000
WORD = re.compile(r"[a-z]+(?:'[a-z]+)*")
MAX_SECONDS = 24.0  # longer utterances waste padding


@dataclass
class Utterance:
    """One line of a store's index. `offset` and `frames` point into the feature file."""

    id: str
    speaker: str
    text: str  # lower-case words
    offset: int = 0
    frames: int = 0
    phones: str | None = None  # exact phones, where the speech was synthesised; blank is written "_"
    ends_ms: list[float] | None = None  # end of each of `phones`


def words_of(text: str) -> str | None:
    """Lower-case words of a transcript, or None if it holds digits or symbols whose reading is not known."""
    text = text.lower().replace("’", "'").replace("--", " ").replace("-", " ")
    if re.search(r"[0-9$%&@#/*+=<>]", text):
        return None
    return " ".join(WORD.findall(text)) or None


def manifest_rows(path: Path) -> Iterator[tuple[Path, str, str, str]]:
    """(sound file, id, speaker, text) of a manifest."""
    for line in path.read_text(encoding="utf-8").splitlines():
        name, _, speaker, text = line.split("\t")
        yield path.parent / name, name, speaker, text


def librispeech_rows(folder: Path) -> Iterator[tuple[Path, str, str, str]]:
    """(sound file, id, speaker, text) of a folder in LibriSpeech's layout."""
    for transcript in sorted(folder.rglob("*.trans.txt")):
        for line in transcript.read_text(encoding="utf-8").splitlines():
            name, text = line.split(" ", 1)
            yield transcript.parent / f"{name}.flac", name, name.split("-")[0], text


def exact_phones(phonemes: str, durations: NDArray[np.int16], unit_ms: float = 25.0) -> tuple[str, list[float]]:
    """Phones of a synthesised sentence and the end of each, from one duration per symbol and one per outer pad.

    Punctuation and blanks become "_". A symbol that the phone set drops (stress) gives its time to the one before it.
    """
    symbols, ends = ["_"], [float(durations[0]) * unit_ms]
    for symbol, duration in zip(phonemes + "$", durations[1:], strict=True):
        end = ends[-1] + float(duration) * unit_ms
        phone = symbol.translate(PHONE_MAP) if symbol not in " $" else "_"
        phone = phone if phone in PHONES else "_"  # any other symbol is punctuation
        if symbol in "ˈˌː" or phone == "":
            ends[-1] = end
            continue
        symbols.append(phone)
        ends.append(end)
    return "".join(symbols), ends


def synthetic_rows(path: Path, sounds: Path) -> Iterator[tuple[Path, Utterance]]:
    data = np.load(path.with_suffix(".npz"))
    row_of = {name: i for i, name in enumerate(data["ids"].tolist())}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, _, speaker, _, text, phonemes = line.split("\t")
        first, last = (int(data["offsets"][row_of[name] + k].ravel()[0]) for k in (0, 1))
        phones, ends = exact_phones(phonemes, data["dur"][first:last])
        words = words_of(text)
        if words:
            yield sounds / f"{name}.ogg", Utterance(f"{path.stem}/{name}", speaker, words, 0, 0, phones, ends)


def load(path: Path, rate: int = RATE) -> NDArray[np.float32]:
    """Mono samples at `rate` Hz."""
    samples, own = sf.read(path, dtype="float32", always_2d=True)
    mono = samples.mean(axis=1)
    return mono if own == rate else soxr.resample(mono, own, rate)


def build(out: Path, name: str, rows: Iterator[tuple[Path, Utterance]]) -> None:
    """Write one store; report what was left out."""
    log_mel, offset, kept, dropped = LogMel(), 0, 0, 0
    with open(out / f"{name}.f16", "wb") as features, open(out / f"{name}.jsonl", "w", encoding="utf-8") as index:
        for path, utterance in rows:
            samples = load(path)
            if not 0.4 <= len(samples) / RATE <= MAX_SECONDS:
                dropped += 1
                continue
            frames = log_mel.batch(samples).astype(np.float16)
            utterance.offset, utterance.frames = offset, len(frames)
            features.write(frames.tobytes())
            index.write(json.dumps(asdict(utterance), ensure_ascii=False) + "\n")
            offset += len(frames)
            kept += 1
    print(f"{name}: {kept} utterances, {offset / 360000:.2f} h, {dropped} too short or too long", flush=True)


def source_rows(source: Path, sounds: Path | None, skip_last: int = 0) -> Iterator[tuple[Path, Utterance]]:
    if source.with_suffix(".npz").is_file() and sounds:
        yield from synthetic_rows(source, sounds / source.stem)
        return
    rows = list(librispeech_rows(source) if source.is_dir() else manifest_rows(source))
    for path, name, speaker, text in rows[: len(rows) - skip_last]:
        words = words_of(text)
        if words:
            yield path, Utterance(name, speaker, words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("sources", nargs="+", metavar="NAME=SOURCE")
    parser.add_argument("--sounds", type=Path, help="folder that holds the sounds of synthesised corpora")
    parser.add_argument("--skip-last", type=int, default=0, help="rows kept out at the end of each manifest")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for entry in args.sources:
        name, _, source = entry.partition("=")
        build(args.out, name, source_rows(Path(source), args.sounds, args.skip_last))


if __name__ == "__main__":
    main()
