"""Speaks held-out sentences with a bundle and judges them: `python -m models.tts.evaluate BUNDLE OUT --whisper DIR`.

OUT gets a WAV a sentence and texts.tsv (name, text). What is measured, as a table and as OUT/scores.json:
WER of Whisper base (--whisper: a CTranslate2 folder; needs `pip install faster-whisper`), by kind of sentence; DNSMOS
overall and P.808 (--dnsmos; needs `pip install speechmos`, models included); real-time factor and time to first audio
in processor time, which other work on the machine does not change.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from numpy.typing import NDArray
from speech.audio.resample import resample
from speech.tts.excitation import RATE
from speech.tts.synthesizer import Synthesizer

SENTENCES = Path(__file__).with_name("sentences.tsv")
JUDGE_RATE = 16_000
LEAST_S = 9.0  # DNSMOS hears stretches of this length: shorter clips are repeated
AUDIBLE = 0.01  # of full scale: where sound begins
Samples = NDArray[np.float32]


def speak(synthesizer: Synthesizer, text: str, voice: str | None) -> tuple[Samples, float, float]:
    """Samples, processor seconds from the text to the first sound (its leading silence counted), and to the end."""
    stream = synthesizer.stream(voice, encoding="pcm_f32le")
    began, first, parts = time.process_time(), None, []
    for chunks in (stream.receive(text), stream.finish()):
        for chunk in chunks:
            samples = np.frombuffer(chunk.audio, "<f4")
            loud = np.flatnonzero(np.abs(samples) > AUDIBLE)
            if first is None and len(loud):
                first = time.process_time() - began + chunk.start_s + float(loud[0]) / RATE
            parts.append(samples)
    return np.concatenate(parts), first or 0.0, time.process_time() - began


class Whisper:
    """Whisper as a listener, with the errors of what it heard."""

    def __init__(self, folder: Path) -> None:
        from faster_whisper import WhisperModel

        self.model = WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=1)

    def errors(self, samples: Samples, text: str) -> tuple[int, int, str]:
        """Word errors, words of the text, and what was heard."""
        import jiwer
        from whisper_normalizer.english import EnglishTextNormalizer

        segments, _ = self.model.transcribe(resample(samples, RATE, JUDGE_RATE), language="en", beam_size=5)
        heard = " ".join(segment.text.strip() for segment in segments)
        plain = EnglishTextNormalizer()
        found = jiwer.process_words(plain(text), plain(heard))
        wrong = found.substitutions + found.deletions + found.insertions
        return wrong, found.hits + found.substitutions + found.deletions, heard


def dnsmos(samples: Samples) -> tuple[float, float]:
    """DNSMOS overall and P.808."""
    from speechmos import dnsmos as model

    sound = resample(samples, RATE, JUDGE_RATE)
    sound = np.tile(sound, int(np.ceil(LEAST_S * JUDGE_RATE / len(sound)))) / max(1.0, float(np.abs(sound).max()))
    scores = model.run(sound, JUDGE_RATE)
    return float(scores["ovrl_mos"]), float(scores["p808_mos"])


def summary(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Means over sentences; WER over words."""
    seconds = sum(row["seconds"] for row in rows)
    first = np.array([row["first_audio_ms"] for row in rows])
    out = {
        "sentences": len(rows), "seconds": round(seconds, 1), "rtf": round(sum(r["cpu_s"] for r in rows) / seconds, 4),
        "first_audio_p50_ms": round(float(np.median(first)), 1),
        "first_audio_p95_ms": round(float(np.percentile(first, 95)), 1),
    }  # fmt: skip
    if "words" in rows[0]:
        out["wer"] = round(100 * sum(r["errors"] for r in rows) / sum(r["words"] for r in rows), 2)
    for name in ("overall", "p808"):
        if name in rows[0]:
            out[name] = round(float(np.mean([r[name] for r in rows])), 2)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--sentences", type=Path, default=SENTENCES, help="lines of kind TAB text")
    parser.add_argument("--every", type=int, default=1, help="only every so-manieth sentence")
    parser.add_argument("--voice")
    parser.add_argument("--whisper", type=Path)
    parser.add_argument("--dnsmos", action="store_true")
    args = parser.parse_args()
    synthesizer = Synthesizer.load(args.bundle)
    listener = Whisper(args.whisper) if args.whisper else None
    args.out.mkdir(parents=True, exist_ok=True)
    lines = args.sentences.read_text(encoding="utf-8").splitlines()[:: args.every]
    speak(
        synthesizer, lines[0].split("\t")[1], args.voice
    )  # once unmeasured: the first run of a graph plans its memory
    kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
    texts = []
    for n, (kind, text) in enumerate(line.split("\t") for line in lines):
        samples, first, spent = speak(synthesizer, text, args.voice)
        soundfile.write(args.out / f"{n:03}.wav", samples, RATE)
        texts.append(f"{n:03}\t{text}\n")
        row = {"seconds": len(samples) / RATE, "cpu_s": spent, "first_audio_ms": 1000 * first}
        if listener:
            row["errors"], row["words"], heard = listener.errors(samples, text)
            if row["errors"]:
                print(f"{n:03}  {text}\n     {heard}")
        if args.dnsmos:
            row["overall"], row["p808"] = dnsmos(samples)
        kinds[kind].append(row)
    (args.out / "texts.tsv").write_text("".join(texts), encoding="utf-8")
    scores = {kind: summary(rows) for kind, rows in kinds.items()}
    scores["all"] = summary([row for rows in kinds.values() for row in rows])
    for kind, values in scores.items():
        print(f"{kind:<8}", "  ".join(f"{name} {value}" for name, value in values.items()))
    (args.out / "scores.json").write_text(json.dumps(scores, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
