"""Two hundred things that customers say, spoken by voices the recogniser was not trained on.

    python -m models.asr.service VOICE_BUNDLE OUT && python -m models.asr.evaluate BUNDLE service=OUT/service.tsv

The sentences (`service.txt`) were written for this and are in no text that anything was trained on. All voices of the
bundle but its first take turns: the first is the one whose teacher spoke training material. OUT gets a WAV a sentence
and service.tsv, a manifest as `evaluate.py` takes it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import soundfile as sf
from speech.tts.synthesizer import Synthesizer

SENTENCES = Path(__file__).with_name("service.txt")
RATE = 16000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    synthesizer, rows = Synthesizer.load(args.bundle), []
    voices = list(synthesizer.voices)[1:]
    sentences = SENTENCES.read_text(encoding="utf-8").splitlines()
    for number, text in enumerate(sentences):
        voice = voices[number % len(voices)]
        stream = synthesizer.stream(voice, RATE, "pcm_f32le")
        chunks = [*stream.receive(text), *stream.finish()]
        samples = np.concatenate([np.frombuffer(chunk.audio, "<f4") for chunk in chunks])
        sf.write(args.out / f"{number:03}.wav", samples, RATE, subtype="PCM_16")
        rows.append(f"{number:03}.wav\t{len(samples) / RATE:.2f}\t{voice}\t{text}\n")
        print(f"\r{number + 1} of {len(sentences)}", end="", flush=True)
    (args.out / "service.tsv").write_text("".join(rows), encoding="utf-8")
    print()


if __name__ == "__main__":
    main()
