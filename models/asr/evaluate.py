"""Word error rates of an exported bundle through the product's own recogniser, in live chunks of 160 ms.

    python -m models.asr.evaluate BUNDLE dev=dev.tsv dev2=dev2.tsv [--telephone | --noise ESC-10 [--snr 10]] ...

A manifest has the tab-separated columns path (relative to it), seconds, speaker, text. Both sides pass Whisper's
English normaliser. --vocabulary gives every stream a custom vocabulary (a phrase a line). --telephone sends the audio
at 8 kHz through mu-law and a band of 300 to 3400 Hz, --noise puts it into a room beside a folder's clips that training
never heard. Prints a table and one JSON line; --hypotheses writes path and text of every utterance, a file a manifest.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from functools import partial
from pathlib import Path

import jiwer
import soundfile as sf
from speech.asr.options import StreamOptions
from speech.asr.recognizer import Recognizer
from speech.asr.vocabulary import CustomVocabulary
from whisper_normalizer.english import EnglishTextNormalizer

from models.asr import damage
from models.asr.live import finals
from models.asr.noises import clips

_recognizer: Recognizer | None = None
_options: StreamOptions | None = None
_damage: damage.Damage | None = None


def load(path: Path) -> tuple[damage.Samples, int]:
    """Mono samples (n,) and their rate, Hz."""
    samples, rate = sf.read(path, dtype="float32", always_2d=True)
    return samples.mean(axis=1), rate


def prepare(bundle: Path, vocabulary: Path | None, telephone: bool, noise: Path | None, snr_db: float) -> None:
    global _recognizer, _options, _damage  # noqa: PLW0603 - one recogniser a worker process
    _recognizer = Recognizer.load(bundle, verify=False)
    if telephone:
        _damage = damage.telephone
    elif noise is not None:
        _damage = damage.noisy_room(clips(noise, held_out=True), snr_db)
    if vocabulary is not None:
        _options = StreamOptions(CustomVocabulary.parse(vocabulary.read_text(encoding="utf-8")))
        _recognizer.hearings.of(_options)


def recognise(numbered: tuple[int, list[str]], folder: Path) -> tuple[str, str, float, float]:
    """(path, spoken words, seconds of audio, seconds of work) of a manifest's row."""
    assert _recognizer is not None
    number, row = numbered
    samples, rate = load(folder / row[0])
    if _damage is not None:
        samples, rate = _damage(samples, rate, number)
    began = time.process_time()
    stream = _recognizer.stream(rate=rate, options=_options)
    words = " ".join(final.raw_text for final in finals(stream, samples, rate))
    return row[0], words, len(samples) / rate, time.process_time() - began


def score(references: list[str], hypotheses: list[str]) -> dict[str, float]:
    normalise = EnglishTextNormalizer()
    pairs = [(normalise(r), normalise(h)) for r, h in zip(references, hypotheses, strict=True)]
    pairs = [(r, h) for r, h in pairs if r]
    result = jiwer.process_words([r for r, _ in pairs], [h for _, h in pairs])
    return {
        "wer": round(100 * result.wer, 2),
        "substitutions": result.substitutions,
        "deletions": result.deletions,
        "insertions": result.insertions,
        "words": result.hits + result.substitutions + result.deletions,
        "utterances": len(pairs),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("sets", nargs="+", metavar="NAME=MANIFEST")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--telephone", action="store_true")
    way.add_argument(
        "--noise", type=Path, help="folder of clips; those that `noises.py` holds out from training are used"
    )
    parser.add_argument("--snr", type=float, default=10.0, help="of --noise, in dB")
    parser.add_argument("--vocabulary", type=Path, help="phrases that every stream listens for")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, help="take every Nth row, for a quick look")
    parser.add_argument("--last", type=int, help="take the last N rows only")
    parser.add_argument("--hypotheses", type=Path, help="folder for NAME.tsv of path and text")
    args = parser.parse_args()
    report = {}
    given = (args.bundle, args.vocabulary, args.telephone, args.noise, args.snr)
    with multiprocessing.Pool(args.workers, prepare, given) as pool:
        for entry in args.sets:
            name, _, manifest = entry.partition("=")
            lines = Path(manifest).read_text(encoding="utf-8").splitlines()
            rows = [line.split("\t") for line in lines[-args.last if args.last else 0 :: args.every]]
            heard = pool.map(partial(recognise, folder=Path(manifest).parent), list(enumerate(rows)), 4)
            report[name] = score([row[3] for row in rows], [words for _, words, _, _ in heard])
            report[name]["rtf"] = round(sum(h[3] for h in heard) / sum(h[2] for h in heard), 4)
            print(f"{name}: WER {report[name]['wer']} %  {report[name]}", flush=True)
            if args.hypotheses:
                args.hypotheses.mkdir(parents=True, exist_ok=True)
                text = "".join(f"{path}\t{words}\n" for path, words, _, _ in heard)
                (args.hypotheses / f"{name}.tsv").write_text(text, encoding="utf-8")
    way_heard = "telephone" if args.telephone else f"noise at {args.snr:g} dB" if args.noise else "clean"
    print(json.dumps({"bundle": args.bundle.name, "heard": way_heard, "vocabulary": bool(args.vocabulary), **report}))


if __name__ == "__main__":
    main()
