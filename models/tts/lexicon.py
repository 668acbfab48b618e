"""Builds the pronunciation bundle: the lexicon as one sorted file, and the letter-to-sound model trained on it.

    python -m models.tts.lexicon --gold us_gold.json --silver us_silver.json --out models/bundles/lexicon-en-v1

The two files are misaki's American lexicons (PyPI `misaki`, Apache-2.0, misaki/data/). The model is trained
without some words of the gold lexicon and measured on them. The lexicon has them, so the model that ships need not.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tomllib
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from speech.model.bundle import Manifest, write_manifest
from speech.model.config import read_config
from speech.pronunciation.phonemes import SYMBOLS, VOWELS

from models.tts.letters import train
from models.tts.measure import errors

Misaki = dict[str, str | dict[str, str | None]]  # word -> phonemes, or phonemes by part of speech
SPELLING = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)*'?|'[A-Za-z]+|(?:[A-Za-z]\.)+|[A-Za-z]+\.")


@dataclass(frozen=True)
class Settings:
    """lexicon.toml."""

    id: str
    language: str
    order: int
    rounds: int
    rarest: int
    keep: tuple[int, ...]
    hold_out: int
    seed: int


def readable(lexicon: Misaki) -> dict[str, dict[str, str]]:
    """Entries whose spelling the front end can ask for, accents folded: word -> phonemes by part of speech."""
    out: dict[str, dict[str, str]] = {}
    for word, entry in lexicon.items():
        spelt = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
        tags = entry if isinstance(entry, dict) else {"DEFAULT": entry}
        said = {tag: p for tag, p in tags.items() if p and set(p) <= SYMBOLS}
        if SPELLING.fullmatch(spelt) and said.get("DEFAULT") and (spelt == word or spelt not in lexicon):
            out[spelt] = said
    return out


def lines(lexicon: dict[str, dict[str, str]]) -> list[str]:
    """`word TAB phonemes` with ` TAB TAG=phonemes` for each other pronunciation; sorted as bytes."""
    out = []
    for word, said in lexicon.items():
        usual = said["DEFAULT"]
        others = [f"{tag}={p}" for tag, p in sorted(said.items()) if tag != "DEFAULT" and p != usual]
        out.append("\t".join([word, usual, *others]))
    return sorted(out, key=lambda line: line.split("\t")[0].encode())


def examples(lexicon: dict[str, dict[str, str]]) -> list[tuple[str, str]]:
    """Words to learn from: spelt with letters only, not in capitals, with a vowel that is heard."""
    out: dict[str, str] = {}
    for word, said in lexicon.items():
        usual = said["DEFAULT"]
        if word.isalpha() and len(word) > 2 and not word[1:].isupper() and any(v in usual for v in VOWELS):
            out.setdefault(word.lower(), usual)
    return list(out.items())


def held_out(gold: dict[str, dict[str, str]], settings: Settings) -> set[str]:
    """The words that the model does not see."""
    words = sorted(word for word, _ in examples(gold))
    random.Random(settings.seed).shuffle(words)
    return set(words[:: settings.hold_out])


def main() -> None:
    """Reads the two lexicons and writes the bundle."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gold", type=Path, required=True, help="misaki's us_gold.json")
    parser.add_argument("--silver", type=Path, required=True, help="misaki's us_silver.json")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--config", type=Path, default=Path(__file__).with_suffix(".toml"))
    args = parser.parse_args()
    settings = read_config(Settings, tomllib.loads(args.config.read_text()), args.config.name)
    gold, silver = (readable(json.loads(path.read_text(encoding="utf-8"))) for path in (args.gold, args.silver))
    everything = silver | gold
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "lexicon.txt").write_text("\n".join(lines(everything)) + "\n", encoding="utf-8")
    unseen = held_out(gold, settings)
    learned = [entry for entry in examples(everything) if entry[0] not in unseen]
    model = train(learned, settings.order, settings.rounds, settings.keep, settings.rarest)
    model.save(args.out / "letters.npz")
    measured = errors((said, model.pronounce(word)) for word, said in examples(everything) if word in unseen)
    print(json.dumps(measured))
    write_manifest(args.out, manifest(settings, len(everything), measured))


def manifest(settings: Settings, entries: int, measured: dict[str, float]) -> Manifest:
    """What the bundle says about itself."""
    return Manifest(
        schema_version=1,
        id=settings.id,
        task="pronunciation",
        language=settings.language,
        files={"lexicon.txt": "", "letters.npz": ""},
        licences=("misaki lexicons: Apache-2.0",),
        training_data=("misaki us_gold.json and us_silver.json",),
        measured={"entries": entries, "letter_to_sound": measured, "command": "python -m models.tts.lexicon"},
    )


if __name__ == "__main__":
    main()
