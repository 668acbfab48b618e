"""How far the front end agrees with phonemes that another one wrote: the corpus of the voices.

    python -m models.tts.agreement --bundle models/bundles/lexicon-en-v1 --sentences sentences.tsv

`sentences.tsv`: id, source, text, phonemes, in columns.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from speech.tts.g2p.pronouncer import Pronouncer
from speech.tts.script import Script, line

from models.tts.measure import distance


def main() -> None:
    """Prints the shares of sentences and words that differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bundle", type=Path, required=True)
    parser.add_argument("--sentences", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1, help="only every so-manieth sentence")
    args = parser.parse_args()
    script = Script(Pronouncer.load(args.bundle))
    rows = [row.split("\t") for row in args.sentences.read_text(encoding="utf-8").splitlines()][:: args.every]
    sentences = words = edits = 0
    for _, _, text, phonemes in rows:
        said = " ".join(line(clause.words)[0] for clause in script.clauses(text))
        sentences += said != phonemes
        words += len(phonemes.split())
        edits += distance(phonemes.split(), said.split())
    result = {"sentences": len(rows), "sentences_that_differ": sentences / len(rows), "word_difference": edits / words}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
