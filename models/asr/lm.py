"""Builds the trigram language model: text to spoken words, Kneser-Ney per style, mixed, pruned, written as ARPA.

    python -m models.asr.lm --config lm.toml --lexicon lexicon.tsv --out lm.arpa.gz

The configuration names groups of text files with a share each (see `lm.toml`). Words outside the lexicon are unknown
and take part in no n-gram. Of groups with `hold_out`, every so manieth line is kept for measuring. 165 million words
take 4 GB of memory.
"""

from __future__ import annotations

import argparse
import lzma
import tomllib
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from models.asr import short
from models.asr.backoff import mix, prune, write_arpa
from models.asr.ngram import END, START, UNKNOWN, KneserNey, Tokens
from models.asr.spoken import spoken


def read_lines(path: Path, column: int | None, skip_last: int = 0) -> Iterator[str]:
    """The lines of a text file (`.xz` or plain), or one column of a tab-separated one."""
    data = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    lines = data.decode().splitlines()
    for line in lines[: len(lines) - skip_last]:
        yield line if column is None else line.split("\t")[column]


def encode(lines: Iterable[str], number: dict[str, int]) -> Tokens:
    """Running text as word numbers, each line between `<s>` and `</s>`."""
    out = array("i")  # four bytes a word: books are hundreds of millions
    for line in lines:
        words = spoken(line)
        if words:
            out.append(START)
            out.extend([number.get(w, UNKNOWN) for w in words])
            out.append(END)
    return np.array(out, np.int32)


def split(lines: Iterable[str], every: int) -> tuple[Iterator[str], list[str]]:
    """The lines to learn from, and a list that every `every`th line goes to instead (0: none) as they are read."""
    held: list[str] = []

    def learnt() -> Iterator[str]:
        for n, line in enumerate(lines):
            if every and n % every == 0:
                held.append(line)
            else:
                yield line

    return learnt(), held


def files(root: Path, pattern: str) -> list[Path]:
    """The files of a pattern, in order. Raises FileNotFoundError if there are none: no text goes missing unnoticed."""
    if found := sorted(root.glob(pattern)):
        return found
    raise FileNotFoundError(f"{root}: expected files {pattern}, found none")


def group_text(group: dict[str, Any], root: Path) -> Iterator[str]:
    """All lines of a configured group, each file as often as its `times` says."""
    for source in group.get("text", []):
        for path in files(root, source["files"]):
            for _ in range(source.get("times", 1)):
                yield from read_lines(path, source.get("column"), source.get("skip_last", 0))
    if "invented" in group:
        yield from short.utterances(group["invented"])


def read_vocabulary(config: dict[str, Any], lexicon: Path, root: Path) -> list[str]:
    """Words of the configured lists and transcripts that the lexicon can pronounce, after the three markers."""
    wanted = {line.split()[0] for path in config["words"] for line in (root / path).read_text().splitlines()}
    for source in config["transcripts"]:
        for path in files(root, source["files"]):
            for line in read_lines(path, source["column"], source.get("skip_last", 0)):
                wanted.update(spoken(line))
    known = {line.split("\t")[0] for line in lexicon.read_text().splitlines()}
    wanted |= {w for line in short.utterances(20000) for w in line.split()}
    return ["<unk>", "<s>", "</s>", *sorted(wanted & known)]


def main() -> None:
    """Reads the configuration and the text, writes the model and prints its size and perplexities."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, default=Path(__file__).with_name("lm.toml"))
    parser.add_argument("--data", type=Path, required=True, help="folder that the configured paths are relative to")
    parser.add_argument("--lexicon", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    config = tomllib.loads(args.config.read_text())
    words = read_vocabulary(config, args.lexicon, args.data)
    number = {w: i for i, w in enumerate(words)}
    models, shares, cutoffs, tests = [], [], [], {}
    for name, group in config["groups"].items():
        lines, held = split(group_text(group, args.data), group.get("hold_out", 0))
        tokens = encode(lines, number)
        print(f"{name}: {len(tokens)} words, {100 * (tokens == UNKNOWN).mean():.2f} % unknown", flush=True)
        models.append(KneserNey(tokens, len(words)))
        shares.append(group["share"])
        cutoffs.append((group.get("pairs", 1), group["cutoff"]))
        if held:
            tests[name] = encode(held, number)
    for test in config["tests"]:
        tests[test["name"]] = encode(read_lines(args.data / test["file"], test.get("column")), number)
    model = mix(models, shares, words, cutoffs)
    report("unpruned", model, tests)
    model = prune(model, models, shares, config["prune"]["trigrams"], config["prune"]["bigrams"])
    report("pruned", model, tests)
    write_arpa(model, args.out)


def report(title: str, model: Any, tests: dict[str, Tokens]) -> None:
    """Prints the numbers of n-grams and the perplexity on each test text."""
    results = ", ".join(f"{name} {model.perplexity(tokens):.1f}" for name, tokens in tests.items())
    print(f"{title}: {len(model.two)} bigrams, {len(model.three)} trigrams; perplexity {results}", flush=True)


if __name__ == "__main__":
    main()
